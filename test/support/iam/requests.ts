import { ACCOUNT_ID } from '../../../infra/local/template/physical-names.ts'
import { type DeployedRoles, REGION, VIA_DYNAMODB } from './deployed-roles.ts'

/** A request that IAM decides on: an action on a resource, with the keys that conditions refer to. */
export type IamRequest = {
  readonly action: string
  /** `*` for what has no ARN. */
  readonly resource: string
  readonly context: Readonly<Record<string, string | string[]>>
}

/** A call of the SDK, with the input of its operation. DynamoDB's values may be plain or typed (`{ S: … }`). */
export type SdkCall = { readonly service: string; readonly operation: string; readonly input: any }

const arn = (service: string, resource: string): string =>
  `arn:aws:${service}:${REGION}:${ACCOUNT_ID}:${resource}`

/**
 * The requests that IAM decides on for a call.
 * @throws Error for a call that is not known here
 */
export function iamRequests(
  { service, operation, input }: SdkCall,
  roles: Pick<DeployedRoles, 'keyOfTable'>,
): IamRequest[] {
  if (service === 'dynamodb') return withKey(dynamoDb(operation, input), roles)
  const requests = OTHERS[`${service} ${operation}`]?.(input)
  if (!requests) throw new Error(`no rule says what IAM decides on for ${service} ${operation}`)
  return requests
}

const OTHERS: Record<string, (input: any) => IamRequest[]> = {
  'sqs SendMessage': ({ QueueUrl }) => [send(QueueUrl)],
  // A batch needs the same permission as a single message.
  'sqs SendMessageBatch': ({ QueueUrl }) => [send(QueueUrl)],
  // A phone number has no ARN.
  'sns Publish': ({ TopicArn, TargetArn }) => [
    { action: 'sns:Publish', resource: TopicArn ?? TargetArn ?? '*', context: {} },
  ],
  'ses SendEmail': sendEmail,
}

const send = (queueUrl: string): IamRequest => ({
  action: 'sqs:SendMessage',
  resource: arn('sqs', queueUrl.split('/').at(-1) ?? ''),
  context: {},
})

type Email = {
  readonly FromEmailAddress: string
  readonly Destination: { readonly ToAddresses: readonly string[] }
  readonly ConfigurationSetName?: string
}

/**
 * SES decides on the verified identity of the sender, which is the address, its domain or a parent domain; in the sandbox
 * also on the identities of the recipients, which must be verified there; and on the configuration set. All must be allowed, since
 * the template says neither which identities are verified nor whether the account is in the sandbox.
 */
function sendEmail({ FromEmailAddress, Destination, ConfigurationSetName }: Email): IamRequest[] {
  const from = /<([^>]+)>$/.exec(FromEmailAddress)?.[1] ?? FromEmailAddress
  const identities = [from, ...Destination.ToAddresses].flatMap(identitiesOf)
  const resources = [
    ...identities.map((identity) => `identity/${identity}`),
    ...(ConfigurationSetName ? [`configuration-set/${ConfigurationSetName}`] : []),
  ]
  return resources.map((resource) => ({
    action: 'ses:SendEmail',
    resource: arn('ses', resource),
    context: { 'ses:FromAddress': from, 'ses:Recipients': [...Destination.ToAddresses] },
  }))
}

/** `a@mail.clinic.example`: the address, `mail.clinic.example` and `clinic.example`. */
function identitiesOf(address: string): string[] {
  const labels = address.slice(address.indexOf('@') + 1).split('.')
  const domains = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'))
  return [address, ...domains]
}

const SINGLE = ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem', 'Query']

function dynamoDb(operation: string, input: any): IamRequest[] {
  if (SINGLE.includes(operation)) return [onTable(operation, input.TableName, [input])]
  if (operation === 'BatchGetItem' || operation === 'BatchWriteItem')
    return Object.entries<any>(input.RequestItems).map(([table, items]) =>
      onTable(operation, table, operation === 'BatchGetItem' ? items.Keys.map(asKey) : items.map(writtenKey)),
    )
  if (operation === 'TransactWriteItems' || operation === 'TransactGetItems')
    return transaction(input.TransactItems)
  if (operation === 'Scan' || operation === 'DescribeTable') return [withoutKeys(operation, input.TableName)]
  throw new Error(`no rule says what IAM decides on for dynamodb ${operation}`)
}

