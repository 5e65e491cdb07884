/** What requests and clinics cost, how many clinics a deployment holds, and what is rejected, from measured units, quotas and list prices. */

import { BACKUP_RETENTION } from '../../infra/data/backup-stack.ts'
import { TABLE_QUOTA, TARGET_UTILIZATION } from '../../infra/data/data.ts'
import {
  interactiveConcurrency,
  REQUEST_SECONDS,
  routeReservation,
  SLOW_REQUEST_SECONDS,
  servedLimits,
} from '../../infra/functions/concurrency.ts'
import type { StageSettings } from '../../infra/settings/stages.ts'
import { isList, type Route } from '../../shared/api/route.ts'
import { ENDPOINTS } from '../../shared/api/routes.ts'

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

/**
 * A delivery with its share of the fan-out. Writes: as measured, with a retry of each fourth delivery. The others: as simulated where
 * 5 % of the webhook endpoints hang (docs/decisions). An invocation makes two calls of SQS.
 */
export const DELIVERY = { writes: 13, reads: 6.8, messages: 1.3, invocations: 0.8, seconds: 0.12 }

/** An estimate of the load of each hour of a day, as a multiple of the average: practices open at eight, and book in the morning. */
const DAY = [
  0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.4, 2.5, 5, 3.8, 2.8, 1.2, 1, 1.6, 1.7, 1.4, 0.8, 0.4, 0.2, 0.2, 0.1,
  0.1, 0.1,
]

/** Peak load, as a multiple of the average. */
const PEAK = Math.max(...DAY)

/** An estimate of what a clinic stores: records of several years, and deliveries of 30 days. */
const STORED_GIGABYTES = 1

/** Estimates of the bytes that leave the region: a response, and the request of a delivery. */
const OUT_BYTES = { response: 4000, delivery: 1500 }

/** Bytes that a request leaves in logs: its line, its line of the access trail and of the gateway, and Lambda's reports. */
const LOG_BYTES = { request: 2400, delivery: 900 }

/** Resources that do not depend on the load: alarms and their metrics, with a canary, a limit for SMS and a route that fails, series of the service, the dashboard, two keys. */
const FIXED = { alarmMetrics: 76, series: 41, dashboards: 1, keys: 2, firewalls: 1, firewallRules: 5 }

/** What the gateway records of each method: requests, two kinds of errors and two latencies. */
const METHOD_METRICS = 5

const GIGABYTE = 1e9

const secondsCost = (seconds: number): number => seconds * FUNCTION_GB * PRICES.lambdaGbSecond

/** A request, on average. */
const REQUEST_UNITS = {
  writes: WRITING_SHARE * UNITS.write + UNITS.limitWrites,
  reads: WRITING_SHARE * UNITS.writeReads + (1 - WRITING_SHARE) * UNITS.read + UNITS.authenticationReads,
}

/** Units of the table that a clinic takes a second, on average. */
const clinicUnits = (unit: 'writes' | 'reads'): number =>
  (CLINIC_MONTH.requests * REQUEST_UNITS[unit] + CLINIC_MONTH.deliveries * DELIVERY[unit]) / MONTH_SECONDS

/** The clinics whose peak load one table takes within its quota of write units, rounded down to hundreds. */
export const clinicsOfDeployment = (): number =>
  Math.floor(TABLE_QUOTA / (PEAK * clinicUnits('writes')) / 100) * 100

/** US dollars of requests, without their share of fixed costs. */
export function requestCost(requests: number, firewall = true): number {
  const each =
    PRICES.lambdaRequest +
    secondsCost(REQUEST_SECONDS) +
    REQUEST_UNITS.writes * PRICES.writeUnit +
    REQUEST_UNITS.reads * PRICES.readUnit +
    (LOG_BYTES.request / GIGABYTE) * PRICES.logGigabyte +
    (firewall ? PRICES.firewallRequest : 0) +
    (OUT_BYTES.response / GIGABYTE) * PRICES.outGigabyte
  return gatewayCost(requests) + requests * each
}

