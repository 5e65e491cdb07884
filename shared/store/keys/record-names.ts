import type { ClinicId } from '../../domain/clinic.ts'
import { type Key, partition, partitionParts } from './key.ts'

/** Kinds of records by the families of the partitions that they are stored in. */
const RECORD_NAMES: Readonly<Record<string, string>> = {
  A: 'appointment',
  I: 'invoice',
  Y: 'payment',
  M: 'message',
  P: 'patient',
  C: 'clinic',
  CD: 'department',
  CR: 'room',
  CT: 'treatment',
  CP: 'price list',
  DR: 'doctor',
  K: 'credential',
  W: 'webhook',
  WS: 'webhook',
  WD: 'delivery',
  E: 'event',
}

/** The kind of record that an item is or is derived from; null if it is neither. `AL` lists appointments, and `UA` is the index of their changes. */
export function recordNameOf({ pk = '' }: Partial<Key>): string | null {
  const { family } = partitionParts(pk)
  const code = family.startsWith('U') ? family.slice(1) : family === 'PN' ? 'P' : family.slice(0, 1)
  return RECORD_NAMES[family] ?? RECORD_NAMES[code] ?? null
}

/** The key of a record by its kind, as events name it; null for a kind of which there are no records. */
export function recordKeyOf(clinic: ClinicId, kind: string, id: string): Key | null {
  const name = kind === 'sms' || kind === 'email' ? 'message' : kind
  const [family] = Object.entries(RECORD_NAMES).find(([, one]) => one === name) ?? []
  return family === undefined ? null : { pk: partition(clinic, family), sk: id }
}
