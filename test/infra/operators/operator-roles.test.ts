/** The policies of the operators' roles, and that each command's calls are allowed by its role. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { COMMANDS, OPERATOR_ROLES, type OperatorRole, roleOutput } from '../../../shared/operator/commands.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { walkKey } from '../../../shared/store/keys/operator.ts'
import { issueCredential } from '../../support/credentials.ts'
import { deployedStack, type RecordedCall } from '../../support/deployed-stack.ts'
import { createAcceptedEmail } from '../../support/emails.ts'
import { iamRequests } from '../../support/iam/requests.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../support/records.ts'
import { restored } from '../../support/restored.ts'
import { newClinic, tableOfFile } from '../../support/table.ts'
import { resourcesOf, type Statement, templateOf, templatesOf } from '../../support/template.ts'

const template = templateOf('prod')

type Document = { Description: string; PolicyDocument: { Statement: Statement[] } }

const pathOf = (role: OperatorRole, kind: string) => `/Operators/${role}${kind}/Resource`

const resourceAt = (type: string, path: string) =>
  Object.entries(resourcesOf(template, type)).find(([, { Metadata }]) =>
    Metadata?.['aws:cdk:path']?.endsWith(path),
  ) as [string, { Properties: Record<string, any> }]

const statementsOf = (role: OperatorRole): Statement[] => {
  const [, { Properties }] = resourceAt('AWS::IAM::ManagedPolicy', pathOf(role, '-policy'))
  return (Properties as Document).PolicyDocument.Statement
}

const onTable = (role: OperatorRole) =>
  statementsOf(role).filter(({ Action }) => [Action].flat().every((name) => name.startsWith('dynamodb:')))

/** Whether a role's statements allow a call on these partitions. */
const allows = (role: OperatorRole, action: string, partitions: readonly string[]): boolean =>
  onTable(role).some(({ Action, Condition }) => {
    const keysOf = (operator: string) => {
      const { 'dynamodb:LeadingKeys': patterns } = (Condition?.[operator] ?? {}) as Record<string, string[]>
      const prefixes = patterns && [patterns].flat().map((pattern) => pattern.replace(/\*$/, ''))
      return prefixes && ((key: string) => prefixes.some((prefix) => key.startsWith(prefix)))
    }
    const isHidden = keysOf('ForAllValues:StringNotLike') ?? (() => false)
    const isNamed = keysOf('ForAllValues:StringLike') ?? (() => true)
    const isAllowed = (key: string) => isNamed(key) && !isHidden(key)
    return [Action].flat().includes(`dynamodb:${action}`) && partitions.every(isAllowed)
  })

describe.each(OPERATOR_ROLES.map((role) => [role] as const))('the role %s', (role) => {
  it('is assumed for an hour, with a second factor', () => {
    const [id, { Properties }] = resourceAt('AWS::IAM::Role', pathOf(role, ''))
    expect(Properties.AssumeRolePolicyDocument.Statement).toMatchObject([
      { Action: 'sts:AssumeRole', Condition: { Bool: { 'aws:MultiFactorAuthPresent': 'true' } } },
    ])
    expect(Properties.MaxSessionDuration).toBe(3600)
    const { Outputs } = template.toJSON()
    expect(Outputs[roleOutput(role)].Value).toEqual({ 'Fn::GetAtt': [id, 'Arn'] })
  })

  it('has no permission on all resources', () => {
    for (const { Resource } of statementsOf(role)) expect([Resource].flat()).not.toContain('*')
  })
})

