import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, it, vi } from 'vitest'
import { ROUTES } from '../../shared/api/routes.ts'
import type { LineItem } from '../../shared/domain/invoice.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/appointments.ts'
import { invoiceStore } from '../../shared/store/invoices.ts'
import { CREDENTIAL_PARTITIONS } from '../../shared/store/keys.ts'
import { MOST_ENTERED, patientEntry } from '../../shared/store/patient-entry.ts'
import { patientStore } from '../../shared/store/patients.ts'
import { paymentStore } from '../../shared/store/payments.ts'
import { chunked } from '../../shared/store/table.ts'
import { issued } from '../support/credentials.ts'
import { call, type Sent } from '../support/event.ts'
import { functionEnvironment, handlerOf } from '../support/functions.ts'
import { create, type Populated, populated } from '../support/records.ts'
import { aPatient, freshTable } from '../support/table.ts'
import { grantsOf, type Statement, templateOf } from '../support/template.ts'

/** `credential GetItem`, `clinic Query`: a DynamoDB call by the kind of partition it touches. */
type Use = `${'credential' | 'clinic'} ${string}`

const template = templateOf('dev')
let headers: Record<string, string>
let mine: Populated

beforeAll(async () => {
  const { table, name } = await freshTable()
  functionEnvironment(name)
  mine = await populated(table)
  // Long enough that their rows are thin, and the lists must read the records.
  const notes = 'long '.repeat(200)
  await create(table, mine.clinic, appointmentStore({ table }), { ...mine.appointment, id: newUuid(), notes })
  const item = mine.invoice.lineItems[0] as LineItem
  await create(table, mine.clinic, invoiceStore({ table }), {
    ...mine.invoice,
    id: newUuid(),
    lineItems: Array(10).fill(item),
  })
  await create(table, mine.clinic, paymentStore({ table }), {
    ...mine.payment,
    id: newUuid(),
    description: notes.slice(0, 500),
  })
  // So many entered, and a change logged before the last snapshot: the next patient is due for one, and clears the log.
  const entry = patientEntry({ table })
  const { clinic, patient } = mine
  const [before] = (await patientStore({ table }).findMany(clinic.id, [patient.id])).values()
  if (before) await entry.update(clinic.id, [{ before, after: { ...before, gender: 'other' } }])
  await entry.snapshot(clinic.id)
  for (const chunk of chunked(
    Array.from({ length: 520 }, () => aPatient()),
    MOST_ENTERED,
  ))
    await entry.enter(clinic.id, chunk)
  headers = (await issued(table, clinic)).headers
})

function granted(statements: Statement[]): Use[] {
  return statements.flatMap(({ Action, Condition }) => {
    const calls = [Action].flat().filter((action) => action.startsWith('dynamodb:'))
    const kind = Condition && 'ForAllValues:StringLike' in Condition ? 'credential' : 'clinic'
    return calls.map((action): Use => `${kind} ${action.replace('dynamodb:', '')}`)
  })
}

const ACTIONS: Record<string, string> = {
  BatchGetCommand: 'BatchGetItem',
  BatchWriteCommand: 'BatchWriteItem',
  QueryCommand: 'Query',
  GetCommand: 'GetItem',
  UpdateCommand: 'UpdateItem',
}

/** Each item of a transaction needs the grant of its own kind. */
const TRANSACTION: Record<string, string> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
}

const json = { 'content-type': 'application/json' }

/** What each endpoint is asked in order to make every kind of call it can. */
const requests = (): Record<string, Omit<Sent, 'method'>[]> => ({
  'list-patients': [{}, { query: { search: mine.patient.lastName } }],
  'get-patient': [{ path: { id: mine.patient.id } }],
  'get-invoice': [{ path: { id: mine.invoice.id } }],
  'get-availability': [{ query: { doctor_id: mine.doctor.id, date: '2030-01-07' } }],
  'create-patient': [{ headers: json, body: '{"first_name":"Ada","last_name":"Kaya"}' }],
  // The second one finds the time taken, and looks for others.
  'create-appointment': ['2030-01-07', '2030-01-07'].map((appointment_date) => ({
    headers: json,
    body: JSON.stringify({
      patient_id: mine.patient.id,
      doctor_id: mine.doctor.id,
      appointment_date,
      start_time: '09:00',
    }),
  })),
})

function usesOf(command: { constructor: { name: string }; input: object }): Use[] {
  const kind = JSON.stringify(command.input).includes(`"${CREDENTIAL_PARTITIONS}`) ? 'credential' : 'clinic'
  const items = (command.input as { TransactItems?: object[] }).TransactItems
  const actions = items
    ? items.flatMap((item) => Object.keys(item).map((name) => TRANSACTION[name]))
    : [ACTIONS[command.constructor.name]]
  return actions.map((action): Use => `${kind} ${action}`)
}

it.each(ROUTES.map((route) => [route.id, route] as const))(
  '%s uses every grant it has, and has every grant it uses',
  async (id, route) => {
    const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send')
    for (const { headers: more, ...sent } of requests()[id] ?? [{}]) {
      const { status } = await call(await handlerOf(route), {
        method: route.method,
        ...sent,
        headers: { ...headers, ...more },
      })
      expect(status === 409 || status < 300).toBe(true)
    }
    const used = send.mock.calls.flatMap(([command]) => usesOf(command))
    send.mockRestore()
    expect([...new Set(used)].sort()).toEqual(granted(grantsOf(template, id)).sort())
  },
)