/** US dollars of deliveries to webhooks, with their share of the fan-out. */
export const deliveryCost = (deliveries: number): number =>
  deliveries *
  (DELIVERY.invocations * PRICES.lambdaRequest +
    secondsCost(DELIVERY.seconds) +
    DELIVERY.writes * PRICES.writeUnit +
    DELIVERY.reads * PRICES.readUnit +
    (DELIVERY.messages + 2 * DELIVERY.invocations) * PRICES.sqsRequest +
    (LOG_BYTES.delivery / GIGABYTE) * PRICES.logGigabyte +
    (OUT_BYTES.delivery / GIGABYTE) * PRICES.outGigabyte)

/** US dollars a month of alarms, metrics, dashboard and keys. */
const monitoringCost = (): number =>
  FIXED.alarmMetrics * FIXED_PRICES.alarmMetric +
  FIXED.series * FIXED_PRICES.series +
  FIXED.dashboards * FIXED_PRICES.dashboard +
  FIXED.keys * FIXED_PRICES.key

/** US dollars a month, without requests. */
const firewallCost = (): number =>
  FIXED.firewalls * FIXED_PRICES.firewall + FIXED.firewallRules * FIXED_PRICES.firewallRule

/** US dollars a month, whatever the load. */
const fixedCost = (): number => monitoringCost() + firewallCost()

/** US dollars a month of what so many clinics store and send, without backups. */
const usageCost = (clinics: number, firewall = true): number =>
  clinics * STORED_GIGABYTES * (PRICES.storedGigabyte + PRICES.recoveryGigabyte) +
  requestCost(clinics * CLINIC_MONTH.requests, firewall) +
  deliveryCost(clinics * CLINIC_MONTH.deliveries) +
  clinics * CLINIC_MONTH.emails * PRICES.sesEmail

/** US dollars a month of so many clinics, in as many deployments as they need, without backups. */
export const clinicsCost = (clinics: number): number =>
  Math.ceil(clinics / clinicsOfDeployment()) * fixedCost() + usageCost(clinics)

/** US dollars a month of the daily backups of a clinic, each of which has the whole table. */
const backupCost = (): number => BACKUP_RETENTION.toDays() * STORED_GIGABYTES * PRICES.backupGigabyte

/** How the units of the table are billed. */
type UnitCost = {
  readonly onDemand: number
  /** With auto scaling. */
  readonly provisioned: number
  /** The same, with capacity reserved for a year. */
  readonly reserved: number
  /** For the peak, all day. */
  readonly fixed: number
}

/** US dollars a month of the units of so many clinics. */
export function unitCost(clinics: number): UnitCost {
  const [writes, reads] = [clinics * clinicUnits('writes'), clinics * clinicUnits('reads')]
  // An average unit a second, provisioned for an hour.
  const hour = (writes * PRICES.writeUnitHour + reads * PRICES.readUnitHour) / (TARGET_UTILIZATION / 100)
  const hours = MONTH_SECONDS / 3600
  const perDay = DAY.length
  const reserved = provisionedDay.toSorted((a, b) => b - a)[Math.floor(RESERVED_SHARE * perDay)] ?? 0
  const above = sum(provisionedDay.map((units) => Math.max(0, units - reserved)))
  return {
    onDemand: MONTH_SECONDS * (writes * PRICES.writeUnit + reads * PRICES.readUnit),
    provisioned: (hours / perDay) * hour * sum(provisionedDay),
    reserved: (hours / perDay) * hour * (above + perDay * reserved * RESERVED_SHARE),
    fixed: hours * hour * PEAK,
  }
}

