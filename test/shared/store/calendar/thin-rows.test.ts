/** Pages whose large records are read by id while they change. */
import { expect, it } from 'vitest'
import type { Appointment } from '../../../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { anAppointment } from '../../../support/sample-records.ts'
import { freshTable } from '../../../support/table.ts'

const [PATIENT, DOCTOR] = [newUuid(), newUuid()]

const LONG_APPOINTMENT = anAppointment({
  id: newUuid(),
  patient: { id: PATIENT, fullName: 'Ada Kaya' },
  doctor: { id: DOCTOR, fullName: 'Dr. Bo' },
  notes: 'long '.repeat(200),
})

it.each([
  { name: 'clinic', filter: {} },
  { name: 'doctor', filter: { doctor: DOCTOR } },
  { name: 'patient', filter: { patient: PATIENT } },
])(
  'filters the list of a $name by the status that a large record has when it is read',
  async ({ filter }) => {
    const { table } = await freshTable()
    const clinic = newUuid() as ClinicId
    const list = appointmentStore({ table })
    const write = async (after: Appointment) => {
      const changes = new Changeset(table, clinic)
      list.change(changes, await list.find(clinic, after.id), after)
      await changes.commit()
    }
    await write(LONG_APPOINTMENT)
    let isCancelled = false
    let queries: Promise<unknown>[] = []
    const changing: Table = {
      ...table,
      query: (range) => {
        const read = table.query(range)
        queries.push(read)
        return read
      },
      getMany: async (keys) => {
        // The second read of the tallies begins in the same step.
        await Promise.resolve()
        await Promise.all(queries)
        queries = []
        if (!isCancelled) await write({ ...LONG_APPOINTMENT, status: 'cancelled' })
        isCancelled = true
        return table.getMany(keys)
      },
    }

    const page = await appointmentStore({ table: changing }).page(
      clinic,
      { ...filter, facets: ['scheduled'] },
      { page: 1, limit: 20 },
    )

    expect(page.items.map(({ status }) => status)).not.toContain('cancelled')
    expect(page.total).toBe(0)
  },
)
