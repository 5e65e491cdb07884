/** Records that the bench measures with. */
import { type Appointment, NEW_APPOINTMENT } from '../../shared/domain/booking/appointment.ts'
import { type Doctor, NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { formatTime } from '../../shared/domain/interval.ts'
import { fullName, type Patient } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { doctorStore, MAX_SAVED } from '../../shared/store/doctors.ts'
import { MAX_CREATED, patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { chunked } from '../../shared/store/table/chunked.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { issueCredential } from '../../test/support/credentials.ts'
import { createRecord } from '../../test/support/records.ts'
import { aPatient, newClinic } from '../../test/support/table.ts'

export const TODAY = new Date().toISOString().slice(0, 10)
export const TOMORROW = addDays(TODAY, 1)

/** Issues a credential with all scopes, which may send any number of requests. */
export const issueBenchCredential = (table: Table, clinic: Clinic) =>
  issueCredential(table, clinic, undefined, null, 1_000_000)

export async function createDoctors(
  table: Table,
  { id }: Clinic,
  count: number,
  hours: string,
): Promise<[Doctor, ...Doctor[]]> {
  const doctors = Array.from({ length: count }, (_, at) => ({
    ...NEW_DOCTOR,
    id: newUuid(),
    fullName: `Dr. Selin Arslan ${at}`,
    hours: parseWeeklyHours(hours),
  }))
  const changes = doctors.map((after) => ({ before: null, after }))
  for (const chunk of chunked(changes, MAX_SAVED)) await doctorStore({ table }).save(id, chunk)
  return doctors as [Doctor, ...Doctor[]]
}

/** Creates an appointment of a patient with each of the doctors, at the same time. */
export async function createAppointments(
  table: Table,
  clinic: Clinic,
  patient: Patient,
  doctors: readonly Doctor[],
  times: Pick<Appointment, 'date' | 'startTime' | 'endTime'>,
): Promise<void> {
  const { id, createdAt } = patient
  const facts = { ...NEW_APPOINTMENT, ...times, createdAt, patient: { id, fullName: fullName(patient) } }
  for (const { id, fullName } of doctors) {
    const appointment = { ...facts, id: newUuid(), doctor: { id, fullName } }
    await createRecord(table, clinic, appointmentStore({ table }), appointment)
  }
}

/** Creates a clinic with doctors who work all day, a few patients, and a credential. */
export async function openClinic(table: Table, count: number, facts: Partial<Clinic>) {
  const clinic = await newClinic(table, facts)
  const doctors = await createDoctors(table, clinic, count, 'mon-sun 00:00-23:59')
  const patients = Array.from({ length: MAX_CREATED }, () => aPatient())
  await patientWriter({ table }).createMany(clinic.id, patients)
  return { clinic, credential: await issueBenchCredential(table, clinic), doctors, patients }
}

export type OpenClinic = Awaited<ReturnType<typeof openClinic>>

const MINUTES = 15
const SLOTS_PER_DAY = 90

/** A clinic with twelve doctors, for {@link bookingBody}. */
export const openBusyClinic = (table: Table): Promise<OpenClinic> =>
  openClinic(table, 12, { timezone: 'UTC', appointmentMinutes: MINUTES })

/** The body of a booking: the free times of all doctors one after the other, from tomorrow on. */
export function bookingBody({ patients, doctors }: OpenClinic, index: number) {
  const slot = Math.floor(index / doctors.length)
  return {
    patient_id: patients[index % patients.length]?.id,
    doctor_id: doctors[index % doctors.length]?.id,
    appointment_date: addDays(TOMORROW, Math.floor(slot / SLOTS_PER_DAY)),
    start_time: formatTime((slot % SLOTS_PER_DAY) * MINUTES),
  }
}