/** US dollars a month of a stage with one clinic, by what they are for. */
export function stageCosts({
  firewall,
  provisioned,
  recovery,
  monitoring,
}: StageSettings): [string, number][] {
  const costs: [string, number][] = [['alarms, metrics, dashboard and keys', monitoringCost()]]
  if (firewall) costs.push(['firewall', firewallCost()])
  const clinic = `one clinic with ${STORED_GIGABYTES} GB`
  if (provisioned) {
    const hour = provisioned.writes * PRICES.writeUnitHour + provisioned.reads * PRICES.readUnitHour
    costs.push(['provisioned units of the table, at least', (MONTH_SECONDS / 3600) * hour])
    costs.push([`${clinic}, without units`, usageCost(1, firewall) - unitCost(1).onDemand])
  } else costs.push([clinic, usageCost(1, firewall)])
  const { canary, smsSpendLimit } = monitoring
  if (canary) costs.push(['canary', requestCost(MONTH_SECONDS / 60 / canary.minutes, firewall)])
  if (recovery.backups) costs.push(['backups of one clinic', backupCost()])
  if (recovery.backups?.copyRegion) costs.push(['copies of backups, without their transfer', backupCost()])
  return [...costs, ['SMS, at most', smsSpendLimit]]
}

/**
 * What auto scaling provisions in each hour, as a multiple of the average: what the hour needs or the hour before, because it scales out
 * within minutes, and back in late and in steps.
 */
const provisionedDay = DAY.map((load, at) => Math.max(load, DAY.at(at - 1) ?? 0))

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** The share of requests that find no free function, by Erlang's formula: `load` is how many there are at a time on average. */
export function rejectedShare(functions: number, load: number): number {
  let share = 1
  for (let n = 1; n <= functions; n++) share = (load * share) / (n + load * share)
  return share
}

export const dollars = (amount: number): string =>
  amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** The tables of docs/operate/capacity.md. */
export const costTables = (): string =>
  [
    `List prices of us-east-1, ${PRICES_AS_OF}, in US dollars, with firewall and data out, without SMS, support and free tiers:`,
    '',
    '| a million | US dollars |',
    '|---|---:|',
    `| requests, half of which write | ${dollars(requestCost(1e6))} |`,
    `| deliveries to webhooks | ${dollars(deliveryCost(1e6))} |`,
    `| emails | ${dollars(1e6 * PRICES.sesEmail)} |`,
    '',
    '| clinics | a month | for each clinic |',
    '|---:|---:|---:|',
    ...[1, 100, clinicsOfDeployment(), 10_000].map(
      (count) =>
        `| ${count.toLocaleString('en')} | ${dollars(clinicsCost(count))} | ${dollars(clinicsCost(count) / count)} |`,
    ),
    '',
    `Of these, the fixed part of a deployment, for alarms, metrics, dashboard, keys and firewall, costs ${dollars(fixedCost())}. Each route with errors adds ${dollars(FIXED_PRICES.series + FIXED_PRICES.alarmMetric)}: the metric \`route_errors\`, and its part of the alarm. Method-level metrics of the gateway would add ${dollars(METHOD_METRICS * FIXED_PRICES.series)} for each route, so they are off.`,
    '',
    `Each clinic's ${STORED_GIGABYTES} GB of stored data with point-in-time recovery costs ${dollars(STORED_GIGABYTES * (PRICES.storedGigabyte + PRICES.recoveryGigabyte))}. Daily backups (\`backups=on\`) are ${BACKUP_RETENTION.toDays()} copies of the whole table, and cost ${dollars(backupCost())} more for each clinic.`,
    '',
    `A clinic takes ${clinicUnits('writes').toFixed(2)} write units a second on average, and ${PEAK} times as many at peak. So one table, at its quota of ${TABLE_QUOTA.toLocaleString('en')}, holds some **${clinicsOfDeployment().toLocaleString('en')} clinics**; 10,000 clinics are ${Math.ceil(10_000 / clinicsOfDeployment())} deployments.`,
    '',
    '| units of the table, a month | on demand | provisioned | provisioned, a part reserved | provisioned for the peak |',
    '|---|---:|---:|---:|---:|',
    ...[100, clinicsOfDeployment(), 10_000].map((count) => {
      const { onDemand, provisioned, reserved, fixed } = unitCost(count)
      return `| ${count.toLocaleString('en')} clinics | ${[onDemand, provisioned, reserved, fixed].map(dollars).join(' | ')} |`
    }),
    '',
    ...reservationTable(1000),
  ].join('\n')

