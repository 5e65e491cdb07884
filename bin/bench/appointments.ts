import type { AppointmentStatus } from '../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import type { CalendarFilter } from '../../shared/store/calendar/calendar-filter.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { addBookings } from './bookings.ts'
import { listBound, patientListBound, WRITE_UNITS } from './bounds.ts'
import { type BuiltClinic, buildAppointments } from './build-appointments.ts'
import type { MeteredTable } from './meter.ts'

type Filter = CalendarFilter<AppointmentStatus>

/** Measures every list of a clinic's appointments and the write of one. */
export async function measureAppointments(
  unmeasured: Table,
  metered: MeteredTable,
  clinic: ClinicId,
  count: number,
): Promise<void> {
  const built = await buildAppointments(unmeasured, clinic, count)
  const { table, add } = metered
  const list = appointmentStore({ table })
  for (const [name, filter] of filtersOf(built)) {
    const { total } = await list.page(clinic, filter, { page: 1, limit: 1 })
    for (const limit of [20, 100]) {
      const last = Math.max(1, Math.ceil(total / limit))
      const bound = filter.patient ? patientListBound(total) : listBound(count, limit)
      for (const [where, page] of [
        ['first', 1],
        ['middle', Math.ceil(last / 2)],
        ['last', last],
      ] as const) {
        await add(`${name}, ${where} page, limit ${limit}`, bound, () =>
          list.page(clinic, filter, { page, limit }),
        )
      }
    }
  }
  await addWrites(metered, clinic, built)
  await addBookings(unmeasured, metered, clinic)
}

const filtersOf = ({ doctors, patients, firstDay, lastDay }: BuiltClinic): [string, Filter][] => [
  ['all', {}],
  ['status', { facets: ['completed'] }],
  ['rare status', { facets: ['scheduled'] }],
  ['doctor', { doctor: doctors[0] }],
  ['doctor and status', { doctor: doctors[0], facets: ['completed'] }],
  ['a month', { from: '2026-05-01', to: '2026-05-31' }],
  ['from mid-month to mid-month', { from: `${firstDay.slice(0, 8)}15`, to: `${lastDay.slice(0, 8)}14` }],
  ['patient', { patient: patients[0] }],
]

async function addWrites(
  { table, add }: MeteredTable,
  clinic: ClinicId,
  { newest }: BuiltClinic,
): Promise<void> {
  const list = appointmentStore({ table })
  const one = { ...newest, id: newUuid(), status: 'scheduled' as const }
  const commit = async (before: Parameters<typeof list.change>[1], after: typeof newest) => {
    const changes = new Changeset(table, clinic)
    list.change(changes, before, after)
    await changes.commit()
  }
  await add('create (write units)', { units: WRITE_UNITS.appointment, roundTrips: 1 }, () =>
    commit(null, one),
  )
  const stored = { record: one, version: 1, events: 1 }
  await add('change of status (write units)', { units: WRITE_UNITS.statusChange, roundTrips: 1 }, () =>
    commit(stored, { ...one, status: 'completed' }),
  )
}
