/** What functions are granted and what they call, in the same terms, so that a test can compare both. */
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { vi } from 'vitest'
import { queueName } from '../../infra/names.ts'
import { CREDENTIAL_PARTITION_PREFIX } from '../../shared/store/keys/clinics.ts'
import { DUE_PARTITION_PREFIX } from '../../shared/store/keys/due.ts'
import { ANNOUNCED_PARTITION_PREFIX } from '../../shared/store/keys/events.ts'
import { PROVIDER_PARTITION_PREFIX } from '../../shared/store/keys/messages.ts'
import { mockClient } from '../support/mock-client.ts'
import { logicalIdAt, type Statement, templateOf } from '../support/template.ts'

/**
 * `credential GetItem`, `clinic Query`: a DynamoDB call and the kind of partition that it touches. `sns:Publish`: a call of
 * another service; calls of SQS are followed by the queue. `over all clinics`: access to due items, or to items that
 * are keyed by ids of providers. `announced events`: access to announced events, which every writing function has.
 */
export type Use =
  | `${'credential' | 'clinic'} ${string}`
  | `${string}:${string}`
  | 'over all clinics'
  | 'announced events'

export const template = templateOf('dev')
export const sns = mockClient(SNSClient)
export const sqs = mockClient(SQSClient)
export const ses = mockClient(SESv2Client)

/** Queues by the environment variable that has their URL. */
const QUEUES: Record<string, string> = {
  EMAIL_QUEUE_URL: 'Messaging/Emails',
  DELIVERY_QUEUE_URL: 'Events/Deliveries',
  SLOW_DELIVERY_QUEUE_URL: 'Events/SlowDeliveries',
  FAN_OUT_QUEUE_URL: 'Events/FanOuts',
}

const QUEUE_NAMES: Record<string, string> = {
  'Messaging/Emails': queueName('dev', 'emails'),
  'Events/Deliveries': queueName('dev', 'deliveries'),
  'Events/FanOuts': queueName('dev', 'fan-outs'),
  'Events/SlowDeliveries': queueName('dev', 'slow-deliveries'),
}

/** Calls that Lambda makes to follow the table's stream. */
const STREAM = /^dynamodb:(ListStreams|DescribeStream|GetRecords|GetShardIterator)$/

/**
 * What statements let a function's code call. Writing logs, using the key and what Lambda itself calls to follow the stream
 * are left out.
 */
export function granted(statements: Statement[]): Use[] {
  const ofFunction = statements.filter(({ Resource }) => !isQueue(Resource, 'Events/FailedFanOuts'))
  return ofFunction.flatMap(({ Action, Condition, Resource }) => {
    const actions = [Action].flat()
    const calls = actions.filter((action) => action.startsWith('dynamodb:') && !STREAM.test(action))
    const kind = Condition && 'ForAllValues:StringLike' in Condition ? 'credential' : 'clinic'
    const reaches = (partition: string) => {
      const patterns = [...JSON.stringify(Condition ?? {}).matchAll(/"([^"]*)\*"/g)].map(
        ([, prefix = '']) => prefix,
      )
      return calls.length > 0 && kind === 'clinic' && !patterns.some((prefix) => partition.startsWith(prefix))
    }
    return [
      ...calls.map((action): Use => `${kind} ${action.replace('dynamodb:', '')}`),
      ...actions.filter((action): action is Use => /^(sns:|ses:)/.test(action)),
      ...actions.flatMap((action): Use[] =>
        action.startsWith('sqs:Send') ? [`${action as 'sqs:'} ${queueAt(Resource)}`] : [],
      ),
      ...(reaches(`${DUE_PARTITION_PREFIX}message#0`) ? (['over all clinics'] as const) : []),
      ...(reaches(`${ANNOUNCED_PARTITION_PREFIX}0`) ? (['announced events'] as const) : []),
    ]
  })
}

/** A queue is named by its own stack as `Fn::GetAtt`, and by other stacks by an ARN with its name. */
const isQueue = (resource: unknown, path: string): boolean => {
  const text = JSON.stringify(resource) ?? ''
  return text.includes(`"${logicalIdAt(template, path)}"`) || text.endsWith(`:${QUEUE_NAMES[path]}"]]}`)
}

const queueAt = (resource: unknown): string =>
  Object.values(QUEUES).find((path) => isQueue(resource, path)) ?? JSON.stringify(resource)

/** Sorted, without duplicates. A function that writes is granted to announce events even if it never does. */
export const inUse = (uses: Use[], used: readonly Use[]): Use[] =>
  [...new Set(uses)].filter((use) => use !== 'announced events' || used.includes(use)).sort()

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

export type Command = { constructor: { name: string }; input: object }

function usesOf(command: Command): Use[] {
  const items = (command.input as { TransactItems?: object[] }).TransactItems
  const calls = items
    ? items.flatMap((item) => Object.entries(item).map(([name, part]) => [TRANSACTION[name], part] as const))
    : [[ACTIONS[command.constructor.name], command.input] as const]
  return calls.flatMap(([action, part]): Use[] => {
    const text = JSON.stringify(part)
    const touches = (prefix: string) => text.includes(`"${prefix}`)
    const kind = touches(CREDENTIAL_PARTITION_PREFIX) ? 'credential' : 'clinic'
    const isOverAll =
      text.replaceAll(`"${ANNOUNCED_PARTITION_PREFIX}`, '').includes(`"${DUE_PARTITION_PREFIX}`) ||
      touches(PROVIDER_PARTITION_PREFIX)
    return [
      `${kind} ${action}`,
      ...(isOverAll ? (['over all clinics'] as const) : []),
      ...(touches(ANNOUNCED_PARTITION_PREFIX) ? (['announced events'] as const) : []),
    ]
  })
}

/** What `act` calls of DynamoDB and other services: sorted, without duplicates. */
export async function usedBy(act: () => Promise<void>): Promise<Use[]> {
  const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send')
  const before = [sns, sqs, ses].map((mock) => mock.calls().length)
  await act()
  const uses = send.mock.calls.flatMap(([command]) => usesOf(command as Command))
  send.mockRestore()
  const [published, pushed, mailed] = [sns, sqs, ses].map((mock, at) =>
    mock
      .calls()
      .slice(before[at])
      .map(({ args }) => (args[0] as unknown as Command).input),
  )
  const queues = Object.entries(QUEUES).filter(([variable]) =>
    pushed?.some((input) => (input as { QueueUrl?: string }).QueueUrl === process.env[variable]),
  )
  const called: Use[] = [
    ...(published?.length ? (['sns:Publish'] as const) : []),
    ...(mailed?.length ? (['ses:SendEmail'] as const) : []),
    // A batch needs the same grant as a single message.
    ...queues.map(([, path]): Use => `sqs:SendMessage ${path}`),
  ]
  return [...new Set([...uses, ...called])].sort()
}
