/** Policy statements of functions, each as narrow as its service allows. */
import { Stack } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import recordedCalls from '../../docs/grants.json' with { type: 'json' }
import type { Worker } from '../../shared/runtime/workers.ts'
import { CREDENTIAL_PARTITION_PREFIX, USAGE_PARTITION_PREFIX } from '../../shared/store/keys/clinics.ts'
import { DUE_REFRESH_PARTITION_PREFIX } from '../../shared/store/keys/copies.ts'
import { ANNOUNCED_PARTITION_PREFIX } from '../../shared/store/keys/events.ts'
import { CLINIC_FAMILIES, type SharedFamily } from '../../shared/store/keys/families.ts'
import {
  DUE_MESSAGE_PARTITION_PREFIX,
  PROVIDER_PARTITION_PREFIX,
  UNRESOLVED_MESSAGES_PARTITION,
} from '../../shared/store/keys/messages.ts'
import { ERASURE_PARTITION_PREFIX, IMPORT_PARTITION_PREFIX } from '../../shared/store/keys/operator.ts'
import { DUE_DELIVERY_PARTITION_PREFIX } from '../../shared/store/keys/webhooks.ts'
import type { Data } from '../data/data.ts'

/** Grants for authentication: reading credentials, and counting and recording their use. No endpoint may change a credential. */
export const credentialGrants = ({ table }: Data): PolicyStatement[] =>
  [
    { actions: ['dynamodb:GetItem'], prefixes: [CREDENTIAL_PARTITION_PREFIX, USAGE_PARTITION_PREFIX] },
    { actions: ['dynamodb:UpdateItem'], prefixes: [USAGE_PARTITION_PREFIX] },
  ].map(
    ({ actions, prefixes }) =>
      new PolicyStatement({
        actions,
        resources: [table.tableArn],
        conditions: onPartitions(prefixes.map((prefix) => `${prefix}*`)),
      }),
  )

/** `ForAllValues` is also true for a request without keys, such as a scan. */
export const KEYS_ARE_NAMED = { Null: { 'dynamodb:LeadingKeys': 'false' } }

/** Holds for a call whose partition keys all match one of the patterns. */
const onPartitions = (patterns: readonly string[]) => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': patterns },
  ...KEYS_ARE_NAMED,
})

/** What the partitions of each shared family begin with. */
export const SHARED_PARTITION_PREFIXES: Readonly<Record<SharedFamily, string>> = {
  'announced-events': ANNOUNCED_PARTITION_PREFIX,
  'due-messages': DUE_MESSAGE_PARTITION_PREFIX,
  'unresolved-messages': UNRESOLVED_MESSAGES_PARTITION,
  'provider-ids': PROVIDER_PARTITION_PREFIX,
  'due-deliveries': DUE_DELIVERY_PARTITION_PREFIX,
  'due-refreshes': DUE_REFRESH_PARTITION_PREFIX,
  'import-states': IMPORT_PARTITION_PREFIX,
  erasures: ERASURE_PARTITION_PREFIX,
}

const isShared = (family: string): family is SharedFamily => family in SHARED_PARTITION_PREFIXES

/** What the partitions of any clinic begin with: its short id. */
const ANY_CLINIC = '?'.repeat(22)

/**
 * The partitions of a family, as a policy names them: `?` is one character, and `*` any text.
 * @throws Error for an unknown family
 */
function partitionsOf(family: string): string {
  if (isShared(family)) return `${SHARED_PARTITION_PREFIXES[family]}*`
  const codes: Readonly<Record<string, string>> = CLINIC_FAMILIES
  const code = codes[family]
  if (code === undefined) throw new Error(`There is no family of partitions "${family}".`)
  return `${ANY_CLINIC}#${code}${code.endsWith('#') ? '*' : ''}`
}

/**
 * The calls that each function makes on the table, by its id, each with its families of partitions, without those of authentication.
 * `test/infra/functions/grants-used.test.ts` makes all functions do all of their work, and writes what they call.
 */
const CALLS: Readonly<Record<string, Readonly<Record<string, string>>>> = recordedCalls

/**
 * The calls of a function, each on its families of partitions. A call has one statement, since the keys of a batch, and those of a
 * transaction, must all match the patterns of the same one.
 */
