/** A clinic on an engine that behaves like DynamoDB, and the handlers that write to it, in this process. */
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import { startRealisticDynamoDb } from '../../infra/local/realistic-dynamodb/realistic-dynamodb.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { DEFAULT_CELL } from '../../shared/domain/credential.ts'
import { formatTime } from '../../shared/domain/interval.ts'
import { SCOPES } from '../../shared/domain/scope.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { MAX_CREATED, patientWriter } from '../../shared/store/patients/patient-writer.ts'
import type { Table } from '../../shared/store/table/table.ts'
import type { LoadCall } from './contention-load.ts'
import { createClinic, createDoctors, newPatient } from './records.ts'

type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>

const DOCTORS = 12
const MINUTES = 15
const SLOTS_PER_DAY = 90

/** The chain keeps the request's state in its context, so each request needs a separate chain. */
const newContext = (): Context => ({ getRemainingTimeInMillis: () => 15_000 }) as Context

/**
 * Starts the proxy in front of the engine at `endpoint`, and loads the handlers with the table behind it as their store.
 * @param table the same table, without the proxy
 */
export async function openContention(endpoint: string, tableName: string, table: Table) {
  const dynamodb = await startRealisticDynamoDb({ engine: endpoint })
  Object.assign(process.env, {
    TABLE_NAME: tableName,
    STAGE: 'bench',
    CHECK_RESPONSES: 'off',
    REQUESTS_PER_MINUTE: '1000000',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_ENDPOINT_URL_DYNAMODB: dynamodb.endpoint,
  })
  const [patients, appointments] = await Promise.all([
    import('../../functions/create-patient.ts'),
    import('../../functions/create-appointment.ts'),
  ])
  return {
    newClinic: () => newClinic(table),
    createPatient: patients.handler as unknown as Handler,
    createAppointment: appointments.handler as unknown as Handler,
    close: dynamodb.close,
  }
}

export type Contention = Awaited<ReturnType<typeof openContention>>
export type ContentionClinic = Awaited<ReturnType<typeof newClinic>>

/** A clinic with twelve doctors who work all day, and a few patients. */
export async function newClinic(table: Table) {
  const id = await createClinic(table, { timezone: 'UTC', appointmentMinutes: MINUTES })
  const { key, secret } = await credentialStore({ table, now: Date.now }).issue({
    name: 'bench',
    clinic: id,
    cell: DEFAULT_CELL,
    scopes: SCOPES,
    expiresAt: null,
    requestsPerMinute: 1_000_000,
  })
  const doctors = await createDoctors(table, id, DOCTORS, parseWeeklyHours('mon-sun 00:00-23:59'))
  const patients = Array.from({ length: MAX_CREATED }, () => newPatient())
  await patientWriter({ table }).createMany(id, patients)
  return {
    authorization: `Developer ${key}:${secret}`,
    doctors: doctors.map((doctor) => doctor.id),
    patients: patients.map((patient) => patient.id),
  }
}

/** POST /patients. */
export const creatingPatients =
  ({ createPatient }: Contention, clinic: ContentionClinic): LoadCall =>
  () =>
    createPatient(postEvent(clinic, { first_name: 'Ada', last_name: 'Kaya' }), newContext())

/** POST /appointments: the free times of all doctors one after the other, or always the same one. */
export const booking =
  ({ createAppointment }: Contention, clinic: ContentionClinic, { sameSlot = false } = {}): LoadCall =>
  (index) =>
    createAppointment(postEvent(clinic, bookingBody(clinic, index, sameSlot ? 0 : index)), newContext())

/** The body of a booking: the free times of all doctors one after the other, from tomorrow on. */
export function bookingBody({ patients, doctors }: ContentionClinic, index: number, at: number = index) {
  const slot = Math.floor(at / DOCTORS)
  const tomorrow = addDays(new Date().toISOString().slice(0, 10), 1)
  return {
    patient_id: patients[index % patients.length],
    doctor_id: doctors[at % DOCTORS],
    appointment_date: addDays(tomorrow, Math.floor(slot / SLOTS_PER_DAY)),
    start_time: formatTime((slot % SLOTS_PER_DAY) * MINUTES),
  }
}

let requests = 0

const postEvent = ({ authorization }: ContentionClinic, body: object): APIGatewayProxyEvent =>
  ({
    httpMethod: 'POST',
    multiValueHeaders: { authorization: [authorization], 'content-type': ['application/json'] },
    body: JSON.stringify(body),
    requestContext: { extendedRequestId: `bench-${requests++}` },
  }) as unknown as APIGatewayProxyEvent
