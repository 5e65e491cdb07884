import type { HealthRecords } from '../../../shared/delivery/store-ports.ts'
import { HEALTHY, type WebhookHealth } from '../../../shared/domain/webhook-health.ts'
import type { SimulatedTable } from './simulated-table.ts'

/** The health of receivers in memory, with the conditions of `shared/store/events/webhook-health.ts`. */
export function memoryHealth(table: SimulatedTable) {
  const records = new Map<string, WebhookHealth>()
  const find = (webhook: string): WebhookHealth => records.get(webhook) ?? HEALTHY

  const ports: HealthRecords = {
    takeSlot: async (_clinic, webhook, { number, read, until }) => {
      await table.write()
      const health = find(webhook)
      if (health.slots[number] !== read) return false
      records.set(webhook, { ...health, slots: health.slots.with(number, until) })
      return true
    },
    record: async (_clinic, webhook, { result, at, isSlow, probeAt, slot }) => {
      await table.write()
      const health = find(webhook)
      const isSuccess = result === 'success'
      const isFailure = result === 'failure'
      records.set(webhook, {
        failingSince: isSuccess ? null : isFailure ? (health.failingSince ?? at) : health.failingSince,
        failures: isSuccess ? 0 : health.failures + (isFailure ? 1 : 0),
        slowAttempts: isSlow ? health.slowAttempts + 1 : isSuccess ? 0 : health.slowAttempts,
        probeAt: isSuccess ? null : (probeAt ?? health.probeAt),
        slots: slot === null ? health.slots : health.slots.with(slot, 0),
        waitingSince: health.waitingSince,
      })
    },
    recordWaiting: async (_clinic, webhook, at) => {
      await table.write()
      records.set(webhook, { ...find(webhook), waitingSince: at })
    },
    clearWaiting: async (_clinic, webhook, read) => {
      await table.write()
      if (find(webhook).waitingSince === read) records.set(webhook, { ...find(webhook), waitingSince: null })
    },
  }

  return { ...ports, find }
}
