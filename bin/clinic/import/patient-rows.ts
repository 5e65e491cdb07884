/** Shared by the imports of appointments, invoices, payments and messages. */
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { StoredRecord } from '../../../shared/store/calendar/calendar-entity.ts'
import type { RecordList } from '../../../shared/store/calendar/calendar-list.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { patientStore, type StoredPatient } from '../../../shared/store/patients/patients.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import { commitPacked, type Unit } from '../../../shared/store/table/commit-packed.ts'
import { isSameRecord } from '../../../shared/store/table/stamped-codec.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { BatchOutcomes } from './batch-outcomes.ts'
import type { ImportRow } from './entity.ts'
import { unknownReference } from './references.ts'

/** Rejects a row, with the reason. */
export class RowRejectedError extends Error {}

type WithPatient = { readonly patient: string }

/**
 * Builds the record of a row from the records that it refers to, and requires their versions of the changes. May throw
 * {@link RowRejectedError}.
 */
export type BuildRecord<R, Fields> = (
  row: ImportRow<Fields>,
  patient: StoredPatient,
  before: R | null,
  changes: Changeset,
) => R | Promise<R>

/** Where the rows of a batch are written. */
type Target<R> = { readonly table: Table; readonly list: RecordList<R>; readonly clinic: ClinicInfo }

/**
 * Writes a batch of rows that belong to patients. `prepare` reads what some rows refer to beside patients, and returns
 * how their records are built. Each write is conditional on the version of the patient that was read, so that no outdated
 * name is written.
 */
export async function writePatientRows<R, Fields extends WithPatient>(
  { table, list, clinic: { id: clinic } }: Target<R>,
  batch: readonly ImportRow<Fields>[],
  outcomes: BatchOutcomes,
  prepare: (rows: readonly ImportRow<Fields>[]) => Promise<BuildRecord<R, Fields>>,
): Promise<void> {
  const patients = patientStore({ table })

  /** The changes of rows, each as it was decided by one reading: rows without changes have their outcome already. */
  async function decide(rows: readonly ImportRow<Fields>[]) {
    const [known, existing, build] = await Promise.all([
      patients.findMany(clinic, [...new Set(rows.map(({ fields }) => fields.patient))]),
      list.findMany(
        clinic,
        rows.map(({ id }) => id),
      ),
      prepare(rows),
    ])
    const decided: { row: ImportRow<Fields>; changes: Changeset; write: 'imported' | 'updated' }[] = []
    for (const row of rows) {
      const stored = existing.get(row.id) ?? null
      const changes = await changesOf(row, known, stored, build)
      if (changes) decided.push({ row, changes, write: stored ? 'updated' : 'imported' })
    }
    return decided
  }

  async function changesOf(
    row: ImportRow<Fields>,
    known: ReadonlyMap<string, StoredPatient>,
    stored: StoredRecord<R> | null,
    build: BuildRecord<R, Fields>,
  ): Promise<Changeset | null> {
    const changes = new Changeset(table, clinic)
    try {
      const patient = requirePatient(known, row.fields.patient)
      const after = await build(row, patient, stored?.record ?? null, changes)
      if (stored && isSameRecord(stored.record, after)) {
        outcomes.unchanged(row.id)
        return null
      }
      list.change(changes, stored, after, row.externalId)
      changes.requireVersion(patientKey(clinic, patient.id), patient.version)
      return changes
    } catch (error) {
      if (!(error instanceof RowRejectedError)) throw error
      outcomes.rejected(row.id, error.message)
      return null
    }
  }

  const units = (await decide(batch)).map(({ row, changes, write }): Unit => {
    let latest = write
    return {
      changes,
      rebuild: async () => {
        const [again] = await decide([row])
        if (again) latest = again.write
        return again?.changes ?? null
      },
      onCommit: (outcome) => outcomes.committed(row.id, latest, outcome),
    }
  })
  await commitPacked(table, clinic, units)
}

/** @throws RowRejectedError for an unknown or erased patient */
export function requirePatient(known: ReadonlyMap<string, StoredPatient>, id: string): StoredPatient {
  const patient = known.get(id)
  if (!patient) throw new RowRejectedError(unknownReference('patient'))
  if (patient.erasedAt) throw new RowRejectedError('the patient was erased')
  return patient
}