export function tableGrants(
  { table }: Data,
  { id, uses: { updatesOnly = {} } = {} }: Pick<Worker, 'id' | 'uses'>,
): PolicyStatement[] {
  const resources = [table.tableArn]
  const groups = Map.groupBy(Object.entries(CALLS[id] ?? {}), ([, families]) => families)
  return [
    ...[...groups].map(([families, calls]) => {
      const conditions = onPartitions(families.split(', ').map(partitionsOf))
      return new PolicyStatement({
        actions: calls.map(([call]) => `dynamodb:${call}`),
        resources,
        conditions,
      })
    }),
    ...Object.entries(updatesOnly).map(([family, attributes]) => {
      const conditions = onAttributes(partitionsOf(family), attributes)
      return new PolicyStatement({ actions: ['dynamodb:UpdateItem'], resources, conditions })
    }),
  ]
}

/** Calls on every partition of the table, and of tables that were restored from it: their names begin with its name. */
export const wholeTableGrants = (
  { table }: Data,
  calls: NonNullable<Worker['uses']>['wholeTables'] = { inUse: [], restored: [] },
): PolicyStatement[] =>
  [
    { names: calls.inUse, resource: table.tableArn },
    { names: calls.restored, resource: `${table.tableArn}-*` },
  ].flatMap(({ names, resource }) =>
    names.length === 0
      ? []
      : [new PolicyStatement({ actions: names.map((name) => `dynamodb:${name}`), resources: [resource] })],
  )

const KEY_ATTRIBUTES = ['pk', 'sk']

/** Holds for an update of a partition whose expressions name no other attributes, and that returns no others. */
const onAttributes = (partition: string, attributes: readonly string[]) => ({
  'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [partition] },
  'ForAllValues:StringEquals': { 'dynamodb:Attributes': [...KEY_ATTRIBUTES, ...attributes] },
  StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
  Null: { 'dynamodb:LeadingKeys': 'false', 'dynamodb:Attributes': 'false' },
})

/** The use of the table's key through DynamoDB, which calls KMS on behalf of the caller. */
export const keyGrant = (scope: Construct, { key }: Data): PolicyStatement =>
  new PolicyStatement({
    actions: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${Stack.of(scope).region}.amazonaws.com` } },
  })

export const pushGrant = (queue: IQueue): PolicyStatement =>
  new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queue.queueArn] })

/** The grant that Lambda needs in a function's role to invoke it from a queue. */
export const consumeGrant = (queue: IQueue): PolicyStatement =>
  new PolicyStatement({
    actions: ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'],
    resources: [queue.queueArn],
  })

/** @throws Error for a table without a stream */
export function streamOf({ tableStreamArn }: ITable): string {
  if (!tableStreamArn) throw new Error('The table has no stream.')
  return tableStreamArn
}

/** The grants that Lambda needs in a function's role to invoke it from a table's stream, besides the table's key. */
export const streamGrants = (table: ITable): PolicyStatement[] => [
  new PolicyStatement({
    actions: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
    resources: [streamOf(table)],
  }),
  // Listing has no narrower resource.
  new PolicyStatement({ actions: ['dynamodb:ListStreams'], resources: ['*'] }),
]

/** Publishing to phone numbers, which have no ARN, but not to topics. */
export const smsGrant = (scope: Construct): PolicyStatement =>
  new PolicyStatement({
    actions: ['sns:Publish'],
    notResources: [`arn:${Stack.of(scope).partition}:sns:*:*:*`],
  })

/**
 * Sending from one address, with one configuration set. The identity that SES checks is not always the sender's address: it
 * may be its domain or a parent domain (SES Developer Guide, "Creating and verifying identities"), and in the sandbox,
 * where recipients must be verified too, SES checks their identities as well (github.com/aws/aws-sdk-js/issues/3641). So all
 * identities are allowed, and the condition holds the sender.
 */
export function emailGrant(scope: Construct, from: string, configurationSet: string): PolicyStatement {
  const arnOf = (resource: string, resourceName: string): string =>
    Stack.of(scope).formatArn({ service: 'ses', resource, resourceName })
  return new PolicyStatement({
    actions: ['ses:SendEmail'],
    resources: [arnOf('identity', '*'), arnOf('configuration-set', configurationSet)],
    conditions: { StringEquals: { 'ses:FromAddress': from } },
  })
}
