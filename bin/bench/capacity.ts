/** The cost of a million requests and of a clinic, from measured units and list prices. */
import { DELIVERY_UNITS } from './bounds.ts'

const MONTH_SECONDS = 30 * 24 * 60 * 60

/** 10,000 clinics with 1,000 requests, 500 events and 1,000 deliveries a second, and 360,000 emails a day. */
const CLINIC_MONTH = {
  requests: 0.1 * MONTH_SECONDS,
  deliveries: 0.1 * MONTH_SECONDS,
  emails: 36 * 30,
}

/** Half of the requests write. */
const WRITING_SHARE = 0.5
const FUNCTION_GB = 0.5

/** Units of a request, as docs/benchmarks measure them. */
const UNITS = { write: 16, writeReads: 4, read: 6, authenticationReads: 1, limitWrites: 1 }
const REQUEST_SECONDS = 0.1

/** Deliveries whose first attempt fails. */
const RETRIED_SHARE = 0.05
const deliveryUnits = (unit: 'writes' | 'reads'): number =>
  (1 - RETRIED_SHARE) * DELIVERY_UNITS.delivery[unit] + RETRIED_SHARE * DELIVERY_UNITS.retriedDelivery[unit]

/** Besides the units of the table. As simulated where 5 % of the webhook endpoints hang (docs/decisions). An invocation makes two calls of SQS. */
const DELIVERY = { messages: 1.3, invocations: 0.8, seconds: 0.12 }

/** Bytes that a request leaves in logs: its line, its line of the access trail and of the gateway, and Lambda's reports. */
const LOG_BYTES = { request: 2400, delivery: 900 }

/** Resources that do not depend on the load: alarms and their metrics, series of the service, the dashboard, two keys. */
const FIXED = { alarmMetrics: 62, series: 40, dashboards: 1, keys: 2 }

const GIGABYTE = 1e9

const secondsCost = (seconds: number): number => seconds * FUNCTION_GB * PRICES.lambdaGbSecond

/** US dollars of requests, without their share of fixed costs. */
export function requestCost(requests: number): number {
  const writes = WRITING_SHARE * UNITS.write + UNITS.limitWrites
  const reads =
    WRITING_SHARE * UNITS.writeReads + (1 - WRITING_SHARE) * UNITS.read + UNITS.authenticationReads
  const each =
    PRICES.lambdaRequest +
    secondsCost(REQUEST_SECONDS) +
    writes * PRICES.writeUnit +
    reads * PRICES.readUnit +
    (LOG_BYTES.request / GIGABYTE) * PRICES.logGigabyte
  return gatewayCost(requests) + requests * each
}

/** US dollars of deliveries to webhooks, with their share of the fan-out. */
export const deliveryCost = (deliveries: number): number =>
  deliveries *
  (DELIVERY.invocations * PRICES.lambdaRequest +
    secondsCost(DELIVERY.seconds) +
    deliveryUnits('writes') * PRICES.writeUnit +
    deliveryUnits('reads') * PRICES.readUnit +
    (DELIVERY.messages + 2 * DELIVERY.invocations) * PRICES.sqsRequest +
    (LOG_BYTES.delivery / GIGABYTE) * PRICES.logGigabyte)

/** US dollars a month, whatever the load. */
export const fixedCost = (): number =>
  FIXED.alarmMetrics * FIXED_PRICES.alarmMetric +
  FIXED.series * FIXED_PRICES.series +
  FIXED.dashboards * FIXED_PRICES.dashboard +
  FIXED.keys * FIXED_PRICES.key

/** US dollars a month of so many clinics. */
export const clinicsCost = (clinics: number): number =>
  fixedCost() +
  requestCost(clinics * CLINIC_MONTH.requests) +
  deliveryCost(clinics * CLINIC_MONTH.deliveries) +
  clinics * CLINIC_MONTH.emails * PRICES.sesEmail

const dollars = (amount: number): string =>
  amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** The tables of docs/operate/capacity.md. */
export const costTables = (): string =>
  [
    `List prices of us-east-1, ${PRICES_AS_OF}, in US dollars, without SMS, data transfer, support and free tiers:`,
    '',
    '| a million | US dollars |',
    '|---|---:|',
    `| requests, half of which write | ${dollars(requestCost(1e6))} |`,
    `| deliveries to webhooks | ${dollars(deliveryCost(1e6))} |`,
    `| emails | ${dollars(1e6 * PRICES.sesEmail)} |`,
    '',
    '| clinics | a month | for each clinic |',
    '|---:|---:|---:|',
    ...[1, 100, 10_000].map(
      (count) =>
        `| ${count.toLocaleString('en')} | ${dollars(clinicsCost(count))} | ${dollars(clinicsCost(count) / count)} |`,
    ),
  ].join('\n')

const TABLES = /(<!-- cost -->\n)[\s\S]*(<!-- end of cost -->)/

/** A document with the current tables between its marks. */
export const withCostTables = (markdown: string): string =>
  markdown.replace(TABLES, (_all, begin: string, end: string) => `${begin}\n${costTables()}\n${end}`)

/** US dollars: list prices of us-east-1, written down in November 2026. Check them before relying on a sum. */
const PRICES_AS_OF = '2026-11'

const MILLION = 1e6

const PRICES = {
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
const FIXED_PRICES = { alarmMetric: 0.1, series: 0.3, dashboard: 3, key: 1 }

/** Requests of a REST API, in tiers of so many a month. */
const GATEWAY_TIERS = [
  { upTo: 333 * MILLION, price: 3.5 / MILLION },
  { upTo: 1_000 * MILLION, price: 2.8 / MILLION },
  { upTo: 20_000 * MILLION, price: 2.38 / MILLION },
]

/** US dollars of a month's requests. */
function gatewayCost(requests: number): number {
  let cost = 0
  let from = 0
  for (const { upTo, price } of GATEWAY_TIERS) {
    cost += Math.max(0, Math.min(requests, upTo) - from) * price
    from = upTo
  }
  return cost
}
