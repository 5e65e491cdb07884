import type { HealthRecords } from '../../../shared/delivery/store-ports.ts'
import { HEALTHY, healthAfter, type WebhookHealth } from '../../../shared/domain/webhook-health.ts'
import type { SimulatedTable } from './simulated-table.ts'

/** The health of receivers in memory, with the conditions of `shared/store/events/webhook-health.ts`. */
export function memoryHealth(table: SimulatedTable) {
  const records = new Map<string, WebhookHealth>()
  const find = (webhook: string): WebhookHealth => records.get(webhook) ?? HEALTHY

  const ports: HealthRecords = {
    takeSlot: async (_clinic, webhook, read, { number, until }) => {
      await table.write()
      const health = find(webhook)
      if (health.slots[number] !== read.slots[number] || health.probes !== read.probes) return false
      records.set(webhook, { ...health, slots: health.slots.with(number, until), queued: null })
      return true
    },
    recordQueued: async (_clinic, webhook, read, queued) => {
      await table.write()
      const health = find(webhook)
      if (health.queued !== read.queued || health.probes !== read.probes) return false
      records.set(webhook, { ...health, queued })
      return true
    },
    record: async (_clinic, webhook, attempt) => {
      await table.write()
      const after = healthAfter(find(webhook), attempt)
      records.set(webhook, after)
      return after
    },
    recordWaiting: async (_clinic, webhook, at) => {
      await table.write()
      const after = { ...find(webhook), waitingSince: at }
      records.set(webhook, after)
      return after
    },
    clearWaiting: async (_clinic, webhook, read) => {
      await table.write()
      if (find(webhook).waitingSince === read) records.set(webhook, { ...find(webhook), waitingSince: null })
    },
  }

  return { ...ports, find }
}
