import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, it, vi } from 'vitest'
import { ROUTES } from '../../shared/api/routes.ts'
import type { LineItem } from '../../shared/domain/invoice.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/appointments.ts'
import { invoiceStore } from '../../shared/store/invoices.ts'
import { CREDENTIAL_PARTITIONS } from '../../shared/store/keys.ts'
import { paymentStore } from '../../shared/store/payments.ts'
import { issued } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { functionEnvironment, handlerOf } from '../support/functions.ts'
import { create, type Populated, populated } from '../support/records.ts'
import { freshTable } from '../support/table.ts'
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
  headers = (await issued(table, mine.clinic)).headers
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
  QueryCommand: 'Query',
  GetCommand: 'GetItem',
  UpdateCommand: 'UpdateItem',
  PutCommand: 'PutItem',
  DeleteCommand: 'DeleteItem',
}

/** What each endpoint is asked in order to make every kind of call it can. */
const requests = (): Record<string, { path?: Record<string, string>; query?: Record<string, string> }[]> => ({
  'list-patients': [{}, { query: { search: mine.patient.lastName } }],
  'get-patient': [{ path: { id: mine.patient.id } }],
  'get-invoice': [{ path: { id: mine.invoice.id } }],
})

it.each(ROUTES.map((route) => [route.id, route] as const))(
  '%s uses every grant it has, and has every grant it uses',
  async (id, route) => {
    const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send')
    for (const sent of requests()[id] ?? [{}]) {
      expect(
        (await call(await handlerOf(route), { method: route.method, ...sent, headers })).status,
      ).toBeLessThan(300)
    }
    const used = send.mock.calls.map(([command]): Use => {
      const kind = JSON.stringify(command.input).includes(`"${CREDENTIAL_PARTITIONS}`)
        ? 'credential'
        : 'clinic'
      return `${kind} ${ACTIONS[command.constructor.name] ?? command.constructor.name}`
    })
    send.mockRestore()
    expect([...new Set(used)].sort()).toEqual(granted(grantsOf(template, id)).sort())
  },
)
