/** A clinic on an engine that behaves like DynamoDB, and the handlers that write to it, in this process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { DEFAULT_CELL } from '../../shared/domain/credential.ts'
import { formatTime } from '../../shared/domain/interval.ts'
import { SCOPES } from '../../shared/domain/scope.ts'
import { clinicStore, type StoredClinic } from '../../shared/store/clinics.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { MAX_CREATED, patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { startRealisticDynamoDb } from '../../test/support/realistic-dynamodb/realistic-dynamodb.ts'
import { importEntities } from '../clinic/import/entities/entities.ts'
import type { ImportableEntity } from '../clinic/import/entities/entity.ts'
import { importFile } from '../clinic/import/run/import-file.ts'
import { withPauses } from '../clinic/import/run/pauses.ts'
import { operatorClient } from '../clinic/tool/operator-client.ts'
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
  // The operator tool's own connection, through the same proxy.
  const operatorTable = withPauses(openTable(operatorClient({ endpoint: dynamodb.endpoint }), tableName))
  let latest: ContentionClinic | undefined
  return {
    newClinic: async () => {
      latest = await newClinic(table)
      return latest
    },
    /** Imports records into the latest clinic. */
    import: () => importInto(operatorTable, (latest as ContentionClinic).id),
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
    id,
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

/** Both in turn. */
export const bookingAndCreating =
  (contention: Contention, clinic: ContentionClinic): LoadCall =>
  (index) =>
    (index % 2 === 0 ? creatingPatients : booking)(contention, clinic)(index)

const IMPORTED = 5000

/** Imports patients, two doctors, and an appointment of each patient, all in one month. */
async function importInto(table: Table, clinicId: ClinicId): Promise<void> {
  const clinic = (await clinicStore({ table }).find(clinicId)) as StoredClinic
  const folder = mkdtempSync(join(tmpdir(), 'clinic-bench-'))
  const ids = Array.from({ length: IMPORTED }, (_, n) => n)
  const files = {
    patients: ids.map((n) => ({ external_id: n, first_name: 'Ada', last_name: `Kaya ${n}` })),
    doctors: [0, 1].map((n) => ({ external_id: n, full_name: 'Dr. Bo Lind' })),
    appointments: ids.map((n) => ({
      external_id: n,
      patient_external_id: n,
      doctor_external_id: n % 2,
      appointment_date: `2026-03-${String(1 + (n % 28)).padStart(2, '0')}`,
      start_time: '09:00',
      end_time: '09:30',
    })),
  }
  for (const [name, rows] of Object.entries(files)) {
    const file = join(folder, `${name}.ndjson`)
    writeFileSync(file, rows.map((one) => `${JSON.stringify(one)}\n`).join(''))
    const entity = importEntities(table, Date.now).find((known) => known.name === name)
    const { imported } = await importFile(file, entity as ImportableEntity, clinic, { now: Date.now })
    if (imported !== rows.length) throw new Error(`${imported} ${name} were imported`)
  }
  rmSync(folder, { recursive: true })
}

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
