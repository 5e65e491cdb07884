/**
 * Which patients are inactive: a bit for each ordinal, so that a page of the active or of the inactive patients is found with
 * one read of all bits (34 units for a million patients, one for the first thousands), however many there are of either.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import { emptyPart, OrdinalSet, partOf, withMember } from '../../domain/lists/ordinal-set.ts'
import { inactivePatientsKey, inactivePatientsPartition } from '../keys/patients.ts'
import type { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'

/** More than any clinic has: a part stands for thousands of patients. */
const MAX_PARTS = 1_000_000

/** A patient at an ordinal becomes active or inactive. */
type Move = { readonly ordinal: number; readonly isActive: boolean }

export function inactivePatients({ table }: { table: Table }) {
  async function read(clinic: ClinicId): Promise<OrdinalSet> {
    const items = await table.query({ pk: inactivePatientsPartition(clinic), limit: MAX_PARTS })
    return new OrdinalSet(new Map(items.map(({ sk, b }) => [Number(sk), b as Uint8Array])))
  }

  /** Adds the changed bits to the transaction, on the condition that nothing else has changed their parts. */
  async function move(changes: Changeset, moves: readonly Move[]): Promise<void> {
    if (moves.length === 0) return
    const byPart = Map.groupBy(moves, ({ ordinal }) => partOf(ordinal))
    const keys = [...byPart.keys()].map((part) => inactivePatientsKey(changes.clinic, part))
    const stored = new Map((await table.getMany(keys)).map((item) => [Number(item.sk), item]))
    for (const [part, inPart] of byPart) {
      const item = stored.get(part)
      const bits = inPart.reduce(
        (bits, { ordinal, isActive }) => withMember(bits, ordinal, !isActive),
        (item?.b as Uint8Array | undefined) ?? emptyPart(),
      )
      const version = item?.v ?? 0
      changes.put(
        { ...item, ...inactivePatientsKey(changes.clinic, part), b: bits, v: version + 1 },
        item ? { version } : 'new',
      )
    }
  }

  return { read, move }
}
