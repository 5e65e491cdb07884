/** What the imports of appointments, invoices, payments and messages have in common. */
import { isDeepStrictEqual } from 'node:util'
import type { ClinicFacts } from '../../../shared/domain/clinic.ts'
import type { RecordList, Stored } from '../../../shared/store/calendar/calendar-list.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { type PlacedPatient, patientStore } from '../../../shared/store/patients/patients.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import { commitPacked, type Unit } from '../../../shared/store/table/commit-packed.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { ImportRow, Outcome, RowRejection } from './entity.ts'
import { unknownReference } from './references.ts'

/** A row that cannot become a record, and why. */
export class RowRefused extends Error {}

type WithPatient = { readonly patient: string }

/** How a row becomes a record, given what it refers to. May throw {@link RowRefused}. */
export type Build<R, Fields> = (
  row: ImportRow<Fields>,
  patient: PlacedPatient,
  before: R | null,
) => R | Promise<R>

/**
 * Writes a batch of rows that belong to patients. Each record is made under the condition that its patient has not
 * changed meanwhile, so that no old name is written late.
 */
export async function writePatientRows<R, Fields extends WithPatient>(
  table: Table,
  list: RecordList<R>,
  { id: clinic }: ClinicFacts,
  batch: readonly ImportRow<Fields>[],
  build: Build<R, Fields>,
): Promise<Outcome> {
  const patients = patientStore({ table })
  const outcome = { imported: 0, updated: 0, unchanged: 0, rejected: [] as RowRejection[] }
  const unitOf = async (
    row: ImportRow<Fields>,
    known: ReadonlyMap<string, PlacedPatient>,
    stored: Stored<R> | null,
  ): Promise<Changeset | null> => {
    const patient = livingPatient(known, row.fields.patient)
    const after = await build(row, patient, stored?.record ?? null)
    if (stored && isDeepStrictEqual(stored.record, after)) return null
    const changes = new Changeset(table, clinic)
    list.change(changes, stored, after)
    changes.require(patientKey(clinic, patient.id), patient.version)
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
      if (!(error instanceof RowRefused)) throw error
      outcome.rejected.push({ id: row.id, reason: error.message })
    }
  }
  await commitPacked(table, clinic, units)
  return outcome
}

/** @throws RowRefused for a patient that the clinic does not have, or has erased */
export function livingPatient(known: ReadonlyMap<string, PlacedPatient>, id: string): PlacedPatient {
  const patient = known.get(id)
  if (!patient) throw new RowRefused(unknownReference('patient'))
  if (patient.erased) throw new RowRefused('the patient was erased')
  return patient
}
