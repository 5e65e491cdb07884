/** Shared by the imports of appointments, invoices, payments and messages. */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { StoredRecord } from '../../../shared/store/calendar/calendar-entity.ts'
import type { RecordList } from '../../../shared/store/calendar/calendar-list.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { patientStore, type StoredPatient } from '../../../shared/store/patients/patients.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import { commitPacked, type Unit } from '../../../shared/store/table/commit-packed.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { BatchResult, ImportRow, RowRejection } from './entity.ts'
import { unknownReference } from './references.ts'

/** Rejects a row, with the reason. */
export class RowRejectedError extends Error {}

type WithPatient = { readonly patient: string }

/** Builds the record of a row from the records that it refers to. May throw {@link RowRejectedError}. */
export type BuildRecord<R, Fields> = (
  row: ImportRow<Fields>,
  patient: StoredPatient,
  before: R | null,
) => R | Promise<R>

/**
 * Writes a batch of rows that belong to patients. Each write is conditional on the version of the patient that was read,
 * so that no outdated name is written.
 */
export async function writePatientRows<R, Fields extends WithPatient>(
  table: Table,
  list: RecordList<R>,
  { id: clinic }: ClinicInfo,
  batch: readonly ImportRow<Fields>[],
  build: BuildRecord<R, Fields>,
): Promise<BatchResult> {
  const patients = patientStore({ table })
  const outcome = { imported: 0, updated: 0, unchanged: 0, rejected: [] as RowRejection[] }
  const unitOf = async (
    row: ImportRow<Fields>,
    known: ReadonlyMap<string, StoredPatient>,
    stored: StoredRecord<R> | null,
  ): Promise<Changeset | null> => {
    const patient = requirePatient(known, row.fields.patient)
    const after = await build(row, patient, stored?.record ?? null)
    if (stored && isDeepStrictEqual(stored.record, after)) return null
    const changes = new Changeset(table, clinic)
    list.change(changes, stored, after)
    changes.requireVersion(patientKey(clinic, patient.id), patient.version)
    return changes
  }
  const [known, existing] = await Promise.all([
    patients.findMany(clinic, [...new Set(batch.map(({ fields }) => fields.patient))]),
    list.findMany(
      clinic,
      batch.map(({ id }) => id),
    ),
  ])
  const units: Unit[] = []
  for (const row of batch) {
    const stored = existing.get(row.id) ?? null
    try {
      const changes = await unitOf(row, known, stored)
      if (!changes) outcome.unchanged++
      else {
        outcome[stored ? 'updated' : 'imported']++
        const rebuild = async () =>
          unitOf(row, await patients.findMany(clinic, [row.fields.patient]), await list.find(clinic, row.id))
        units.push({ changes, rebuild })
      }
    } catch (error) {
      if (!(error instanceof RowRejectedError)) throw error
      outcome.rejected.push({ id: row.id, reason: error.message })
    }
  }
  await commitPacked(table, clinic, units)
  return outcome
}

/** @throws RowRejectedError for an unknown or erased patient */
export function requirePatient(known: ReadonlyMap<string, StoredPatient>, id: string): StoredPatient {
  const patient = known.get(id)
  if (!patient) throw new RowRejectedError(unknownReference('patient'))
  if (patient.erased) throw new RowRejectedError('the patient was erased')
  return patient
}
