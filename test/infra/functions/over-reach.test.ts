/**
 * Calls beyond a function's work that no family of partitions tells apart, each of which IAM must deny, and grants beyond its
 * calls, each of which must be reported. Calls on other families: grants-used.test.ts.
 */
import { describe, expect, it } from 'vitest'
import { REFERENCE } from '../../../infra/settings/names.ts'
import { CLINIC_FAMILIES } from '../../../shared/store/keys/families.ts'
import { type CheckedCalls, checkedCalls } from '../../support/iam/checked-calls.ts'
import type { DeployedRoles, Statement } from '../../support/iam/deployed-roles.ts'
import { decide } from '../../support/iam/evaluation.ts'
import type { SdkCall } from '../../support/iam/requests.ts'
import { logicalIdOf, rolesWith } from './exact-grants.ts'

const TABLE = 'clinic-table'
const TABLE_ARN = `arn:aws:dynamodb:us-east-1:000000000000:table/${TABLE}`
const of = (family: keyof typeof CLINIC_FAMILIES): string => `${'x'.repeat(22)}#${CLINIC_FAMILIES[family]}`
const MINE = of('patients')
/** As webhooks.ts has it. */
const DISABLE = 'SET isActive = :no, updatedAt = :at ADD v :one'
const roles = rolesWith(TABLE)
const [key = ''] = roles.keyPolicies.keys()

const on = (operation: string, pk: string, TableName = TABLE): SdkCall => {
  if (operation === 'UpdateItem') return update(pk, 'SET x = :x')
  const part = operation === 'PutItem' ? { Item: { pk } } : { Key: { pk } }
  return { service: 'dynamodb', operation, input: { TableName, ...part } }
}
/** An update with this expression. */
const update = (pk: string, UpdateExpression: string, more: object = {}): SdkCall => ({
  service: 'dynamodb',
  operation: 'UpdateItem',
  input: { TableName: TABLE, Key: { pk, sk: '1' }, UpdateExpression, ...more },
})
const batchGet = (...pks: string[]): SdkCall => ({
  service: 'dynamodb',
  operation: 'BatchGetItem',
  input: { RequestItems: { [TABLE]: { Keys: pks.map((pk) => ({ pk })) } } },
})
const URL_NAMED = { ExpressionAttributeNames: { '#u': 'url' } }
const puts = (...pks: string[]): SdkCall => ({
  service: 'dynamodb',
  operation: 'TransactWriteItems',
  input: { TransactItems: pks.map((pk) => ({ Put: { TableName: TABLE, Item: { pk } } })) },
})
const push = (queue: string): SdkCall => ({
  service: 'sqs',
  operation: 'SendMessage',
  input: { QueueUrl: `https://sqs/000000000000/${queue}` },
})
const publish = (input: object): SdkCall => ({ service: 'sns', operation: 'Publish', input })
const email = (input: object): SdkCall => ({
  service: 'ses',
  operation: 'SendEmail',
  input: {
    FromEmailAddress: 'Clinic <clinic@example.com>',
    Destination: { ToAddresses: ['patient@mail.example.org'] },
    ConfigurationSetName: 'mail',
    ...input,
  },
})

async function deniedOf(id: string, call: SdkCall, deployed: DeployedRoles = roles): Promise<string[]> {
  const calls = checkedCalls(deployed)
  calls.add(logicalIdOf(id), call)
  return calls.denied()
}

it.each<[string, string, SdkCall]>([
  ['get-patient reads a patient', 'get-patient', on('GetItem', MINE)],
  ['create-patient announces a patient', 'create-patient', puts(MINE, 'due#event#1')],
  ['get-patient counts a request', 'get-patient', on('UpdateItem', 'usage#ck_1')],
  ['deliver-event disables an endpoint', 'deliver-event', update(of('webhooks'), DISABLE)],
  ['send-message publishes to a phone', 'send-message', publish({ PhoneNumber: '+905320000001' })],
  ['send-email sends from its address', 'send-email', email({})],
])('allows that %s', async (_, id, call) => expect(await deniedOf(id, call)).toEqual([]))

it.each<[string, string, SdkCall]>([
  ['a batch has a credential among patients', 'list-patients', batchGet(MINE, 'credential#ck_1')],
  ['a transaction has a credential among patients', 'create-patient', puts(MINE, 'credential#ck_1')],
  ['a delivery redirects events', 'deliver-event', update(of('webhooks'), 'SET #u = :u', URL_NAMED)],
  ['a delivery redirects events as well', 'deliver-event', update(of('webhooks'), `${DISABLE} SET url = :u`)],
  ['a delivery changes a secret', 'deliver-event', update(of('webhooks'), 'SET secret = :s')],
  [
    'a delivery reads a secret',
    'deliver-event',
    update(of('webhooks'), DISABLE, { ReturnValues: 'ALL_OLD' }),
  ],
  ['another table is read', 'get-patient', on('GetItem', MINE, 'other')],
  ['a message goes to the wrong queue', 'ping-webhook', push('clinic-dev-emails')],
  ['a route without a queue sends to one', 'create-patient', push('clinic-dev-deliveries')],
  ['a reading route sends an SMS', 'get-patient', publish({ PhoneNumber: '+905320000001' })],
  ['an SMS goes to a topic', 'send-message', publish({ TopicArn: 'arn:aws:sns:us-east-1:0:topic' })],
  ['an email has another sender', 'send-email', email({ FromEmailAddress: 'Clinic <boss@example.com>' })],
  ['an email is of another domain', 'send-email', email({ FromEmailAddress: 'clinic@other.example' })],
  ['an email has another configuration set', 'send-email', email({ ConfigurationSetName: 'other' })],
  ['an endpoint sends an email itself', 'send-message', email({})],
])('denies that %s', async (_, id, call) => expect(await deniedOf(id, call)).not.toEqual([]))

