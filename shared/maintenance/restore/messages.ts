import { randomUUID } from 'node:crypto'
import type { ClinicId } from '../../domain/clinic.ts'
import { calendarPartition } from '../../store/keys/calendar.ts'
import { MESSAGES, messageStore } from '../../store/messages/messages.ts'
import { restoredMessages, type TakenOver } from '../../store/messages/restored-messages.ts'
import type { Table } from '../../store/table/table.ts'
import { partitionPages } from '../walk/partition-pages.ts'
import type { Restore } from './mirror-partition.ts'

/**
 * Sets the outcomes of the clinic's messages to those that the source has, and adds those that were accepted after the restored
 * time. Imported ones are not added: they were not sent by this service, and the import can be repeated.
 */
export async function takeOverMessages(
  { source, restored }: Restore,
  clinic: ClinicId,
): Promise<Record<TakenOver, number>> {
  const messages = restoredMessages({ table: restored })
  const counts = { unchanged: 0, updated: 0, added: 0, patient_unknown: 0 }
  for await (const page of partitionPages(source, calendarPartition(clinic, 'M'))) {
    for (const item of page) {
      const isImported = item.xi !== undefined
      if (!isImported) counts[await messages.takeOver(clinic, MESSAGES.decode(item, item.sk))]++
    }
  }
  return counts
}

const REASON = 'The table was restored: the message may have been sent since'

/** A time after everything is due. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER

/**
 * Leaves every message without an outcome to a person, except those that the source knows: they have its outcome. Without a source,
 * these are all. Returns the number of messages.
 */
export async function holdMessages(
  restored: Table,
  source: Table | null,
  now: () => number,
): Promise<number> {
  const messages = restoredMessages({ table: restored })
  const known = source && messageStore({ table: source })
  let count = 0
  for await (const batch of messages.dueBatches(END_OF_TIME, 100)) {
    for (const { clinic, id } of batch) {
      if (await known?.find(clinic, id)) continue
      const hold = { reason: REASON, token: randomUUID(), now: now() }
      if (await messages.hold(clinic, id, hold)) count++
    }
  }
  return count
}
