import * as z from 'zod'
import { oneOf, TimeOfDay } from '../../../../shared/api/schemas.ts'
import { absenceOn } from '../../../../shared/domain/booking/absence.ts'
import {
  APPOINTMENT_STATUSES,
  type Appointment,
  type CatalogueReference,
  NEW_APPOINTMENT,
} from '../../../../shared/domain/booking/appointment.ts'
import { isUpcoming } from '../../../../shared/domain/booking/appointment-actions.ts'
import { outdatedFields } from '../../../../shared/domain/booking/change-appointment.ts'
import type { Doctor } from '../../../../shared/domain/booking/doctor.ts'
import { isWorking } from '../../../../shared/domain/booking/slots.ts'
import type { ClinicId, ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { wallClock } from '../../../../shared/domain/clock.ts'
import { parseTime } from '../../../../shared/domain/interval.ts'
import { fullName } from '../../../../shared/domain/patients/patient.ts'
import { multiLineText } from '../../../../shared/domain/patients/text-fields.ts'
import { APPOINTMENTS, appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { roomStore, treatmentStore } from '../../../../shared/store/catalogue.ts'
import { doctorStore, readHolidays } from '../../../../shared/store/doctors.ts'
import { doctorKey } from '../../../../shared/store/keys/clinics.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ColumnValues, RowSource } from '../external-ids/overwrite-check.ts'
import { RecordRef, RecordRefs, unknownReference } from '../external-ids/resolve-references.ts'
import { RowRejectedError } from '../files/import-errors.ts'
import type { Warning } from '../files/warnings.ts'
import { inRounds, isAhead, requireFreeTime } from './appointment-overlaps.ts'
import { definedFields, type ImportEntity, type ImportRow, type RowFields } from './entity.ts'
import { type BuildRecord, writePatientRows } from './patient-rows.ts'
import { Instant, RowRecordDate } from './row-fields.ts'

type Fields = RowFields<
  Omit<Appointment, 'id' | 'patient' | 'doctor' | 'room' | 'treatments' | 'externalId'>
> &
  Pick<Appointment, 'date' | 'startTime' | 'endTime'> & {
    readonly patient: string
    readonly doctorId: string
    readonly roomId: string | null | undefined
    readonly treatmentIds: readonly string[] | undefined
  }

const columns = {
  patient_external_id: RecordRef,
  doctor_external_id: RecordRef,
  appointment_date: RowRecordDate,
  start_time: TimeOfDay,
  end_time: TimeOfDay,
  status: oneOf(APPOINTMENT_STATUSES).nullish(),
  room_external_id: RecordRef.nullish(),
  treatment_external_ids: RecordRefs.nullish(),
  notes: multiLineText(2000).nullish(),
  confirmed_at: Instant.nullish(),
  checked_in_at: Instant.nullish(),
  cancelled_at: Instant.nullish(),
  cancellation_reason: multiLineText(500).nullish(),
  created_at: Instant.nullish(),
}

export function appointmentImport(table: Table, now: () => number): ImportEntity<Fields> {
  const list = appointmentStore({ table })
  return {
    name: 'appointments',
    idKind: 'appointment',
    columns: Object.keys(columns),
    required: ['patient_external_id', 'doctor_external_id', 'appointment_date', 'start_time', 'end_time'],
    schema: (_clinic, _now, idOf) =>
      z
        .strictObject(columns)
        .refine((row) => !hasValidTimes(row) || row.start_time < row.end_time, {
          path: ['end_time'],
          error: 'must be after start_time, on the same day',
        })
        .transform(
          (row): Fields => ({
            patient: idOf('patient', row.patient_external_id),
            doctorId: idOf('doctor', row.doctor_external_id),
            date: row.appointment_date,
            startTime: row.start_time,
            endTime: row.end_time,
            status: row.status ?? undefined,
            notes: row.notes,
            roomId: row.room_external_id && idOf('room', row.room_external_id),
            treatmentIds:
              row.treatment_external_ids === null
                ? []
                : row.treatment_external_ids?.map((ref) => idOf('treatment', ref)),
            confirmedAt: row.confirmed_at,
            checkedInAt: row.checked_in_at,
            cancelledAt: row.cancelled_at,
            cancellationReason: row.cancellation_reason,
            createdAt: row.created_at ?? undefined,
          }),
        ),
    write: async (run, batch) => {
      const { clinic } = run
      const target = { table, entityCode: APPOINTMENTS.entityCode, list, valuesOf: appointmentValues }
      const checkedDay = ({ fields: { status = 'scheduled', ...fields } }: ImportRow<Fields>) =>
        !run.allowOverlaps && isAhead({ ...fields, status }, clinic, now())
          ? `${fields.doctorId} ${fields.date}`
          : null

      async function prepare(rows: readonly ImportRow<Fields>[]): Promise<BuildRecord<Appointment, Fields>> {
        const known = await readReferences(table, clinic.id, rows)
        return async (row, patient, before, changes) => {
          const { patient: _, doctorId, roomId, treatmentIds, ...facts } = row.fields
          const doctor = requireReference(known.doctors, doctorId, row, 'doctor')
          changes.requireVersion(doctorKey(clinic.id, doctorId), doctor.version)
          const given = definedFields(facts) as Pick<Appointment, 'date' | 'startTime' | 'endTime'>
          const after = {
            ...NEW_APPOINTMENT,
            createdAt: new Date(now()).toISOString(),
            ...before,
            ...(before && outdatedFields(before, { ...before, ...given })),
            ...given,
            ...(roomId !== undefined && { room: roomId && roomOf(known.rooms, roomId, row, before) }),
            ...(treatmentIds && { treatments: treatmentsOf(known.treatments, treatmentIds, row, before) }),
            id: row.id,
            externalId: before ? before.externalId : (row.externalId ?? null),
            patient: { id: patient.id, fullName: fullName(patient) },
            doctor: { id: doctorId, fullName: doctor.fullName },
          } as Appointment
          if (!run.allowOverlaps && isAhead(after, clinic, now()))
            await requireFreeTime(table, changes, before, after)
          const working = { ...doctor, holidays: known.holidays }
          run.outcomes.warned(row.id, outsideWarning(working, after, clinic, now(), row))
          return after
        }
      }

      for (const rows of inRounds(batch, checkedDay)) await writePatientRows(target, run, rows, prepare)
    },
  }
}

const hasValidTimes = (row: { start_time: string; end_time: string }): boolean =>
  TimeOfDay.safeParse(row.start_time).success && TimeOfDay.safeParse(row.end_time).success

/** The records other than patients that rows refer to, by id. */
async function readReferences(table: Table, clinic: ClinicId, rows: readonly ImportRow<Fields>[]) {
  const idsOf = (of: (fields: Fields) => readonly string[]) => [
    ...new Set(rows.flatMap(({ fields }) => of(fields))),
  ]
  const [{ holidays }, knownDoctors, knownRooms, knownTreatments] = await Promise.all([
    // The copies of doctors are refreshed after holidays were imported, and not at all in a trial.
    readHolidays(table, clinic),
    doctorStore({ table }).findMany(
      clinic,
      idsOf(({ doctorId }) => [doctorId]),
    ),
    roomStore({ table }).findMany(
      clinic,
      idsOf(({ roomId }) => (roomId ? [roomId] : [])),
    ),
    treatmentStore({ table }).findMany(
      clinic,
      idsOf(({ treatmentIds = [] }) => treatmentIds),
    ),
  ])
  return { doctors: knownDoctors, rooms: knownRooms, treatments: knownTreatments, holidays }
}

/** @throws RowRejectedError for an unknown record */
function requireReference<R>(
  known: ReadonlyMap<string, R>,
  id: string,
  row: RowSource,
  kind: 'doctor' | 'room' | 'treatment',
): R {
  const found = known.get(id)
  const column = kind === 'treatment' ? 'treatment_external_ids' : `${kind}_external_id`
  if (!found) throw new RowRejectedError(unknownReference(row.columnOf(column), kind))
  return found
}

/** A room as it was called when the appointment was booked, if it is the same as before. */
const roomOf = (
  rooms: ReadonlyMap<string, CatalogueReference>,
  id: string,
  row: RowSource,
  before: Appointment | null,
): CatalogueReference => {
  if (before?.room?.id === id) return before.room
  const { name } = requireReference(rooms, id, row, 'room')
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
      before?.treatments.find((one) => one.id === id) ?? requireReference(known, id, row, 'treatment')
    return { id, name }
  })

export const appointmentValues = (appointment: Appointment): ColumnValues => ({
  patient_external_id: appointment.patient.id,
  doctor_external_id: appointment.doctor.id,
  appointment_date: appointment.date,
  start_time: appointment.startTime,
  end_time: appointment.endTime,
  status: appointment.status,
  room_external_id: appointment.room?.id ?? null,
  treatment_external_ids: appointment.treatments.map(({ id }) => id),
  notes: appointment.notes,
  confirmed_at: appointment.confirmedAt,
  checked_in_at: appointment.checkedInAt,
  cancelled_at: appointment.cancelledAt,
  cancellation_reason: appointment.cancellationReason,
  created_at: appointment.createdAt,
})

/** The warning about a scheduled appointment to come at which its doctor does not work; null for others. */
function outsideWarning(
  doctor: Doctor,
  appointment: Pick<Appointment, 'date' | 'startTime' | 'endTime' | 'status'>,
  { timezone }: Pick<ClinicInfo, 'timezone'>,
  now: number,
  { columnOf }: Pick<RowSource, 'columnOf'>,
): Warning | null {
  if (!isUpcoming(appointment, wallClock(now, timezone))) return null
  const { date, startTime, endTime } = appointment
  const interval = { from: parseTime(startTime), to: parseTime(endTime) }
  if (isWorking({ doctor, date, timezone }, interval)) return null
  return { kind: 'outside_hours', text: textOf(doctor, date, columnOf('doctor_external_id')) }
}

function textOf(doctor: Doctor, date: string, doctorColumn: string): string {
  const absence = absenceOn(doctor, date)?.kind
  if (absence === 'inactive') return `${doctorColumn} is an inactive doctor`
  if (absence === 'holiday') return 'appointment_date is a holiday of the clinic'
  if (absence === 'time_off') return "appointment_date is in the doctor's time off"
  return hasHours(doctor)
    ? "start_time or end_time is outside the doctor's working hours"
    : `${doctorColumn} is a doctor without working hours`
}

const hasHours = ({ hours, exceptions }: Doctor): boolean =>
  Object.keys(hours).length + Object.keys(exceptions).length > 0
