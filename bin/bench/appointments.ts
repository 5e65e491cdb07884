import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb'
import type { Appointment, AppointmentStatus } from '../../shared/domain/appointment.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { NO_DETAILS, type Patient } from '../../shared/domain/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { parseWeeklyHours } from '../../shared/domain/working-hours.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { bookingStore } from '../../shared/store/calendar/booking.ts'
import type { CalendarFilter } from '../../shared/store/calendar/calendar-filter.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { calendarListPartition, calendarPartition } from '../../shared/store/keys/calendar.ts'
import { patientHeadKey } from '../../shared/store/keys/patients.ts'
import { EMPTY_HEAD } from '../../shared/store/patients/head.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { idempotencyGuard } from '../../shared/store/table/idempotency.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { NEW_DOCTOR } from '../clinic/import/doctors.ts'
import { type Bound, listBound, patientListBound, WRITE_UNITS } from './bounds.ts'
import { type BuiltClinic, buildAppointments } from './build-appointments.ts'
import { meter } from './meter.ts'
import type { Measurement } from './patients.ts'

type Filter = CalendarFilter<AppointmentStatus>

/** Measures every list of a clinic's appointments and the write of one, next to a naive implementation. */
export async function measureAppointments(
  buildClient: DynamoDBDocumentClient,
  client: DynamoDBDocumentClient,
  tableName: string,
  clinic: ClinicId,
  count: number,
): Promise<Measurement[]> {
  const built = await buildAppointments(buildClient, tableName, clinic, count)
  const measure = meter(client)
  const table = openTable(client, tableName)
  const list = appointmentStore({ table })
  const lines: Measurement[] = []
  const add = async (label: string, bound: Bound | null, work: () => Promise<unknown>) => {
    lines.push({ label, bound, ...(await measure(work)) })
  }
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
  await addWrites(add, table, clinic, built)
  await addBooking(add, openTable(buildClient, tableName), table, clinic)
  await add('the obvious way: Query everything, filter and page in memory', null, () =>
    queryAll(client, tableName, calendarPartition(clinic, 'A')),
  )
  await add('an index with COUNT, and a page of it', null, async () => {
    await queryAll(client, tableName, calendarListPartition(clinic, 'A', null), 'COUNT')
    await table.query({ pk: calendarListPartition(clinic, 'A', null), limit: 20 })
  })
  return lines
}

const filtersOf = ({ doctors, patients, firstDay, lastDay }: BuiltClinic): [string, Filter][] => [
  ['all', {}],
  ['status', { facet: 'completed' }],
  ['rare status', { facet: 'scheduled' }],
  ['doctor', { doctor: doctors[0] }],
  ['doctor and status', { doctor: doctors[0], facet: 'completed' }],
  ['a month', { from: '2026-05-01', to: '2026-05-31' }],
  ['from mid-month to mid-month', { from: `${firstDay.slice(0, 8)}15`, to: `${lastDay.slice(0, 8)}14` }],
  ['patient', { patient: patients[0] }],
]

async function addWrites(
  add: (label: string, bound: Bound, work: () => Promise<unknown>) => Promise<void>,
  table: ReturnType<typeof openTable>,
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

/** A booking with an idempotency key: the appointment, its rows and tallies, the guard, the stored response. */
async function addBooking(
  add: (label: string, bound: Bound, work: () => Promise<unknown>) => Promise<void>,
  unmeasured: ReturnType<typeof openTable>,
  table: ReturnType<typeof openTable>,
  clinic: ClinicId,
): Promise<void> {
  const patient: Patient = {
    id: newUuid(),
    firstName: 'Ada',
    lastName: 'Kaya',
    ...NO_DETAILS,
    createdAt: '2026-01-01T00:00:00.000Z',
  }
  const doctor = {
    ...NEW_DOCTOR,
    id: newUuid(),
    fullName: 'Dr. Bo',
    hours: parseWeeklyHours('mon-sun 09:00-17:00'),
  }
  await unmeasured.transact([unmeasured.putWrite({ ...patientHeadKey(clinic), ...EMPTY_HEAD })])
  await patientWriter({ table: unmeasured }).createMany(clinic, [patient])
  await doctorStore({ table: unmeasured }).save(clinic, [{ before: null, after: doctor }])
  const date = '2026-05-04'
  const appointment: Appointment = {
    id: newUuid(),
    patient: { id: patient.id, fullName: 'Ada Kaya' },
    doctor: { id: doctor.id, fullName: doctor.fullName },
    date,
    startTime: '09:00',
    endTime: '09:30',
    status: 'scheduled',
    notes: null,
    createdAt: '2026-01-01T00:00:00.000Z',
  }
  const request = { clinic, credential: 'ck_bench', route: 'create-appointment', key: 'key', body: '{}' }
  const booking = bookingStore({ table })
  await add('availability', { units: 10, roundTrips: 2 }, () =>
    Promise.all([
      booking.findDoctor(clinic, doctor.id),
      booking.findDay(clinic, doctor.id, date),
      booking.defaultDuration(clinic),
    ]),
  )
  await add(
    'book, with an idempotency key (read and write units)',
    { units: WRITE_UNITS.appointment + 4, roundTrips: 2 },
    () =>
      booking.book(
        clinic,
        {
          id: appointment.id,
          patient: patient.id,
          doctor: doctor.id,
          date,
          startTime: appointment.startTime,
          minutes: 30,
          notes: null,
          timezone: 'UTC',
          clock: { date: '2026-01-01', seconds: 0 },
          createdAt: appointment.createdAt,
        },
        () => ({ kind: 'booked', appointment }),
        idempotencyGuard({ table, now: Date.now }, request),
        () => ({ status: 201, body: { data: appointment } }),
      ),
  )
}

async function queryAll(
  client: DynamoDBDocumentClient,
  tableName: string,
  pk: string,
  select?: 'COUNT',
): Promise<void> {
  let start: Record<string, unknown> | undefined
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: tableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ConsistentRead: true,
        ExclusiveStartKey: start,
        Limit: 10_000,
        ...(select && { Select: select }),
      }),
    )
    start = page.LastEvaluatedKey
  } while (start)
}