it('reads with every role, writes with all but "read", and touches the ledger of erasures and the progress of others with few', () => {
  const may = (action: string, partition: string) =>
    OPERATOR_ROLES.filter((role) => allows(role, action, [partition]))
  expect(may('GetItem', 'erasure#1')).toEqual(['read', 'support', 'erase', 'maintain'])
  expect(may('PutItem', 'clinic#P')).toEqual(['support', 'erase', 'maintain'])
  expect(may('PutItem', 'erasure#1')).toEqual(['erase', 'maintain'])
  expect(may('PutItem', 'table#format')).toEqual(['maintain'])
  expect(may('Scan', 'x')).toEqual(['support', 'maintain'])
  const walks = [walkKey('read', 'x'), walkKey('support', 'x'), walkKey('maintain', 'x')]
  expect(walks.map(({ pk }) => may('UpdateItem', pk))).toEqual([
    ['read', 'maintain'],
    ['support', 'maintain'],
    ['maintain'],
  ])
})

it('reads dead letters with "read", moves and deletes them with "support", and receives from no other queue', () => {
  const onQueues = (role: OperatorRole) =>
    statementsOf(role)
      .filter(({ Action }) => [Action].flat().some((name) => name.startsWith('sqs:')))
      .map(({ Action, Resource }) => [
        [Action].flat(),
        [Resource].flat().map((arn) => /clinic-prod-([\w-]+)/.exec(JSON.stringify(arn))?.[1]),
      ])
  const dead = ['emails-dead', 'feedback-dead', 'deliveries-dead', 'slow-deliveries-dead']
  const letters = [...dead, 'maintenance-dead', 'failed-fan-outs']
  const reading = ['sqs:ChangeMessageVisibility', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage']
  expect(onQueues('read')).toEqual([[reading, letters]])
  expect(onQueues('support')).toEqual([
    [
      ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'],
      letters,
    ],
    [['sqs:SendMessage'], dead.map((name) => name.replace('-dead', ''))],
  ])
  expect([onQueues('erase'), onQueues('maintain')]).toEqual([[], [[['sqs:SendMessage'], ['maintenance']]]])
})

it('starts maintenance with "maintain" alone: nothing else in the stacks may send to its queue, but the worker that hands its work on', () => {
  const senders = Object.entries(templatesOf('prod')).flatMap(([, stack]) =>
    Object.entries(stack.Resources as Record<string, { Type: string; Properties: any }>).flatMap(
      ([id, { Type, Properties = {} }]) => {
        if (Type !== 'AWS::IAM::Role' && Type !== 'AWS::IAM::ManagedPolicy' && Type !== 'AWS::IAM::Policy')
          return []
        const documents = [
          Properties.PolicyDocument,
          ...(Properties.Policies ?? []).map((one: any) => one.PolicyDocument),
        ]
        const statements = documents.flatMap((document) => document?.Statement ?? []) as Statement[]
        const sends = statements.some(
          ({ Action, Resource }) =>
            [Action]
              .flat()
              .some((action) => /^sqs:(SendMessage|Send.*|\*)$/.test(action) || action === '*') &&
            /clinic-prod-maintenance"|MaintenanceRuns(?!Dead)|"\*"/.test(JSON.stringify(Resource)),
        )
        return sends ? [id] : []
      },
    ),
  )
  expect(senders.map((id) => id.replace(/[0-9A-F]{8}$/, '')).sort()).toEqual([
    'MaintenancerunmaintenanceRole',
    'Operatorsmaintainpolicy',
  ])
})

/** The calls as IAM sees them. */
const permissionsOf = (call: RecordedCall) =>
  iamRequests({ service: 'dynamodb', ...call }, { keyOfTable: () => undefined }).map(
    ({ action, context }) => ({
      action: action.replace('dynamodb:', ''),
      partitions: [context['dynamodb:LeadingKeys'] ?? []].flat(),
    }),
  )

describe('the role of a command', () => {
  const outputs: Record<string, string> = { OperatorLogGroup: 'operator', Cell: 'a' }
  const folder = mkdtempSync(join(inject('runFolder'), 'roles-test-'))
  const db = tableOfFile()
  let world: PopulatedClinic
  let run: Awaited<ReturnType<typeof deployedStack>>['run']
  let commands: Record<string, string[]>
  beforeAll(async () => {
    outputs.TableName = db.name
    world = await createPopulatedClinic(db.table)
    const { clinic, patient, doctor, appointment, invoice } = world
    const { key } = await issueCredential(db.table, clinic)
    // Its deletion began long ago, and has no writes to wait for.
    const doomed = await newClinic(db.table)
    await clinicStore(db).beginDeletion(doomed.id, '2026-05-01T07:00:00.000Z')
    const now = Date.now()
    const stuck = { dueAt: now, claim: { token: 'dead', until: now - 1 }, isUnresolved: false }
    const { id: unresolved } = await createAcceptedEmail(db.table, clinic, patient, now, { dispatch: stuck })
    const copy = await restored(db)
    const file = join(folder, 'patients.csv')
    writeFileSync(file, 'external_id,first_name,last_name\n1,Ada,Kaya\n')
    run = (await deployedStack(outputs)).run
    const of = ['--clinic', clinic.id]
    commands = {
      // First, while no copies of names are being refreshed: it waits for them.
      verify: of,
      'verify --repair': of,
      'clinic create': ['--name', 'Nord', '--timezone', 'Europe/Berlin', '--currency', 'EUR'],
      'clinic list': [],
      'clinic update': [...of, '--name', 'Sud'],
      'clinic pause': of,
      'clinic resume': of,
      'clinic delete': ['--clinic', doomed.id, '--without-export', '--yes', '--confirm', doomed.name],
      export: [...of, '--out', join(folder, 'export')],
      'patient export': [patient.id, ...of, '--out', join(folder, 'patient')],
      'credential create': [...of, '--name', 'Site', '--scopes', 'patient.read'],
      'credential create-temporary': of,
      'clinic show': of,
      'credential list': of,
      'credential show': [key],
      'credential update': [key, '--rate', '30'],
      'credential rotate': [key],
      'doctor link': [doctor.id, ...of, '--external-id', 'D-1'],
      import: [...of, file, '--yes'],
      'appointment link': [appointment.id, ...of, '--external-id', 'A-1'],
      'invoice correct': [invoice.id, ...of, '--status', 'cancelled', '--yes'],
      'message unresolved': [],
      'message resolve': [unresolved, ...of, '--as', 'sent'],
      'credential revoke': ['--all', ...of, '--yes'],
      'erasure list': of,
      'restore cancel': [],
      'restore clinic': [clinic.id, '--to', new Date().toISOString(), '--from', copy.name],
      'patient erase': [patient.id, ...of, '--yes', '--confirm', `${patient.firstName} ${patient.lastName}`],
    }
  })

  it('allows all of its calls', async () => {
    const used = new Map<OperatorRole, Set<string>>()
    for (const [name, args] of Object.entries(commands)) {
      const { calls, errors } = await run(...name.split(' '), ...args)
      // A command that takes long shows how far it is.
      expect([name, errors.replace(/^(.* \d+ % |The listed credentials).*\n/gm, '')]).toEqual([name, ''])
      expect([name, calls.length > 0]).toEqual([name, true])
      const { role } = COMMANDS[name] as { role: OperatorRole }
      const permissions = calls.flatMap(permissionsOf)
      const denied = permissions.filter(({ action, partitions }) => !allows(role, action, partitions))
      expect([name, role, denied]).toEqual([name, role, []])
      used.set(role, new Set([...(used.get(role) ?? []), ...permissions.map(({ action }) => action)]))
    }
    // Nothing that a role may do is unused by its commands.
    const reading = ['BatchGetItem', 'DeleteItem', 'GetItem', 'Query', 'UpdateItem']
    expect([...(used.get('read') ?? [])].sort()).toEqual(reading)
  })

  it('would not allow those of an erasure for "support"', async () => {
    const { patient, clinic } = world
    const { calls } = await run('patient', 'erase', patient.id, '--clinic', clinic.id)
    const denied = calls
      .flatMap(permissionsOf)
      .filter(({ action, partitions }) => !allows('support', action, partitions))
    expect(denied.length).toBeGreaterThan(0)
  })
})
