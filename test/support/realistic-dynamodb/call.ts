/** DynamoDB's JSON protocol, as far as the proxy reads it. */

/** An attribute value or an item: `{ S: 'text' }`, `{ pk: { S: 'text' } }`. */
export type AttributeValue = Readonly<Record<string, unknown>>
export type AttributeMap = Readonly<Record<string, AttributeValue>>

const DATA_OPERATIONS = [
  'GetItem',
  'BatchGetItem',
  'Query',
  'Scan',
  'TransactGetItems',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'BatchWriteItem',
  'TransactWriteItems',
] as const

/** The operations that get latency, conflicts and faults. */
export type DataOperation = (typeof DATA_OPERATIONS)[number]

const KNOWN_OPERATIONS: ReadonlySet<string> = new Set(DATA_OPERATIONS)

/** An item that a call names. */
export type ItemReference = {
  readonly table: string
  /** The values of partition key and sort key, separated by a vertical bar. */
  readonly key: string
}

/** One request for a {@link DataOperation}. */
export type EngineCall = {
  readonly operation: DataOperation
  /** The request's parameters in the JSON protocol. */
  readonly input: any
  /** The items, in the order of the request. A Query has one reference, with its partition key and no sort key. */
  readonly items: readonly ItemReference[]
}

/** The operation of an `x-amz-target` header, or undefined when the request is only passed on. */
export function dataOperation(target: string | undefined): DataOperation | undefined {
  const [api, operation = ''] = (target ?? '').split('.')
  return api === 'DynamoDB_20120810' && KNOWN_OPERATIONS.has(operation)
    ? (operation as DataOperation)
    : undefined
}

/** The reply of the proxy: a response, or a connection that is cut. */
export type Reply = { readonly status: number; readonly body: string } | 'disconnect'

export const success = (body: object): Reply => ({ status: 200, body: JSON.stringify(body) })

export const isSuccess = (reply: Reply): boolean => reply !== 'disconnect' && reply.status === 200

const NAMESPACES: Readonly<Record<string, string>> = {
  ThrottlingException: 'com.amazon.coral.availability',
}

/** An error as DynamoDB writes it. The service's model spells the member `Message` for some errors, so both are sent. */
export function errorReply(
  type: string,
  message: string,
  { status = 400, ...members }: ErrorOptions = {},
): Reply {
  const __type = `${NAMESPACES[type] ?? 'com.amazonaws.dynamodb.v20120810'}#${type}`
  return { status, body: JSON.stringify({ __type, message, Message: message, ...members }) }
}

type ErrorOptions = { readonly status?: number; readonly CancellationReasons?: readonly CancellationReason[] }
type CancellationReason = { readonly Code: string; readonly Message?: string }

/** A cancelled transaction: `code` at each of the positions for which `isAffected` holds, `None` at the others. */
export function cancellation(
  count: number,
  isAffected: (index: number) => boolean,
  code: keyof typeof REASON_MESSAGES,
): Reply {
  const CancellationReasons = Array.from({ length: count }, (_, index) =>
    isAffected(index) ? { Code: code, Message: REASON_MESSAGES[code] } : { Code: 'None' },
  )
  const codes = CancellationReasons.map(({ Code }) => Code).join(', ')
  return errorReply(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons },
  )
}

export const CONFLICT_MESSAGE = 'Transaction is ongoing for the item'

const REASON_MESSAGES = {
  TransactionConflict: CONFLICT_MESSAGE,
  ThrottlingError:
    'Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly.',
} as const
