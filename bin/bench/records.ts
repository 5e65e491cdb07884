/** Records that the sections of the bench are measured with. */
import { type Appointment, NEW_APPOINTMENT } from '../../shared/domain/booking/appointment.ts'
import type { Doctor } from '../../shared/domain/booking/doctor.ts'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { fullName, NO_DETAILS, type Patient } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { requestedWrite } from '../../shared/requests/requested-write.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { doctorStore, MAX_SAVED } from '../../shared/store/doctors.ts'
import { chunked } from '../../shared/store/table/chunked.ts'
import { idempotencyGuard, type RequestedWrite } from '../../shared/store/table/idempotency.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { NEW_DOCTOR } from '../clinic/import/entities/doctors.ts'

export const createdAt = '2026-01-01T00:00:00.000Z'
export const CREDENTIAL = 'ck_bench'

export async function createClinic(table: Table, facts: Partial<Clinic> = {}): Promise<ClinicId> {
  const id = newUuid() as ClinicId
  const settings = { timezone: 'Europe/Istanbul', currency: 'TRY', appointmentMinutes: 30 }
  await clinicStore({ table }).create({ id, name: 'Bench', ...settings, createdAt, ...facts })
  return id
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
  hours: Doctor['hours'] = NEW_DOCTOR.hours,
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

export const newAppointment = (
  facts: Partial<Appointment> & Pick<Appointment, 'patient' | 'doctor' | 'date' | 'startTime' | 'endTime'>,
): Appointment => ({ ...NEW_APPOINTMENT, id: newUuid(), createdAt, ...facts })

/** The write of a request with a new Idempotency-Key. */
export const newWrite = <Outcome>(
  table: Table,
  clinic: ClinicId,
  response: (outcome: Outcome) => object,
): RequestedWrite<Outcome> => {
  const request = { clinic, credential: CREDENTIAL, route: 'bench', key: newUuid(), body: '{}' }
  return requestedWrite(
    { checkIfMatch: () => {} },
    200,
    idempotencyGuard({ table, now: Date.now }, request),
    response,
  )
}
