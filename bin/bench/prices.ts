/** US dollars: list prices of us-east-1, written down in November 2026. Check them before relying on a sum. */
export const PRICES_AS_OF = '2026-11'

const MILLION = 1e6

export const PRICES = {
  lambdaRequest: 0.2 / MILLION,
  /** ARM. */
  lambdaGbSecond: 0.0000133334,
  writeUnit: 0.625 / MILLION,
  readUnit: 0.125 / MILLION,
  /** A request to a fair queue: 0.4 and a surcharge of 0.1. */
  sqsRequest: 0.5 / MILLION,
  sesEmail: 0.1 / 1000,
  logGigabyte: 0.5,
}

/** A month, whatever the load. */
export const FIXED_PRICES = { alarmMetric: 0.1, series: 0.3, dashboard: 3, key: 1 }

/** Requests of a REST API, in tiers of so many a month. */
const GATEWAY_TIERS = [
  { upTo: 333 * MILLION, price: 3.5 / MILLION },
  { upTo: 1_000 * MILLION, price: 2.8 / MILLION },
  { upTo: 20_000 * MILLION, price: 2.38 / MILLION },
]

/** US dollars of a month's requests. */
export function gatewayCost(requests: number): number {
  let cost = 0
  let from = 0
  for (const { upTo, price } of GATEWAY_TIERS) {
    cost += Math.max(0, Math.min(requests, upTo) - from) * price
    from = upTo
  }
  return cost
}
