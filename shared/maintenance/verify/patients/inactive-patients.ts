import { isDeepStrictEqual } from 'node:util'
import { emptyPart, isPart, PART_SIZE, partOf, withMember } from '../../../domain/lists/ordinal-set.ts'
import { sortableNumber } from '../../../store/keys/key.ts'
import { inactivePatientsPartition, patientListPartition } from '../../../store/keys/patients.ts'
import { toPatient } from '../../../store/patients/patients.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { type Bounds, partitionPages } from '../../walk/partition-pages.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import { readable } from '../comparison/readable.ts'
import type { Snapshot } from '../comparison/snapshot.ts'

/** Verifies that the index of inactive patients matches the list rows, which match the records. */
export async function checkInactivePatients({ table, clinic, examineAll }: Inspection): Promise<void> {
  const pk = inactivePatientsPartition(clinic)
  const wanted = await readParts()
  const stored = new Map<string, Item>()
  for await (const items of partitionPages(table, pk)) for (const item of items) stored.set(item.sk, item)
  const parts = new Set([...wanted.keys(), ...stored.keys()])
  await examineAll(
    [...parts].filter((sk) => !isRight(stored.get(sk), wanted.get(sk))),
    recheck,
  )

  /** The inactive patients among rows as bits, by the sort keys of their parts. */
  async function readParts(bounds?: Bounds): Promise<Map<string, Uint8Array>> {
    const parts = new Map<string, Uint8Array>()
    for await (const rows of partitionPages(table, patientListPartition(clinic), bounds))
      for (const row of rows.filter((one) => !isActive(one))) {
        const sk = sortableNumber(partOf(Number(row.sk)))
        parts.set(sk, withMember(parts.get(sk) ?? emptyPart(), Number(row.sk), true))
      }
    return parts
  }

  /** A change of a patient's state changes the version of the part in the same transaction. */
  async function recheck(sk: string, read: Snapshot): Promise<Finding | null> {
    const key = { pk, sk }
    const item = await read.get(key)
    const first = Number(sk) * PART_SIZE
    const bounds = { from: sortableNumber(first), to: sortableNumber(first + PART_SIZE - 1) }
    const bits = isPartKey(sk) ? (await readParts(bounds)).get(sk) : undefined
    if (isRight(item, bits)) return null
    const v = (typeof item?.v === 'number' ? item.v : 0) + 1
    const write = isPartKey(sk)
      ? table.putWrite({ ...key, b: bits ?? emptyPart(), v })
      : table.deleteWrite(key)
    return findingOf('patient_activity_wrong', key, () => read.write([write]))
  }
}

/** An unreadable row is reported with its record. */
const isActive = (row: Item): boolean => readable(() => toPatient(row))?.isActive ?? true

const isPartKey = (sk: string): boolean => sk === sortableNumber(Number(sk))

/** Whether an item has the bits of its part. One whose key is of no part has not. */
const isRight = (item: Item | undefined, wanted = emptyPart()): boolean =>
  item === undefined
    ? isDeepStrictEqual(wanted, emptyPart())
    : isPartKey(item.sk) &&
      typeof item.v === 'number' &&
      isPart(item.b) &&
      isDeepStrictEqual(Uint8Array.from(item.b), wanted)
