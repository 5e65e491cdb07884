import { oneOf, TimeOfDay } from '../../api/schemas.ts'
import { absenceOn } from '../../domain/booking/absence.ts'
import {
  APPOINTMENT_STATUSES,
  type Appointment,
  type CatalogueReference,
  NEW_APPOINTMENT,
} from '../../domain/booking/appointment.ts'
import { isUpcoming, possibleFrom } from '../../domain/booking/appointment-actions.ts'
import { outdatedFields } from '../../domain/booking/change-appointment.ts'
import type { Doctor } from '../../domain/booking/doctor.ts'
import { isWorking } from '../../domain/booking/slots.ts'
import type { ClinicId, ClinicInfo } from '../../domain/clinic.ts'
import { clockGaps, timesShown, wallClock } from '../../domain/clock.ts'
import { overlaps, parseTime } from '../../domain/interval.ts'
import { fullName } from '../../domain/patients/patient.ts'
import { cancellationReason, notes } from '../../domain/patients/text-fields.ts'
import { APPOINTMENTS, appointmentStore } from '../../store/calendar/appointments.ts'
import { roomStore, treatmentStore } from '../../store/catalogue.ts'
import { doctorStore, readHolidays } from '../../store/doctors.ts'
import { doctorKey } from '../../store/keys/clinics.ts'
import type { Table } from '../../store/table/table.ts'
import type { RowSource } from '../external-ids/overwrite-check.ts'
import { findReferenced, requireKnown } from '../external-ids/resolve-references.ts'
import { type RowIssue, RowRejectedError } from '../outcomes/row-rejected.ts'
import type { Warning } from '../outcomes/warnings.ts'
import { inRounds, isAhead, requireFreeTime } from './appointment-overlaps.ts'
import {
  columnTable,
  defaulted,
  nullable,
  nullableReference,
  reference,
  references,
  required,
} from './columns.ts'
import { definedFields, type ImportEntity, type ImportRow, type RowFields } from './entity.ts'
import { type BuildRecord, writePatientRows } from './patient-rows.ts'
import { Instant, RowRecordDate } from './row-fields.ts'

type Fields = RowFields<
  Omit<Appointment, 'id' | 'patient' | 'doctor' | 'room' | 'treatments' | 'externalId'>
> &
  Pick<Appointment, 'date' | 'startTime' | 'endTime'> & {
    readonly patient: string
    readonly doctor: string
    readonly room: string | null | undefined
    readonly treatments: readonly string[] | undefined
  }

const columns = columnTable(
  {
    patient_external_id: reference('patient', 'patient'),
    doctor_external_id: reference('doctor', 'doctor'),
    appointment_date: required('date', RowRecordDate),
    start_time: required('startTime', TimeOfDay),
    end_time: required('endTime', TimeOfDay),
    status: defaulted('status', oneOf(APPOINTMENT_STATUSES)),
    room_external_id: nullableReference('room', 'room'),
    treatment_external_ids: references('treatments', 'treatment'),
    notes: nullable('notes', notes()),
    confirmed_at: nullable('confirmedAt', Instant),
    checked_in_at: nullable('checkedInAt', Instant),
    cancelled_at: nullable('cancelledAt', Instant),
    cancellation_reason: nullable('cancellationReason', cancellationReason()),
    created_at: defaulted('createdAt', Instant),
  },
  (row) =>
    row.refine((cells) => !hasValidTimes(cells) || cells.start_time < cells.end_time, {
      path: ['end_time'],
      error: 'must be after start_time, on the same day',
    }),
)

export const { cells: appointmentCells, valuesOf: appointmentValues } = columns

export function appointmentImport(table: Table, now: () => number): ImportEntity<Fields> {
  const list = appointmentStore({ table })
  return {
    name: 'appointments',
    idKind: 'appointment',
    ...columns,
    write: async (run, batch) => {
      const { clinic } = run
      const ids = batch.map(({ id }) => id)
      const stored = await list.findMany(clinic.id, ids)
      const target = { table, entityCode: APPOINTMENTS.entityCode, list, valuesOf: appointmentValues, stored }
      /** Days whose time a row needs, and those that its appointment leaves. */
      const checkedDays = ({ id, fields }: ImportRow<Fields>): readonly string[] => {
        const before = stored.get(id)?.record
        const { doctor, date, status = 'scheduled', room = before?.room?.id } = fields
        if (run.allowOverlaps || !isAhead({ ...fields, status }, clinic, now())) return []
        return [
          ...daysOf(date, doctor, room),
          ...(before ? daysOf(before.date, before.doctor.id, before.room?.id) : []),
        ]
      }

      async function prepare(rows: readonly ImportRow<Fields>[]): Promise<BuildRecord<Appointment, Fields>> {
        const known = await readReferences(table, clinic.id, rows)
        return async (row, patient, before, changes) => {
          const { patient: _, doctor: doctorId, room, treatments, ...facts } = row.fields
          const doctor = requireKnown(
            known.doctors.get(doctorId),
            row.columnOf('doctor_external_id'),
            'doctor',
          )
          changes.requireVersion(doctorKey(clinic.id, doctorId), doctor.version)
          const given = definedFields(facts) as Pick<Appointment, 'date' | 'startTime' | 'endTime'>
          const after = {
            ...NEW_APPOINTMENT,
            createdAt: new Date(now()).toISOString(),
            ...before,
            ...(before && outdatedFields(before, { ...before, ...given })),
            ...given,
            ...(room !== undefined && { room: room && roomOf(known.rooms, room, row, before) }),
            ...(treatments && { treatments: treatmentsOf(known.treatments, treatments, row, before) }),
            id: row.id,
            externalId: before ? before.externalId : (row.externalId ?? null),
            patient: { id: patient.id, fullName: fullName(patient) },
            doctor: { id: doctorId, fullName: doctor.fullName },
          } as Appointment
          if (!run.allowOverlaps && isAhead(after, clinic, now()))
            await requireFreeTime(table, changes, before, after)
          requireDue(after, clinic, now())
          const working = { ...doctor, holidays: known.holidays }
          const isAbsent = !patient.isActive && isUpcoming(after, wallClock(now(), clinic.timezone))
          run.outcomes.warned(
            row.id,
            outsideWarning(working, after, clinic, now(), row),
            repeatedTime(after, clinic),
            isAbsent
              ? { kind: 'value', field: row.columnOf('patient_external_id'), issue: 'is an inactive patient' }
              : null,
          )
          return after
        }
      }

      for (const rows of inRounds(batch, checkedDays)) await writePatientRows(target, run, rows, prepare)
    },
  }
}

