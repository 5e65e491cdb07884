/** Refreshes of copied names that overlap with later changes. */
import { expect, it } from 'vitest'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { copiedNames } from '../../../../shared/store/copies/copied-names.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { doctorOwner, patientOwner } from '../../../../shared/store/keys/copies.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { freshTable } from '../../../support/table.ts'

/** The same table, but `work` runs before its first `transact`: in a refresh, the one that deletes the mark. */
function runBeforeFirstTransaction(table: Table, work: () => Promise<unknown>): Table {
  let isFirst = true
  return {
    ...table,
    transact: async (writes) => {
      if (isFirst) {
        isFirst = false
        await work()
      }
      await table.transact(writes)
    },
  }
}

it('copies the last name of a patient when an overlapping refresh of an earlier name ends after the change', async () => {
  const { table } = await freshTable()
  const { clinic, patient, appointment } = await createPopulatedClinic(table)
  // The rename is interrupted before its refresh.
  const crashing: Table = {
    ...table,
    get: (key) => (key.sk === patientOwner(patient.id) ? Promise.reject(new Error('crash')) : table.get(key)),
  }
  const first = patientChanges(crashing).update(clinic.id, patient.id, { lastName: 'First' })
  await expect(first).rejects.toThrow('crash')

  let changed: Promise<unknown> = Promise.resolve()
  const slow = runBeforeFirstTransaction(table, async () => {
    await copiedNames(table).refresh(clinic.id, patientOwner(patient.id))
    // The second name is stored and marked, and its refresh is late.
    const late: Table = {
      ...table,
      get: async (key) => {
        if (key.sk === patientOwner(patient.id)) await slowRefresh
        return table.get(key)
      },
    }
    changed = patientChanges(late).update(clinic.id, patient.id, { lastName: 'Second' })
    const isStored = async () => (await copiedNames(table).staleOwners(clinic.id)).length > 0
    await expect.poll(isStored).toBe(true)
  })
  const slowRefresh = copiedNames(slow).refresh(clinic.id, patientOwner(patient.id))
  await slowRefresh
  await changed

  const copy = await appointmentStore({ table }).find(clinic.id, appointment.id)
  expect(copy?.record.patient.fullName).toBe(`${patient.firstName} Second`)
})

it('keeps the mark of a later name of a doctor when a refresh of an earlier name ends after it', async () => {
  const { table } = await freshTable()
  const { clinic, doctor } = await createPopulatedClinic(table)
  const doctors = doctorStore({ table })
  const rename = async (fullName: string) => {
    const before = await doctors.find(clinic.id, doctor.id)
    if (!before) throw new Error('the doctor is missing')
    const { version, ...stored } = before
    await doctors.save(clinic.id, [{ before, after: { ...stored, fullName } }])
  }
  await rename('Dr. First')
  const slow = runBeforeFirstTransaction(table, async () => {
    await copiedNames(table).refresh(clinic.id, doctorOwner(doctor.id))
    await rename('Dr. Second')
  })

  await copiedNames(slow).refresh(clinic.id, doctorOwner(doctor.id))

  expect(await copiedNames(table).staleOwners(clinic.id)).toEqual([doctorOwner(doctor.id)])
})
