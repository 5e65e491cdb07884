import { type Key, partitionParts } from './key.ts'

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