/** What the gateway admits to the functions of endpoints, and how much of it Lambda would reject, of one endpoint and of all at once. */
function reservationTable(accountConcurrency: number): string[] {
  const limitsOf = (route: Route): string => {
    const { rate, burst } = servedLimits(route, accountConcurrency)
    return `${rate} | ${burst}`
  }
  const rejected = (functions: number, rate: number): string =>
    [REQUEST_SECONDS, SLOW_REQUEST_SECONDS]
      .map((seconds) => percent(rejectedShare(functions, rate * seconds)))
      .join(' | ')
  const lists = Map.groupBy(ENDPOINTS.filter(isList), (route) => {
    const reserved = routeReservation(route, accountConcurrency) ?? 0
    const { rate } = servedLimits(route, accountConcurrency)
    return [reserved, limitsOf(route), rejected(reserved, rate)].join(' | ')
  })
  const others = ENDPOINTS.filter((route) => !isList(route))
  const shared = Math.floor(interactiveConcurrency(accountConcurrency))
  const total = others.map((route) => servedLimits(route, accountConcurrency))
  const [rate, burst] = [sum(total.map((limit) => limit.rate)), sum(total.map((limit) => limit.burst))]
  const groups = [...Map.groupBy(others, limitsOf)].sort(([, a], [, b]) => a.length - b.length)
  const named = ([, routes]: [string, Route[]], at: number): string =>
    at === groups.length - 1 ? `each of the other ${routes.length}` : routes.map(({ id }) => id).join(', ')
  return [
    `| with \`accountConcurrency=${accountConcurrency}\` | functions | requests a second | burst | rejected if a request takes ${REQUEST_SECONDS} s | ${SLOW_REQUEST_SECONDS} s |`,
    '|---|---:|---:|---:|---:|---:|',
    ...[...lists].map(
      ([figures, routes]: [string, Route[]]) => `| ${routes.map(({ id }) => id).join(', ')} | ${figures} |`,
    ),
    ...groups.map((group, at) => `| ${named(group, at)} | shared | ${group[0]} | | |`),
    `| all ${others.length} that are not lists, at once | ${shared} | ${rate} | ${burst} | ${rejected(shared, rate)} |`,
  ]
}

const percent = (share: number): string => (share < 0.0001 ? 'below 0.01 %' : `${(100 * share).toFixed(2)} %`)

const TABLES = /(<!-- cost -->\n)[\s\S]*(<!-- end of cost -->)/

/** A document with the current tables between its marks. */
export const withCostTables = (markdown: string): string =>
  markdown.replace(TABLES, (_all, begin: string, end: string) => `${begin}\n${costTables()}\n${end}`)

/** US dollars: list prices of us-east-1, written down in November 2026. Check them before relying on a sum. */
export const PRICES_AS_OF = '2026-11'

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
  outGigabyte: 0.09,
  firewallRequest: 0.6 / MILLION,
  storedGigabyte: 0.25,
  /** Point-in-time recovery. */
  recoveryGigabyte: 0.2,
  backupGigabyte: 0.1,
  writeUnitHour: 0.00065,
  readUnitHour: 0.00013,
}

/** The price of units that are reserved for a year, as a share of the price of provisioned ones. The upfront payment is a part of it. */
const RESERVED_SHARE = 0.46

/** A month, whatever the load. */
const FIXED_PRICES = { alarmMetric: 0.1, series: 0.3, dashboard: 3, key: 1, firewall: 5, firewallRule: 1 }

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
