/**
 * The ledger of a clinic's erasures. Restoring the table to an earlier time brings back erased patients; the ledger of the
 * table that was in use says whom to erase again.
 */
import type { ClinicId } from '../../domain/clinic.ts'
import { erasureKey, erasuresPartition } from '../keys/operator.ts'
import type { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'

export type Erasure = {
  /** The patient's id. */
  readonly patient: string
  /** ISO 8601 instant. */
  readonly at: string
  /** Who erased the patient. */
  readonly operator: string
  /** False while the erasure is in progress, and if it was interrupted: erasing the patient again completes it. */
  readonly isFinished: boolean
}

export function erasureLedger({ table }: { table: Table }) {
  /** Every erasure of the clinic, oldest first. */
  async function list(clinic: ClinicId): Promise<Erasure[]> {
    const items = await table.query({ pk: erasuresPartition(clinic), limit: 1_000_000 })
    return items.map(toErasure).sort((a, b) => (a.at < b.at ? -1 : 1))
  }

  /** The erasures of some patients. */
  async function findMany(clinic: ClinicId, patients: readonly string[]): Promise<Map<string, Erasure>> {
    const items = await table.getMany(patients.map((id) => erasureKey(clinic, id)))
    return new Map(items.map((item) => [item.sk, toErasure(item)]))
  }

  /** Records an erasure in the transaction that begins it. */
  function begin(changes: Changeset, { patient, at, operator }: Omit<Erasure, 'isFinished'>): void {
    changes.put({ ...erasureKey(changes.clinic, patient), at, by: operator })
  }

  /** Records that nothing of the patient is left. */
  async function finish(
    clinic: ClinicId,
    { patient, at, operator }: Omit<Erasure, 'isFinished'>,
  ): Promise<void> {
    await table.update(erasureKey(clinic, patient), {
      UpdateExpression: 'SET #at = if_not_exists(#at, :at), #by = if_not_exists(#by, :by), #done = :done',
      ExpressionAttributeNames: { '#at': 'at', '#by': 'by', '#done': 'f' },
      ExpressionAttributeValues: { ':at': at, ':by': operator, ':done': 1 },
    })
  }

  return { list, findMany, begin, finish }
}

const toErasure = (item: Item): Erasure => ({
  patient: item.sk,
  at: item.at as string,
  operator: item.by as string,
  isFinished: item.f === 1,
})
