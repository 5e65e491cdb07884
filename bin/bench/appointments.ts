import type { AppointmentStatus } from '../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { MAX_UNCOUNTED_ROWS } from '../../shared/domain/lists/paging.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import type { CalendarFilter } from '../../shared/store/calendar/calendar-filter.ts'
import { MAX_CREATED, patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../shared/store/patients/patients.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { chunked } from '../../shared/store/table/chunked.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { addBookings } from './bookings.ts'
import { expandedBound, listBound, patientListBound, uncountedBound, WRITE_UNITS } from './bounds.ts'
import { type BuiltClinic, buildAppointments } from './build-appointments.ts'
import type { MeteredTable } from './meter.ts'
import { newPatient } from './records.ts'

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
  await addRoom(metered, clinic, built, count)
  await addBookings(unmeasured, metered, clinic)
  await addExpanded(unmeasured, metered, clinic, count)
}

/** Measures a filter that no tally counts, in as many days as it may read. */
async function addRoom(
  { table, add }: MeteredTable,
  clinic: ClinicId,
  { firstDay, lastDay }: BuiltClinic,
  count: number,
): Promise<void> {
  const list = appointmentStore({ table })
  const daysOfClinic = (Date.parse(lastDay) - Date.parse(firstDay)) / 86_400_000
  const days = Math.min(31, Math.floor((0.95 * MAX_UNCOUNTED_ROWS * daysOfClinic) / count))
  const range = { from: '2026-05-01', to: addDays('2026-05-01', days - 1) }
  const { total: rows } = await list.page(clinic, range, { page: 1, limit: 1 })
  const label = `a room, ${days} days with ${rows.toLocaleString('en')} rows, first page, limit 20`
  await add(label, uncountedBound(rows), () =>
    list.page(clinic, { ...range, room: newUuid() }, { page: 1, limit: 20 }),
  )
}

/** Measures a page with the patients of its records, who are created for it. */
async function addExpanded(
  unmeasured: Table,
  { table, add }: MeteredTable,
  clinic: ClinicId,
  count: number,
): Promise<void> {
  const [list, patients] = [appointmentStore({ table }), patientStore({ table })]
  const patientsOf = async (limit: number) => {
    const { items } = await list.page(clinic, { order: 'asc' }, { page: 1, limit })
    return [...new Set(items.map(({ patient }) => patient.id))]
  }
  const created = (await patientsOf(100)).map((id) => newPatient({ id }))
  for (const chunk of chunked(created, MAX_CREATED))
    await patientWriter({ table: unmeasured }).createMany(clinic, chunk)
  for (const limit of [20, 100])
    await add(
      `oldest first with patients, first page, limit ${limit}`,
      expandedBound(count, limit),
      async () => patients.findMany(clinic, await patientsOf(limit)),
    )
}

const filtersOf = ({ doctors, patients, firstDay, lastDay }: BuiltClinic): [string, Filter][] => [
  ['all', {}],
  ['status', { facets: ['completed'] }],
  ['rare status', { facets: ['scheduled'] }],
  ['two statuses', { facets: ['completed', 'scheduled'] }],
  ['oldest first', { order: 'asc' }],
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
