/** `node test/support/called-functions.ts` prints how many functions of the project a warm call runs, by file: V8's precise coverage. */
import { Session } from 'node:inspector/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createDoctors } from '../../bin/bench/records.ts'
import { startDynamoDb } from '../../infra/local/engines/dynamodb.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { issueCredential } from './credentials.ts'
import { apiEvent, lambdaContext, type RequestInput } from './event.ts'
import { aPatient, createTestTable, newClinic } from './table.ts'

const NAME = 'called-functions'
const ROOT = new URL('../../', import.meta.url).href

const engine = await startDynamoDb({ onUnexpectedExit: (message) => process.stderr.write(message) })
Object.assign(process.env, {
  ...{ TABLE_NAME: NAME, STAGE: 'test', CHECK_RESPONSES: 'off', REQUESTS_PER_MINUTE: '300' },
  ...{ AWS_REGION: 'us-east-1', AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' },
  AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint,
})
await createTestTable(new DynamoDBClient({}), NAME)
const table = openTable(documentClient(), NAME)
const clinic = await newClinic(table)
const credential = await issueCredential(table, clinic)
const patient = aPatient()
await patientWriter({ table }).createMany(clinic.id, [patient])
const [doctor] = await createDoctors(table, clinic, 1, 'mon-sun 09:00-17:00')
const headers = { ...credential.headers, 'content-type': 'application/json' }
const profiler = new Session()
profiler.connect()
await profiler.post('Profiler.enable')

/** Calls a handler until it is warm, and then once more. */
async function count(id: string, requestOf: (call: number) => RequestInput): Promise<void> {
  const { handler } = await import(`../../functions/${id}.ts`)
  await profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  for (let call = 1; call <= 4; call++) {
    await profiler.post('Profiler.takePreciseCoverage')
    await handler(apiEvent({ headers, ...requestOf(call) }), lambdaContext())
  }
  const { result } = await profiler.post('Profiler.takePreciseCoverage')
  const own = result.filter(
    ({ url }) => url.startsWith(ROOT) && !url.includes('node_modules') && !url.includes('/test/'),
  )
  const called = own.map(({ url, functions }) => ({
    file: url.slice(ROOT.length),
    functions: functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length,
  }))
  const files = called.filter(({ functions }) => functions > 0)
  const total = files.reduce((sum, { functions }) => sum + functions, 0)
  process.stdout.write(`${id}: ${total} functions in ${files.length} files\n`)
  for (const { file, functions } of files) process.stdout.write(`  ${functions} ${file}\n`)
}

await count('get-patient', () => ({ path: { id: patient.id } }))
await count('create-appointment', (call) => ({
  method: 'POST',
  headers: { ...headers, 'idempotency-key': `call-${call}` },
  body: JSON.stringify({
    patient_id: patient.id,
    doctor_id: doctor.id,
    appointment_date: `2030-05-0${call}`,
    start_time: '09:00',
    duration: 30,
  }),
}))
process.exit(0)