describe('conditions', () => {
  const roleOf = (id: string) => {
    const role = roles.functions.find(({ functionId }) => functionId === logicalIdOf(id))
    if (!role) throw new Error(`no role of ${id}`)
    return role
  }

  it('do not hold for a call of the table without keys, although ForAllValues does; maintenance alone has none', async () => {
    const request = { action: 'dynamodb:GetItem', resource: TABLE_ARN, context: {} }
    for (const { functionId, roleArn, statements } of roles.functions)
      expect([functionId, (await decide({ roleArn, statements }, request, roles)).allowed]).toEqual([
        functionId,
        functionId === logicalIdOf('run-maintenance'),
      ])
    const open = roleOf('get-patient').statements.map(({ Condition = {}, ...rest }) => {
      const { Null, ...more } = Condition
      return { ...rest, Condition: more }
    })
    expect((await decide({ ...roleOf('get-patient'), statements: open }, request, roles)).allowed).toBe(true)
  })

  it('keep the public pages, which need no credential, from the log of endpoints', async () => {
    const [line] = roleOf('get-me').byLambda.filter(({ action }) => action === 'logs:PutLogEvents')
    if (!line) throw new Error('get-me has no log')
    expect((await decide(roleOf('get-me'), line, roles)).allowed).toBe(true)
    expect((await decide(roleOf(REFERENCE), line, roles)).allowed).toBe(false)
  })

  it.each([
    ['without a service', {}],
    ['through another service', { 'kms:ViaService': 's3.us-east-1.amazonaws.com' }],
  ])('deny the use of the table’s key %s', async (_, context) => {
    const request = { action: 'kms:Decrypt', resource: key, context: context as Record<string, string> }
    for (const role of roles.functions)
      expect([role.functionId, (await decide(role, request, roles)).allowed]).toEqual([
        role.functionId,
        false,
      ])
  })

  it('are missed when the key may not be used', async () => {
    const statements = roleOf('get-patient').statements.filter(
      ({ Action }) => ![Action].flat().includes('kms:Decrypt'),
    )
    const functions = [{ ...roleOf('get-patient'), statements }]
    expect(await deniedOf('get-patient', on('GetItem', MINE), { ...roles, functions })).toHaveLength(7)
  })
})

describe('a grant beyond the calls', () => {
  const grant = (Action: string, more: Partial<Statement>): Statement => ({
    Effect: 'Allow',
    Action,
    ...more,
  })
  const anyKey = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['x*', 'due#*'] } }

  async function withGrant(statement: Statement): Promise<[CheckedCalls, string]> {
    const id = logicalIdOf('reference')
    const functions = roles.functions
      .filter(({ functionId }) => functionId === id)
      .map((role) => ({ ...role, statements: [...role.statements, statement] }))
    return [checkedCalls({ ...roles, functions }), id]
  }

  it('is reported by its action and resource, and by the partitions that it reaches', async () => {
    const [calls, id] = await withGrant(grant('dynamodb:GetItem', { Resource: TABLE_ARN, Condition: anyKey }))
    expect(await calls.unused(id)).toEqual([`dynamodb:GetItem ${TABLE_ARN}`])
    calls.add(id, on('GetItem', MINE))
    expect(await calls.unused(id)).toEqual([])
    expect(await calls.reached(id, ['due#event#0', 'clinics'])).toEqual(['due#event#0'])
  })

  it('is reported for each of its resources', async () => {
    const queues = ['clinic-dev-emails', 'clinic-dev-deliveries'].map(
      (name) => `arn:aws:sqs:us-east-1:000000000000:${name}`,
    )
    const [calls, id] = await withGrant(grant('sqs:SendMessage', { Resource: queues }))
    calls.add(id, push('clinic-dev-emails'))
    expect(await calls.unused(id)).toEqual([`sqs:SendMessage ${queues[1]}`])
  })
})

it('rejects calls that no rule knows', () => {
  const calls = checkedCalls(roles)
  const unknown: SdkCall[] = [
    { service: 'dynamodb', operation: 'ExecuteStatement', input: {} },
    { service: 'sqs', operation: 'PurgeQueue', input: {} },
  ]
  for (const call of unknown)
    expect(() => calls.add(logicalIdOf('get-patient'), call)).toThrow('no rule says')
})
