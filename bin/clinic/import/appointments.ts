import * as z from 'zod'
import { oneOf, TimeOfDay } from '../../../shared/api/schemas.ts'
import {
  APPOINTMENT_STATUSES,
  type Appointment,
  NEW_APPOINTMENT,
} from '../../../shared/domain/appointment.ts'
import { outdatedFields } from '../../../shared/domain/change-appointment.ts'
import { fullName } from '../../../shared/domain/patient.ts'
import { multiLineText } from '../../../shared/domain/text-fields.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { doctorStore, type StoredDoctor } from '../../../shared/store/doctors.ts'
import { doctorKey } from '../../../shared/store/keys/clinics.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { definedFields, type ImportEntity, type RowFields } from './entity.ts'
import { RowRejectedError, writePatientRows } from './patient-rows.ts'
import { ExternalRef, unknownReference } from './references.ts'
import { Instant, RowRecordDate } from './timestamps.ts'

type Fields = RowFields<Omit<Appointment, 'id' | 'patient' | 'doctor'>> & {
  patient: string
  doctorId: string
}

const columns = {
  patient_external_id: ExternalRef,
  doctor_external_id: ExternalRef,
  appointment_date: RowRecordDate,
  start_time: TimeOfDay,
  end_time: TimeOfDay,
  status: oneOf(APPOINTMENT_STATUSES).nullish(),
  notes: multiLineText(2000).nullish(),
  confirmed_at: Instant.nullish(),
  checked_in_at: Instant.nullish(),
  cancelled_at: Instant.nullish(),
  cancellation_reason: multiLineText(500).nullish(),
  created_at: Instant.nullish(),
}

/** Imported appointments may overlap, as history does. */
export function appointmentImport(table: Table, now: () => number): ImportEntity<Fields> {
  const list = appointmentStore({ table })
  const doctors = doctorStore({ table })
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
            treatments: undefined,
            room: undefined,
            confirmedAt: row.confirmed_at,
            checkedInAt: row.checked_in_at,
            cancelledAt: row.cancelled_at,
            cancellationReason: row.cancellation_reason,
            createdAt: row.created_at ?? undefined,
          }),
        ),
    write: (clinic, batch, outcomes) =>
      writePatientRows({ table, list, clinic }, batch, outcomes, async (rows) => {
        const known = await doctors.findMany(clinic.id, [
          ...new Set(rows.map(({ fields }) => fields.doctorId)),
        ])
        return ({ id, fields }, patient, before, changes) => {
          const { patient: _, doctorId, ...facts } = fields
          const doctor = requireDoctor(known, doctorId)
          changes.requireVersion(doctorKey(clinic.id, doctorId), doctor.version)
          const given = definedFields(facts) as Pick<Appointment, 'date' | 'startTime' | 'endTime'>
          return {
            ...NEW_APPOINTMENT,
            createdAt: new Date(now()).toISOString(),
            ...before,
            ...(before && outdatedFields(before, { ...before, ...given })),
            ...given,
            id,
            patient: { id: patient.id, fullName: fullName(patient) },
            doctor: { id: doctorId, fullName: doctor.fullName },
          }
        }
      }),
  }
}

const hasValidTimes = (row: { start_time: string; end_time: string }): boolean =>
  TimeOfDay.safeParse(row.start_time).success && TimeOfDay.safeParse(row.end_time).success

/** @throws RowRejectedError for an unknown doctor */
function requireDoctor(doctors: ReadonlyMap<string, StoredDoctor>, id: string): StoredDoctor {
  const doctor = doctors.get(id)
  if (!doctor) throw new RowRejectedError(unknownReference('doctor'))
  return doctor
}