/** The action of an item of a transaction. The transaction itself has no permission of its own. */
const ITEM_ACTIONS: Record<string, string> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
}

/** One request for each action, with the keys of all its items: `ForAllValues` conditions hold for all of them or for none. */
function transaction(items: readonly object[]): IamRequest[] {
  const parts = items.flatMap((item) =>
    Object.entries(item).map(([kind, part]) => ({ action: ITEM_ACTIONS[kind] ?? kind, part })),
  )
  const groups = Map.groupBy(parts, ({ action, part }) => JSON.stringify([action, part.TableName]))
  return [...groups].map(([group, members]) => {
    const [action, table] = JSON.parse(group) as [string, string]
    return onTable(
      action,
      table,
      members.map(({ part }) => part),
    )
  })
}

const withoutKeys = (operation: string, table: string): IamRequest => ({
  action: `dynamodb:${operation}`,
  resource: arn('dynamodb', `table/${table}`),
  context: {},
})

const onTable = (operation: string, table: string, parts: object[]): IamRequest => ({
  ...withoutKeys(operation, table),
  context: {
    'dynamodb:LeadingKeys': parts.map(partitionOf),
    ...(operation === 'UpdateItem' && updated(parts)),
  },
})

/** The attributes that updates access: those of their keys and expressions. Only policies on updates have conditions on these. */
const updated = (parts: any[]) => ({
  'dynamodb:Attributes': [...new Set(parts.flatMap(attributesOf))],
  'dynamodb:ReturnValues': parts[0].ReturnValues ?? 'NONE',
})

const KEYWORDS = /^(SET|REMOVE|ADD|DELETE|AND|OR|NOT|BETWEEN|IN)$/i

/** The top-level attributes in the key and in the expressions of an update. */
function attributesOf({
  Key,
  UpdateExpression,
  ConditionExpression = '',
  ExpressionAttributeNames,
}: any): string[] {
  // Without values, functions, and what is within an attribute.
  const names = `${UpdateExpression} ${ConditionExpression}`
    .replace(/:\w+|\.[\w.#]+|\w+ *(?=\()/g, ' ')
    .match(/#?[a-z_]\w*/gi)
  const attributes = (names ?? []).filter((name) => !KEYWORDS.test(name))
  return [...Object.keys(Key), ...attributes.map((name) => ExpressionAttributeNames?.[name] ?? name)]
}

const text = (value: any): string => (typeof value === 'string' ? value : value.S)
const asKey = (Key: any) => ({ Key })
const writtenKey = ({ PutRequest, DeleteRequest }: any) => asKey(PutRequest?.Item ?? DeleteRequest.Key)

function partitionOf({
  Key,
  Item,
  KeyConditionExpression = '',
  ExpressionAttributeValues = {},
}: any): string {
  if (Key ?? Item) return text((Key ?? Item).pk)
  const name = /^pk = (:\w+)/.exec(KeyConditionExpression)?.[1]
  if (!name) throw new Error(`no partition key in ${KeyConditionExpression}`)
  return text(ExpressionAttributeValues[name])
}

/**
 * The permissions that a principal needs for a table with a customer managed key, through DynamoDB (DynamoDB Developer
 * Guide, "DynamoDB encryption at rest usage notes": authorizing use of the key).
 */
const KEY_ACTIONS = [
  ...['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'GenerateDataKeyWithoutPlaintext'],
  ...['ReEncryptFrom', 'ReEncryptTo'],
].map((name) => `kms:${name}`)

function withKey(requests: IamRequest[], { keyOfTable }: Pick<DeployedRoles, 'keyOfTable'>): IamRequest[] {
  const keys = new Set(requests.flatMap(({ resource }) => keyOfTable(resource) ?? []))
  const uses = [...keys].flatMap((resource) =>
    KEY_ACTIONS.map((action) => ({ action, resource, context: { 'kms:ViaService': VIA_DYNAMODB } })),
  )
  return [...requests, ...uses]
}
