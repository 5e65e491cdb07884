import type { ClinicId } from '../domain/clinic.ts'
import type { Doctor } from '../domain/doctor.ts'
import type { Page, PageRequest } from '../domain/paging.ts'
import type { Stamped } from '../domain/stamped.ts'
import { pageOfAll, sortedByName } from './by-name.ts'
import { doctorKey, doctorsPartition } from './keys/clinics.ts'
import { doctorOwner } from './keys/copies.ts'
import { Changeset } from './table/changeset.ts'
import { type ImportOrigin, originAttributes, originOfItem } from './table/import-origin.ts'
import type { Table } from './table/table.ts'
import type { Item } from './table/write-requests.ts'

/** A doctor as it was read, with the version that a change of it is conditional on. */
export type StoredDoctor = Stamped<ImportedDoctor> & { readonly version: number }

/** A doctor, with its origin if it was imported. */
type ImportedDoctor = Doctor & ImportOrigin

/** A doctor to be written: a new one, or a change of the one that was read. */
export type DoctorChange = { readonly before: StoredDoctor | null; readonly after: ImportedDoctor }

/** Doctors in one transaction: each takes up to three items. */
export const MAX_SAVED = 33

/** A clinic has tens of doctors, rarely hundreds, so its list is one partition that is read whole and sorted in memory. */
const MAX_DOCTORS = 10_000

export function doctorStore({ table }: { table: Table }) {
  async function find(clinic: ClinicId, id: string): Promise<StoredDoctor | null> {
    const item = await table.get(doctorKey(clinic, id))
    return item ? toDoctor(item) : null
  }

  async function findMany(clinic: ClinicId, ids: readonly string[]): Promise<Map<string, StoredDoctor>> {
    const items = await table.getMany(ids.map((id) => doctorKey(clinic, id)))
    return new Map(items.map((item) => [item.sk, toDoctor(item)]))
  }

  /** Sorted by name, without regard to case and accents, then by id. */
  async function list(clinic: ClinicId): Promise<StoredDoctor[]> {
    const items = await table.query({ pk: doctorsPartition(clinic), limit: MAX_DOCTORS })
    return sortedByName(items.map(toDoctor), ({ fullName }) => fullName)
  }

  async function page(clinic: ClinicId, request: PageRequest): Promise<Page<StoredDoctor>> {
    return pageOfAll(await list(clinic), request)
  }

  /**
   * Writes whole doctors, at most {@link MAX_SAVED}: new ones, or changed ones as they were read. A new name marks its
   * copies as stale (copies/copied-names.ts). `extendChanges` adds one item to the transaction.
   * @throws ConditionFailed when one was changed since it was read
   */
  async function save(
    clinic: ClinicId,
    changes: readonly DoctorChange[],
    extendChanges: (changes: Changeset) => void = () => {},
  ): Promise<void> {
    const changeset = new Changeset(table, clinic)
    for (const { before, after } of changes) {
      const { id, externalId, imported, ...doctor } = after
      const condition = before ? { version: before.version } : 'new'
      const updatedAt = changeset.stamp(null)
      changeset.put(
        {
          ...doctorKey(clinic, id),
          ...doctor,
          ...originAttributes({ externalId, imported }),
          updatedAt,
          v: (before?.version ?? 0) + 1,
        },
        condition,
      )
      if (before && before.fullName !== after.fullName) changeset.markStale(doctorOwner(id))
    }
    extendChanges(changeset)
    await changeset.commit()
  }

  return { find, findMany, list, page, save }
}

function toDoctor(item: Item): StoredDoctor {
  const { pk, sk, v, xi, im, departmentId, ...doctor } = item
  return {
    ...(doctor as unknown as Stamped<Omit<Doctor, 'id' | 'departmentId'>>),
    id: sk,
    // Doctors that were stored before departments existed have none.
    departmentId: (departmentId ?? null) as Doctor['departmentId'],
    version: v as number,
    ...originOfItem(item),
  }
}
