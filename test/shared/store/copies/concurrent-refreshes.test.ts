/** Refreshes of copied names that overlap with later changes. */
import { describe, expect, it } from 'vitest'
import type { Appointment } from '../../../../shared/domain/booking/appointment.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { fullName } from '../../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentChangeStore } from '../../../../shared/store/calendar/appointment-changes.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { copiedNames } from '../../../../shared/store/copies/copied-names.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { calendarListPartition, ownerPartition } from '../../../../shared/store/keys/calendar.ts'
import { doctorOwner, patientOwner } from '../../../../shared/store/keys/copies.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { UNREQUESTED } from '../../../../shared/store/table/idempotency.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { aPatient, freshTable } from '../../../support/table.ts'
import { withoutUpdatedAt } from '../../../support/without-updated-at.ts'

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

describe('a refresh of copies while an import moves an appointment', () => {
  /** The same table, which moves the appointment after its first query of the partition. */
  const movingTable = (table: Table, pk: string, move: () => Promise<void>): Table => {
    let isMoved = false
    return {
      ...table,
      query: async (range) => {
        const rows = await table.query(range)
        if (range.pk === pk && !isMoved) {
          isMoved = true
          await move()
        }
        return rows
      },
    }
  }

  it('keeps the text and the name of the other patient when the first one is erased', async () => {
    const { table } = await freshTable()
    const { clinic, patient, appointment } = await createPopulatedClinic(table)
    const other = aPatient()
    await patientWriter({ table }).createMany(clinic.id, [other])
    const moved = {
      ...appointment,
      patient: { id: other.id, fullName: fullName(other) },
      notes: 'about the other patient',
    }
    const pk = ownerPartition(clinic.id, 'A', 'patient', patient.id)
    const moving = movingTable(table, pk, () => changeAppointment(table, clinic, moved))

    await patientChanges(moving).erase(clinic.id, patient.id)

    expect(
      withoutUpdatedAt((await appointmentStore({ table }).find(clinic.id, appointment.id))?.record),
    ).toEqual(moved)
  })

  it('keeps the other doctor when the first one is renamed', async () => {
    const { table } = await freshTable()
    const { clinic, doctor, appointment } = await createPopulatedClinic(table)
    const doctors = doctorStore({ table })
    const before = await doctors.find(clinic.id, doctor.id)
    if (!before) throw new Error('the doctor is missing')
    const { version, ...stored } = before
    const other = { ...stored, id: newUuid(), fullName: 'Dr. Other' }
    await doctors.save(clinic.id, [
      { before, after: { ...stored, fullName: 'Dr. New' } },
      { before: null, after: other },
    ])
    const moved = { ...appointment, doctor: { id: other.id, fullName: other.fullName } }
    const pk = calendarListPartition(clinic.id, 'A', doctor.id)
    const moving = movingTable(table, pk, () => changeAppointment(table, clinic, moved))

    await copiedNames(moving).refresh(clinic.id, doctorOwner(doctor.id))

    expect(
      withoutUpdatedAt((await appointmentStore({ table }).find(clinic.id, appointment.id))?.record),
    ).toEqual(moved)
  })
})

it.each(['patient', 'doctor'] as const)(
  'leaves no earlier name of the %s on an appointment that moves while it is refreshed',
  async (kind) => {
    const { table } = await freshTable()
    const { clinic, patient, doctor, appointment } = await createPopulatedClinic(table)
    const move = () =>
      appointmentChangeStore({ table, now: Date.now }).change(clinic.id, {
        id: appointment.id,
        changes: { startTime: '11:00' },
        moment: { timezone: clinic.timezone, clock: { date: '2026-05-01', seconds: 0 } },
        write: UNREQUESTED,
      })
    const pk =
      kind === 'patient'
        ? ownerPartition(clinic.id, 'A', 'patient', patient.id)
        : calendarListPartition(clinic.id, 'A', doctor.id)
    // A query is not isolated: it finds a row that moves at the same time at neither place.
    let outcome: Awaited<ReturnType<typeof move>> | undefined
    const missing: Table = {
      ...table,
      query: async (range) => {
        if (range.pk === pk && !outcome) outcome = await move()
        else return table.query(range)
        return []
      },
    }
    if (kind === 'patient') await patientChanges(missing).update(clinic.id, patient.id, { lastName: 'New' })
    else {
      const doctors = doctorStore({ table })
      const before = await doctors.find(clinic.id, doctor.id)
      if (!before) throw new Error('the doctor is missing')
      await doctors.save(clinic.id, [{ before, after: { ...before, fullName: 'Dr. New' } }])
      await copiedNames(missing).refreshAll(clinic.id)
    }
    expect(outcome).toMatchObject({ kind: 'done' })
    const stored = (await appointmentStore({ table }).find(clinic.id, appointment.id))?.record
    expect(stored).toMatchObject({ startTime: '11:00', [kind]: { fullName: expect.stringContaining('New') } })
  },
)

async function changeAppointment(table: Table, clinic: Clinic, after: Appointment): Promise<void> {
  const list = appointmentStore({ table })
  const changes = new Changeset(table, clinic.id)
  list.change(changes, await list.find(clinic.id, after.id), after)
  await changes.commit()
}
