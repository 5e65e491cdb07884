import { isDeepStrictEqual } from 'node:util'
import { emptyPart, isPart, PART_SIZE, partOf, withMember } from '../../../domain/lists/ordinal-set.ts'
import { sortableNumber } from '../../../store/keys/key.ts'
import {
  inactivePatientsKey,
  inactivePatientsPartition,
  patientListPartition,
} from '../../../store/keys/patients.ts'
import { toPatient } from '../../../store/patients/patients.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { ifUnchanged } from '../comparison/conditions.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'

/** Verifies that the index of inactive patients matches the list rows, which match the records. */
export async function checkInactivePatients({ table, clinic, examine }: Inspection): Promise<void> {
  const wanted = new Map<number, Uint8Array>()
  for await (const rows of partitionPages(table, patientListPartition(clinic))) addInactive(wanted, rows)
  const stored = new Map<number, Item>()
  for await (const items of partitionPages(table, inactivePatientsPartition(clinic)))
    for (const item of items) {
      if (item.sk === sortableNumber(Number(item.sk))) stored.set(Number(item.sk), item)
      else await examine(recheckStray(item))
    }
  for (const part of new Set([...wanted.keys(), ...stored.keys()]))
    if (!isRight(stored.get(part), wanted.get(part))) await examine(recheck(part))

  /** An item whose key belongs to no part. */
  function recheckStray({ pk, sk }: Item): Recheck {
    return async () => {
      const item = await table.get({ pk, sk })
      if (!item) return null
      return {
        differences: [{ kind: 'patient_activity_wrong', key: { pk, sk } }],
        repair: () => table.transact([table.deleteWrite({ pk, sk })]),
      }
    }
  }

  /** A change of a patient's state changes the version of the part in the same transaction. */
  function recheck(part: number): Recheck {
    return async () => {
      const key = inactivePatientsKey(clinic, part)
      const item = await table.get(key)
      const inPart = new Map<number, Uint8Array>()
      const bounds = {
        from: sortableNumber(part * PART_SIZE),
        to: sortableNumber((part + 1) * PART_SIZE - 1),
      }
      for await (const rows of partitionPages(table, patientListPartition(clinic), bounds))
        addInactive(inPart, rows)
      const again = await table.get(key)
      if (item?.v !== again?.v) return 'moving'
      const bits = inPart.get(part)
      if (isRight(item, bits)) return null
      const version = typeof item?.v === 'number' ? item.v : 0
      const put = table.putWrite({ ...key, b: bits ?? emptyPart(), v: version + 1 })
      return {
        differences: [{ kind: 'patient_activity_wrong', key }],
        repair: () => table.transact([ifUnchanged(put, item ? { v: item.v } : { pk: undefined })]),
      }
    }
  }
}

/** Adds the inactive patients among some rows to the bits of their parts. */
function addInactive(parts: Map<number, Uint8Array>, rows: readonly Item[]): void {
  for (const row of rows) {
    const ordinal = Number(row.sk)
    if (isActive(row)) continue
    const part = partOf(ordinal)
    parts.set(part, withMember(parts.get(part) ?? emptyPart(), ordinal, true))
  }
}

/** An unreadable row is reported with its record. */
function isActive(row: Item): boolean {
  try {
    return toPatient(row).isActive
  } catch {
    return true
  }
}

const isRight = (item: Item | undefined, wanted = emptyPart()): boolean =>
  item === undefined
    ? isDeepStrictEqual(wanted, emptyPart())
    : typeof item.v === 'number' && isPart(item.b) && isDeepStrictEqual(Uint8Array.from(item.b), wanted)
