import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { withPauses } from '../../../../bin/clinic/import/run/patience.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { UNREQUESTED } from '../../../../shared/store/table/idempotency.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { runVerification } from '../../../shared/maintenance/verify/practice.ts'
import { importRows } from '../../../support/imports.ts'
import { freshRealisticTable } from '../../../support/realistic-table.ts'
import { rounds } from '../../../support/scale.ts'
import { aPatient, newClinic } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { appointment } from './calendar-fixtures.ts'

const folder = temporaryFolder()

const TIMEOUT_MS = rounds(600_000, 7_200_000)

/** Time between two creations: 20 a second. */
const CREATION_INTERVAL_MS = 50

const load = (...of: [table: Table, clinic: Clinic, name: string, rows: object[]]) =>
  importRows(folder, ...of)

/** Creates patients at a steady rate until `isDone`; returns how many were created. */
async function createPatients(table: Table, clinic: Clinic, isDone: () => boolean): Promise<number> {
  const created: Promise<boolean>[] = []
  while (!isDone()) {
    const creation = patientWriter({ table }).create(clinic.id, aPatient(), UNREQUESTED)
    created.push(
      creation.then(
        () => true,
        () => false,
      ),
    )
    await sleep(CREATION_INTERVAL_MS)
  }
  return (await Promise.all(created)).filter(Boolean).length
}

it(
  'imports every row while patients are created 20 times a second',
  async () => {
    const realistic = await freshRealisticTable()
    const { table } = realistic
    const operatorTable = withPauses(realistic.operatorTable)
    const clinic = await newClinic(table)
    const count = rounds(100, 100_000)
    const patients = Array.from({ length: count }, (_, n) => ({
      external_id: n,
      first_name: 'Imported',
      last_name: `Patient ${n}`,
    }))
    const appointments = Array.from({ length: rounds(100, 20_000) }, (_, n) => ({
      ...{ ...appointment, external_id: n, patient_external_id: n, doctor_external_id: n % 2 },
      appointment_date: `2026-03-${String(1 + (n % 28)).padStart(2, '0')}`,
    }))
    let isDone = false
    const creations = createPatients(table, clinic, () => isDone)
    const all = ({ length }: object[]) => ({ imported: length, rejections: [], warned: [] })
    try {
      expect(await load(operatorTable, clinic, 'patients', patients)).toMatchObject(all(patients))
      await load(operatorTable, clinic, 'doctors', [
        { external_id: 0, full_name: 'Dr. Eva Noll' },
        { external_id: 1, full_name: 'Dr. Bo Lind' },
      ])
      expect(await load(operatorTable, clinic, 'appointments', appointments)).toMatchObject(all(appointments))
    } finally {
      isDone = true
    }
    const created = await creations
    const { total } = await patientStore({ table }).page(clinic.id, { page: 1, limit: 1 })
    expect(total).toBe(count + created)
    expect((await runVerification(operatorTable, clinic.id)).found).toEqual([])
  },
  TIMEOUT_MS,
)
