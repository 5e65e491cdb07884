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
  /** The ids by which imports would create the patient again: those derived from external ids that the patient was linked to. */
  readonly importIds: readonly string[]
  /** False while the erasure is in progress, and if it was interrupted: erasing the patient again completes it. */
  readonly isFinished: boolean
}

/** The most `importIds` in the transaction that begins an erasure; the end of the erasure adds the others. */
const MAX_BEGUN_WITH = 50

export function erasureLedger({ table }: { table: Table }) {
  /** Every erasure of the clinic, oldest first. */
  async function list(clinic: ClinicId): Promise<Erasure[]> {
    const items = await table.query({ pk: erasuresPartition(clinic), limit: 1_000_000 })
    const importIds = Map.groupBy(
      items.filter(({ of }) => of !== undefined),
      ({ of }) => of as string,
    )
    return items
      .filter(({ of }) => of === undefined)
      .map((item) => toErasure(item, importIds.get(item.sk)))
      .sort((a, b) => (a.at < b.at ? -1 : 1))
  }

  /** The erasures of some patients, without their `importIds`. */
  async function findMany(
    clinic: ClinicId,
    patients: readonly string[],
  ): Promise<Map<string, Omit<Erasure, 'importIds'>>> {
    const items = await table.getMany(patients.map((id) => erasureKey(clinic, id)))
    return new Map(items.map((item) => [item.sk, toErasure(item)]))
  }

  /** The given ids that no import may create a patient with. */
  async function findErased(clinic: ClinicId, ids: readonly string[]): Promise<Set<string>> {
    const items = await table.getMany(ids.map((id) => erasureKey(clinic, id)))
    return new Set(items.map(({ sk }) => sk))
  }

  /** Records an erasure in the transaction that begins it. */
  function begin(changes: Changeset, { patient, at, operator, importIds }: BegunErasure): void {
    changes.put({ ...erasureKey(changes.clinic, patient), at, by: operator })
    for (const id of importIds.slice(0, MAX_BEGUN_WITH))
      changes.put({ ...erasureKey(changes.clinic, id), at, by: operator, of: patient })
  }

  /** Records that nothing of the patient is left. */
  async function finish(clinic: ClinicId, erasure: BegunErasure): Promise<void> {
    await addImportIds(clinic, erasure)
    const { patient, at, operator } = erasure
    await table.update(erasureKey(clinic, patient), {
      UpdateExpression: 'SET #at = if_not_exists(#at, :at), #by = if_not_exists(#by, :by), #done = :done',
      ExpressionAttributeNames: { '#at': 'at', '#by': 'by', '#done': 'f' },
      ExpressionAttributeValues: { ':at': at, ':by': operator, ':done': 1 },
    })
  }

  /** Adds the `importIds` of an erasure that the ledger lacks. */
  async function addImportIds(clinic: ClinicId, { patient, at, operator, importIds }: BegunErasure) {
    const present = await findErased(clinic, importIds)
    for (const id of importIds.filter((one) => !present.has(one)))
      await table.transact([table.putWrite({ ...erasureKey(clinic, id), at, by: operator, of: patient })])
  }

  return { list, findMany, findErased, begin, finish, addImportIds }
}

type BegunErasure = Omit<Erasure, 'isFinished'>

const toErasure = (item: Item, importIds: readonly Item[] = []): Erasure => ({
  patient: item.sk,
  at: item.at as string,
  operator: item.by as string,
  importIds: importIds.map(({ sk }) => sk),
  isFinished: item.f === 1,
})
