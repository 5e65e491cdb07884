/** What is observed of a simulated cell while it runs. */
import type { Delivery } from '../../../shared/domain/delivery.ts'
import type { Endpoint } from './endpoints.ts'
import { FAN_OUT_MS } from './load.ts'
import { durations, gauge } from './measurements.ts'

/** `recovery` is when the receivers that hang respond again. */
export function observations(recovery: number) {
  const firstAttempts = durations()
  /** By the number of the retry, of innocent receivers. */
  const retries = new Map<number, ReturnType<typeof durations>>()
  const open = { all: 0, innocent: 0 }
  const counts = { deliveries: 0, attempts: 0, delivered: 0, failed: 0, disordered: 0, overtaken: 0 }
  /** The highest sequence number whose first attempt has begun, by receiver and record. */
  const begun = new Map<string, number>()
  /** The highest sequence number that was delivered since the recovery, by receiver and record. */
  const delivered = new Map<string, number>()
  /** When the deliveries ended that the recovery found, in milliseconds after it. */
  const drained: number[] = []
  const gauges = {
    quickVisible: gauge(),
    slowVisible: gauge(),
    delayed: gauge(),
    quickBusy: gauge(),
    slowBusy: gauge(),
    openOthers: gauge(),
    sweepLagMs: gauge(),
    dueItems: gauge(),
    sweepMs: gauge(),
  }

  function onCreate(endpoint: Endpoint, { attempts }: Delivery): void {
    open.all++
    if (!endpoint.hangs) open.innocent++
    if (attempts.length === 0) counts.deliveries++
  }

  function onAttempt(endpoint: Endpoint, delivery: Delivery, now: number): void {
    counts.attempts++
    if (delivery.attempts.length === 0) recordOrder(endpoint, delivery)
    if (endpoint.hangs) return
    if (delivery.attempts.length === 0) firstAttempts.add(now - (delivery.createdAt - FAN_OUT_MS))
    else {
      const number = delivery.failedAttempts
      const ofNumber = retries.get(number) ?? durations()
      if (!retries.has(number)) retries.set(number, ofNumber)
      ofNumber.add(now - (delivery.nextAt ?? now))
    }
  }

  /** First attempts of a record's events must begin in their order. */
  function recordOrder({ webhook }: Endpoint, { record, sequence }: Delivery): void {
    const key = `${webhook.id}#${record}`
    const highest = begun.get(key) ?? 0
    if (sequence > highest + 1) counts.disordered++
    begun.set(key, Math.max(highest, sequence))
  }

  function onEnd(endpoint: Endpoint, delivery: Delivery, now: number): void {
    open.all--
    if (!endpoint.hangs) open.innocent--
    if (delivery.status === 'delivered') counts.delivered++
    else counts.failed++
    if (!endpoint.hangs || now < recovery) return
    if (delivery.createdAt < recovery) drained.push(now - recovery)
    const key = `${endpoint.webhook.id}#${delivery.record}`
    const highest = delivered.get(key) ?? 0
    if (delivery.sequence < highest) counts.overtaken++
    delivered.set(key, Math.max(highest, delivery.sequence))
  }

  return { firstAttempts, retries, open, counts, gauges, drained, onCreate, onAttempt, onEnd }
}
