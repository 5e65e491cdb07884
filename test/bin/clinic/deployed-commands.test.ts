/** Commands on a deployed stack: what they write to the operator's log group, and who the ledger of erasures names. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { runOperatorTool } from '../../../bin/clinic/program.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import type { CommandAccess } from '../../../shared/observability/access.ts'
import { erasureLedger } from '../../../shared/store/copies/erasure-ledger.ts'
import { issueCredential } from '../../support/credentials.ts'
import { createWebhook } from '../../support/deliveries.ts'
import { createPopulatedClinic } from '../../support/records.ts'
import { freshTable, type TestTable } from '../../support/table.ts'

const ARN = 'arn:aws:sts::123456789012:assumed-role/Operator/ada'

let db: TestTable
let clinic: Clinic
let patient: string
const written: CommandAccess[] = []
const outputs: Record<string, string> = { OperatorLogGroup: 'operator-group' }

/** Plays CloudFormation, STS and CloudWatch Logs. */
const server = createServer(async (request, response) => {
  const body = await text(request)
  if (request.headers['x-amz-target']) {
    for (const { message } of JSON.parse(body).logEvents) written.push(JSON.parse(message))
    response.end('{}')
  } else response.end(body.includes('GetCallerIdentity') ? `<Arn>${ARN}</Arn>` : describedStack())
})

function describedStack(): string {
  const all = { TableName: db.name, ...outputs }
  const members = Object.entries(all).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  )
  const stack = `<member><StackName>clinic</StackName><Outputs>${members.join('')}</Outputs></member>`
  return `<DescribeStacksResponse><DescribeStacksResult><Stacks>${stack}</Stacks></DescribeStacksResult></DescribeStacksResponse>`
}

beforeAll(async () => {
  db = await freshTable()
  const created = await createPopulatedClinic(db.table)
  clinic = created.clinic
  patient = created.patient.id
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const service of ['CLOUDFORMATION', 'STS', 'LOGS']) vi.stubEnv(`AWS_ENDPOINT_URL_${service}`, endpoint)
  vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', inject('dynamodb'))
  vi.stubEnv('AWS_REGION', 'local')
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'test')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'test')
})
afterAll(() => {
  vi.unstubAllEnvs()
  server.close()
})

/** The lines of a command that exits with this code. */
async function run(code: number, ...args: string[]): Promise<CommandAccess[]> {
  written.length = 0
  const terminal = { env: {}, writeOut: () => {}, writeError: () => {} }
  expect(await runOperatorTool(['--stack', 'clinic', ...args], terminal)).toBe(code)
  return [...written]
}

it('names the caller that STS sees in the ledger of erasures, as in the trail', async () => {
  const lines = await run(0, 'patient', 'erase', patient, '--clinic', clinic.id)
  expect(lines.map(({ operator, outcome }) => [operator, outcome])).toEqual([
    [ARN, 'started'],
    [ARN, 'done'],
  ])
  expect(await erasureLedger(db).list(clinic.id)).toMatchObject([{ patient, operator: ARN }])
})

it('writes the patients that a replay of erasures concerns', async () => {
  const [, done] = await run(0, 'erasures', 'replay', '--clinic', clinic.id, '--source-table', db.name)
  expect(done).toMatchObject({ command: 'erasures replay', outcome: 'done', records: [patient] })
})

it('writes the webhook endpoints that are deleted with a credential', async () => {
  const { key } = await issueCredential(db.table, clinic)
  const { id } = await createWebhook(db.table, clinic.id, { createdBy: key })
  const [, done] = await run(0, 'credential', 'revoke', key, '--with-webhooks')
  expect(done).toMatchObject({ clinic_id: clinic.id, records: [key, id] })
})

it('writes no external id, even if it has the form of an id of a record', async () => {
  const external = newUuid()
  const found = ['--clinic', clinic.id, '--entity', 'patients', '--external-id', external]
  const lines = await run(2, 'find', ...found)
  expect(lines.length).toBe(2)
  expect(JSON.stringify(lines)).not.toContain(external)
})

it('settles a restored table only while the stack is paused, and never the table in use', async () => {
  const restored = await freshTable()
  const printed: string[] = []
  const terminal = { env: {}, writeOut: () => {}, writeError: (text: string) => void printed.push(text) }
  const settle = (...args: string[]) =>
    runOperatorTool(['--stack', 'clinic', 'restore', 'settle', ...args], terminal)
  expect(await settle('--table', restored.name)).toBe(2)
  expect(await settle('--table', db.name)).toBe(2)
  expect(printed).toEqual([
    'The stack is not paused. Deploy it with -c paused=on first.\n',
    'The stack uses this table: settle it before that.\n',
  ])
  outputs.Paused = 'on'
  expect(await settle('--table', restored.name)).toBe(0)
})

describe('a caller whose role lacks a permission', () => {
  const denied: string[] = []
  const terminal = { env: {}, writeOut: () => {}, writeError: (text: string) => void denied.push(text) }
  /** Plays DynamoDB for a role without any permission. */
  const dynamodb = createServer((_, response) => {
    response.statusCode = 400
    const message = 'User: arn:aws:iam::1:user/eva is not authorized to perform: dynamodb:GetItem'
    response.end(JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', message }))
  })
  afterAll(() => void dynamodb.close())

  it.each([
    [['patient', 'erase', newUuid()], '"patient erase" needs the role "erase": the output EraseRoleArn'],
    [['verify'], '"verify" needs the role "read": the output ReadRoleArn'],
    [['verify', '--repair'], '"verify" needs the role "support": the output SupportRoleArn'],
  ])('gets the role that %j needs', async (args, message) => {
    if (!dynamodb.listening) await once(dynamodb.listen(0, '127.0.0.1'), 'listening')
    const { port } = dynamodb.address() as AddressInfo
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', `http://127.0.0.1:${port}`)
    denied.length = 0
    expect(await runOperatorTool(['--stack', 'clinic', ...args, '--clinic', clinic.id], terminal)).toBe(4)
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', inject('dynamodb'))
    expect(denied.join('')).toContain(message)
    expect(denied.join('')).toContain('is not authorized to perform: dynamodb:GetItem')
  })
})