const daysOf = (date: string, doctor: string, room: string | null | undefined): string[] =>
  [doctor, room].flatMap((whose) => (whose ? [`${whose} ${date}`] : []))

const OUTCOMES = { completed: 'complete', no_show: 'no_show', scheduled: null, cancelled: null } as const

/** Outcomes are history. @throws RowRejectedError for one of an appointment that is still to come */
function requireDue(appointment: Appointment, { timezone }: ClinicInfo, now: number): void {
  const kind = OUTCOMES[appointment.status]
  const from = kind ? possibleFrom(appointment, { kind }, timezone) : null
  if (from !== null && new Date(now).toISOString() < from)
    throw new RowRejectedError(
      { field: 'status', issue: 'appointment_not_due' },
      `status cannot be ${appointment.status}: the appointment is still to come`,
    )
}

const hasValidTimes = (row: { start_time: string; end_time: string }): boolean =>
  TimeOfDay.safeParse(row.start_time).success && TimeOfDay.safeParse(row.end_time).success

/** The records other than patients that rows refer to, by id. */
async function readReferences(table: Table, clinic: ClinicId, rows: readonly ImportRow<Fields>[]) {
  const [{ holidays }, doctors, rooms, treatments] = await Promise.all([
    // Copies of doctors may be older.
    readHolidays(table, clinic),
    findReferenced(doctorStore({ table }), clinic, rows, ({ doctor }) => [doctor]),
    findReferenced(roomStore({ table }), clinic, rows, ({ room }) => [room]),
    findReferenced(treatmentStore({ table }), clinic, rows, ({ treatments = [] }) => treatments),
  ])
  return { doctors, rooms, treatments, holidays }
}

/** A room as it was called when the appointment was booked, if it is the same as before. */
const roomOf = (
  rooms: ReadonlyMap<string, CatalogueReference>,
  id: string,
  row: RowSource,
  before: Appointment | null,
): CatalogueReference => {
  if (before?.room?.id === id) return before.room
  const { name } = requireKnown(rooms.get(id), row.columnOf('room_external_id'), 'room')
  return { id, name }
}

const treatmentsOf = (
  known: ReadonlyMap<string, CatalogueReference>,
  ids: readonly string[],
  row: RowSource,
  before: Appointment | null,
): CatalogueReference[] =>
  ids.map((id) => {
    const { name } =
      before?.treatments.find((one) => one.id === id) ??
      requireKnown(known.get(id), row.columnOf('treatment_external_ids'), 'treatment')
    return { id, name }
  })

/** The warning about a time that clocks skip, or about a scheduled appointment to come at which its doctor does not work; null for others. */
function outsideWarning(
  doctor: Doctor,
  appointment: Pick<Appointment, 'date' | 'startTime' | 'endTime' | 'status'>,
  { timezone }: Pick<ClinicInfo, 'timezone'>,
  now: number,
  { columnOf }: Pick<RowSource, 'columnOf'>,
): Warning | null {
  const { date, startTime, endTime } = appointment
  const interval = { from: parseTime(startTime), to: parseTime(endTime) }
  const gaps = clockGaps(date, timezone)
  if (gaps.some((gap) => overlaps(gap, interval)))
    return {
      kind: 'value',
      field: 'start_time',
      issue: 'or end_time does not exist on that day: the clocks skip it',
    }
  if (!isUpcoming(appointment, wallClock(now, timezone))) return null
  if (isWorking({ doctor, date, timezone, gaps }, interval)) return null
  return { kind: 'outside_hours', ...absenceIssue(doctor, date, columnOf('doctor_external_id')) }
}

/** The warning about a time that occurs twice; null for others. */
function repeatedTime({ date, ...times }: Appointment, { timezone }: ClinicInfo): Warning | null {
  const fields = { start_time: times.startTime, end_time: times.endTime }
  const [field] = Object.entries(fields).find(([, time]) => timesShown(date, timezone, time) > 1) ?? []
  if (field === undefined) return null
  return { kind: 'value', field, issue: `occurs twice on this day in ${timezone}; the first is taken` }
}

function absenceIssue(doctor: Doctor, date: string, doctorColumn: string): RowIssue {
  const absence = absenceOn(doctor, date)?.kind
  if (absence === 'inactive') return { field: doctorColumn, issue: 'is an inactive doctor' }
  if (absence === 'holiday') return { field: 'appointment_date', issue: 'is a holiday of the clinic' }
  if (absence === 'time_off') return { field: 'appointment_date', issue: "is in the doctor's time off" }
  return hasHours(doctor)
    ? { field: 'start_time', issue: "or end_time is outside the doctor's working hours" }
    : { field: doctorColumn, issue: 'is a doctor without working hours' }
}

const hasHours = ({ hours, exceptions }: Doctor): boolean =>
  Object.keys(hours).length + Object.keys(exceptions).length > 0
