/** Records that the bench measures with. */
import { type Appointment, NEW_APPOINTMENT } from '../../shared/domain/booking/appointment.ts'
import type { Doctor } from '../../shared/domain/booking/doctor.ts'
import { NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { DEFAULT_CELL } from '../../shared/domain/credential.ts'
import { formatTime } from '../../shared/domain/interval.ts'
import { fullName, NO_DETAILS, type Patient } from '../../shared/domain/patients/patient.ts'
import { SCOPES } from '../../shared/domain/scope.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { doctorStore, MAX_SAVED } from '../../shared/store/doctors.ts'
import { MAX_CREATED, patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { chunked } from '../../shared/store/table/chunked.ts'
import type { Table } from '../../shared/store/table/table.ts'

export const createdAt = '2026-01-01T00:00:00.000Z'

export async function createClinic(table: Table, facts: Partial<Clinic> = {}): Promise<ClinicId> {
  const id = newUuid() as ClinicId
  const settings = { timezone: 'Europe/Istanbul', currency: 'TRY', appointmentMinutes: 30 }
  await clinicStore({ table }).create({ id, name: 'Bench', ...settings, createdAt, ...facts })
  return id
}

/** Issues a credential with all scopes. */
export async function issueCredential(table: Table, clinic: ClinicId) {
  const { key, secret } = await credentialStore({ table, now: Date.now }).issue({
    name: 'bench',
    clinic,
    cell: DEFAULT_CELL,
    scopes: SCOPES,
    expiresAt: null,
    requestsPerMinute: 1_000_000,
  })
  return { key, secret, authorization: `Developer ${key}:${secret}` }
}

export const newPatient = (facts: Partial<Patient> = {}): Patient => ({
  id: newUuid(),
  firstName: 'Ada',
  lastName: 'Kaya',
  ...NO_DETAILS,
  createdAt,
  ...facts,
})

export const referenceTo = (patient: Patient) => ({ id: patient.id, fullName: fullName(patient) })

export async function createDoctors(
  table: Table,
  clinic: ClinicId,
  count: number,
  hours: Doctor['hours'],
): Promise<[Doctor, ...Doctor[]]> {
  const doctors = Array.from({ length: count }, (_, at) => ({
    ...NEW_DOCTOR,
    id: newUuid(),
    fullName: `Dr. Selin Arslan ${at}`,
    hours,
  }))
  const changes = doctors.map((after) => ({ before: null, after }))
  for (const chunk of chunked(changes, MAX_SAVED)) await doctorStore({ table }).save(clinic, chunk)
  return doctors as [Doctor, ...Doctor[]]
}

/** Creates a clinic with doctors who work all day, a few patients, and a credential. */
export async function openClinic(table: Table, count: number, facts: Partial<Clinic>) {
  const id = await createClinic(table, facts)
  const doctors = await createDoctors(table, id, count, parseWeeklyHours('mon-sun 00:00-23:59'))
  const patients = Array.from({ length: MAX_CREATED }, (_, at) =>
    newPatient({ phoneNumber: '+905321234567', emailAddress: `patient${at}@example.com` }),
  )
  await patientWriter({ table }).createMany(id, patients)
  return { id, ...(await issueCredential(table, id)), doctors, patients }
}

export type OpenClinic = Awaited<ReturnType<typeof openClinic>>

export const newAppointment = (
  patient: Patient,
  { id, fullName }: Doctor,
  facts: Partial<Appointment> & Pick<Appointment, 'date' | 'startTime' | 'endTime'>,
): Appointment => ({
  ...NEW_APPOINTMENT,
  id: newUuid(),
  createdAt,
  patient: referenceTo(patient),
  doctor: { id, fullName },
  ...facts,
})

const MINUTES = 15
const SLOTS_PER_DAY = 90

/** A clinic with twelve doctors, for {@link bookingBody}. */
export const openBusyClinic = (table: Table): Promise<OpenClinic> =>
  openClinic(table, 12, { timezone: 'UTC', appointmentMinutes: MINUTES })

/** The body of a booking: the free times of all doctors one after the other, from tomorrow on. */
export function bookingBody({ patients, doctors }: OpenClinic, index: number) {
  const slot = Math.floor(index / doctors.length)
  const tomorrow = addDays(new Date().toISOString().slice(0, 10), 1)
  return {
    patient_id: patients[index % patients.length]?.id,
    doctor_id: doctors[index % doctors.length]?.id,
    appointment_date: addDays(tomorrow, Math.floor(slot / SLOTS_PER_DAY)),
    start_time: formatTime((slot % SLOTS_PER_DAY) * MINUTES),
  }
}
