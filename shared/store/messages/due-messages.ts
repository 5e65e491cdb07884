import type { ClinicId } from '../../domain/clinic.ts'
import type { Due } from '../../domain/due.ts'
import type { Message } from '../../domain/messages/message.ts'
import { parseDueKey } from '../keys/due.ts'
import {
  DUE_MESSAGE_PARTITIONS,
  dueMessageKey,
  providerMessageKey,
  UNRESOLVED_MESSAGES_PARTITION,
  unresolvedMessageKey,
} from '../keys/messages.ts'
import { readDue } from '../table/read-due.ts'
import type { Table } from '../table/table.ts'

/** Finds messages of all clinics: those that are due, those that wait for a person, and those with a provider's id. */
export function dueMessages({ table }: { table: Table }) {
  /** The messages that are due by `until`, in batches of at most `size` from each partition, earliest first. */
  const dueBatches = (until: number, size: number, partitions = DUE_MESSAGE_PARTITIONS) =>
    readDue(table, partitions, parseDueKey, { until, size })

  /** At most `limit` messages from each partition that are due by `until`, earliest first. */
  async function due(until: number, limit: number): Promise<Due[]> {
    for await (const batch of dueBatches(until, limit)) return batch
    return []
  }

  /** Every message that waits for a person. After a claim expires, the next sweep moves its message here. */
  async function unresolved(): Promise<Due[]> {
    return (await table.query({ pk: UNRESOLVED_MESSAGES_PARTITION, limit: 100_000 })).map(parseDueKey)
  }

  /** The message with a provider's id; null for an unknown id, or one that is too old. */
  async function findByProviderId(provider: string, id: string): Promise<Omit<Due, 'at'> | null> {
    const item = await table.get(providerMessageKey(provider, id))
    return item ? { clinic: item.c as ClinicId, id: item.m as string } : null
  }

  return { dueBatches, due, unresolved, findByProviderId }
}

/** The key of a message's due item; null when nothing more is due. */
export function dueKeyOf(clinic: ClinicId, { id, dispatch }: Message) {
  if (!dispatch) return null
  const item = { clinic, id, at: dispatch.dueAt }
  return dispatch.isUnresolved ? unresolvedMessageKey(item) : dueMessageKey(item)
}
