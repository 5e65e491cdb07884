/** What the fleet costs at list prices. */
import type { Simulation } from './simulate.ts'

/** US dollars: list prices of us-east-1, written down in November 2026. Check them before relying on a sum. */
export const PRICES_AS_OF = '2026-11'

const MILLION = 1e6
export const PRICES = {
  lambdaRequest: 0.2 / MILLION,
  /** ARM. */
  lambdaGbSecond: 0.0000133334,
  writeUnit: 0.625 / MILLION,
  readUnit: 0.125 / MILLION,
  /** Of a fair queue: 0.4 and a surcharge of 0.1. */
  sqsRequest: 0.5 / MILLION,
  sesEmail: 0.1 / 1000,
}

/** Requests of a REST API, in tiers of so many a month. */
const GATEWAY_TIERS = [
  { upTo: 333 * MILLION, price: 3.5 / MILLION },
  { upTo: 1_000 * MILLION, price: 2.8 / MILLION },
  { upTo: 20_000 * MILLION, price: 2.38 / MILLION },
]

export const MONTH_SECONDS = 30 * 24 * 60 * 60

/** The load of ten thousand clinics, a second, and emails a day. */
const REQUESTS = 1_000
const EVENTS = 500
const DELIVERIES = 1_000
const EMAILS_A_DAY = 360_000

const FUNCTION_GB = 0.5

/** Half of the requests write, which is what 500 events a second need. Units of a request, from the other sections. */
const WRITING_SHARE = EVENTS / REQUESTS
export const UNITS = { write: 16, writeReads: 4, read: 6, authenticationReads: 1, limitWrites: 1 }
export const REQUEST_SECONDS = 0.1

/** An email: accepted (22 units), claimed and its result recorded; one message sent, received and deleted. */
const EMAIL_UNITS = { reads: 6, writes: 36, sqs: 3, seconds: 0.2 }

export type CostLine = { readonly service: string; readonly quantity: string; readonly dollars: number }

/** The cost of a month by service, with the deliveries as they were simulated. */
export function monthlyCosts(simulation: Simulation): CostLine[] {
  const requests = REQUESTS * MONTH_SECONDS
  const perDelivery = costsOfDelivery(simulation)
  const deliveries = DELIVERIES * MONTH_SECONDS
  const emails = EMAILS_A_DAY * 30
  const fanOuts = EVENTS * MONTH_SECONDS
  const gbSeconds =
    requests * REQUEST_SECONDS * FUNCTION_GB +
    deliveries * perDelivery.gbSeconds +
    fanOuts * 0.05 * FUNCTION_GB +
    emails * EMAIL_UNITS.seconds * FUNCTION_GB
  const invocations = requests + deliveries * perDelivery.invocations + fanOuts / 10 + emails / 10
  const requestWrites = requests * (WRITING_SHARE * UNITS.write + UNITS.limitWrites)
  const requestReads =
    requests *
    (WRITING_SHARE * UNITS.writeReads + (1 - WRITING_SHARE) * UNITS.read + UNITS.authenticationReads)
  const writes = requestWrites + deliveries * perDelivery.writeUnits + emails * EMAIL_UNITS.writes
  const reads = requestReads + deliveries * perDelivery.readUnits + emails * EMAIL_UNITS.reads
  const messages = deliveries * perDelivery.sqsRequests + emails * EMAIL_UNITS.sqs
  const millions = (count: number, unit: string): string =>
    `${Math.round(count / MILLION).toLocaleString('en')} million ${unit}`
  return [
    { service: 'API Gateway', quantity: millions(requests, 'requests'), dollars: gatewayCost(requests) },
    {
      service: 'Lambda, requests',
      quantity: millions(invocations, 'invocations'),
      dollars: invocations * PRICES.lambdaRequest,
    },
    {
      service: 'Lambda, time',
      quantity: millions(gbSeconds, 'GB-seconds'),
      dollars: gbSeconds * PRICES.lambdaGbSecond,
    },
    { service: 'DynamoDB, writes', quantity: millions(writes, 'units'), dollars: writes * PRICES.writeUnit },
    { service: 'DynamoDB, reads', quantity: millions(reads, 'units'), dollars: reads * PRICES.readUnit },
    { service: 'SQS', quantity: millions(messages, 'requests'), dollars: messages * PRICES.sqsRequest },
    { service: 'SES', quantity: millions(emails, 'emails'), dollars: emails * PRICES.sesEmail },
  ]
}

/** What a delivery needs, including its share of the fan-out. */
export function costsOfDelivery({ observed, table, lanes }: Simulation) {
  const { deliveries } = observed.counts
  const states = [lanes.quick.state, lanes.slow.state]
  const sum = (pick: (state: (typeof states)[0]) => number): number =>
    states.reduce((total, state) => total + pick(state), 0) / deliveries
  return {
    calls: table.calls / deliveries,
    readUnits: table.readUnits / deliveries,
    writeUnits: table.writeUnits / deliveries,
    messages: sum(({ messages }) => messages),
    invocations: sum(({ invocations }) => invocations),
    /** A call to send, and for each invocation one to receive and one to delete. */
    sqsRequests: sum(({ sends, invocations }) => sends + 2 * invocations),
    gbSeconds: (sum(({ busyMs }) => busyMs) / 1000) * FUNCTION_GB,
  }
}

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
