/**
 * A client without the SDK, for calls that meet no faults: about a fifth of the SDK's time. It throws an error for what it does
 * not convert as the SDK does.
 */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { DataOperation } from '../realistic-dynamodb/call.ts'
import { type Execute, unlessAborted } from './short-cut.ts'

type Values = Record<string, unknown>

/** Members of requests and responses that hold attributes by name, or lists of such. */
const ATTRIBUTES = new Set([
  'Key',
  'Keys',
  'Item',
  'Items',
  'Attributes',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
  'LastEvaluatedKey',
])

export function plainClient(execute: Execute): DynamoDBDocumentClient {
  const send = async (
    command: { input: Values; constructor: { name: string } },
    { abortSignal }: { abortSignal?: AbortSignal } = {},
  ) => {
    const { name } = command.constructor
    const operation = OPERATIONS[name]
    if (!operation) throw new Error(`${name} is not supported`)
    const reply = await unlessAborted(abortSignal, () =>
      execute(operation, JSON.stringify(convert(command.input, encoded))),
    )
    if (reply === 'disconnect') throw new Error('the engine cannot be reached')
    const body = JSON.parse(reply.body)
    if (reply.status !== 200) throw errorOf(reply.status, body)
    const { Responses, ...rest } = body
    if (Array.isArray(Responses)) return convert(body, decoded)
    return { ...(convert(rest, decoded) as Values), ...(Responses && { Responses: decodedLists(Responses) }) }
  }
  return { send } as unknown as DynamoDBDocumentClient
}

const OPERATIONS: Readonly<Record<string, DataOperation>> = {
  GetCommand: 'GetItem',
  TransactGetCommand: 'TransactGetItems',
  BatchGetCommand: 'BatchGetItem',
  QueryCommand: 'Query',
  ScanCommand: 'Scan',
  UpdateCommand: 'UpdateItem',
  BatchWriteCommand: 'BatchWriteItem',
  TransactWriteCommand: 'TransactWriteItems',
}

function errorOf(status: number, { __type, message, Message, ...members }: Values): Error {
  const name = String(__type).split('#').at(-1)
  const error = new Error(String(message ?? Message))
  return Object.assign(error, members, { name, $metadata: { httpStatusCode: status } })
}

/** The input of a document client's command, from that of a call of the table. */
export const documentInput = (body: string): unknown => convert(JSON.parse(body), decoded)

/** Converts the attributes of a request or a response, at whatever depth. */
function convert(part: unknown, value: (value: any) => unknown): unknown {
  if (Array.isArray(part)) return part.map((one) => convert(one, value))
  if (typeof part !== 'object' || part === null) return part
  return mapped(part as Values, (member, name) => {
    if (!ATTRIBUTES.has(name)) return convert(member, value)
    return Array.isArray(member)
      ? member.map((one) => mapped(one, value))
      : member && mapped(member as Values, value)
  })
}

const decodedLists = (lists: Record<string, Values[]>): Values =>
  mapped(lists, (items) => (items as Values[]).map((item) => mapped(item, decoded)))

function mapped(record: Values, change: (value: unknown, name: string) => unknown): Values {
  const result: Values = {}
  for (const name of Object.keys(record)) {
    const value = record[name]
    if (value !== undefined) result[name] = change(value, name)
  }
  return result
}

function encoded(value: unknown): Values {
  if (typeof value === 'string') return { S: value }
  if (typeof value === 'number') return { N: String(exact(value)) }
  if (typeof value === 'boolean') return { BOOL: value }
  if (value === null) return { NULL: true }
  if (value instanceof Uint8Array) return { B: Buffer.from(value).toString('base64') }
  if (value instanceof Set) {
    const members = [...value]
    return typeof members[0] === 'number' ? { NS: members.map(String) } : { SS: members }
  }
  if (Array.isArray(value)) return { L: value.filter((one) => one !== undefined).map(encoded) }
  if (!isPlainObject(value)) throw new TypeError(`a value of type ${typeof value} is not supported`)
  return { M: mapped(value, encoded) }
}

const isPlainObject = (value: unknown): value is Values =>
  typeof value === 'object' &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** @throws RangeError for a number that has lost digits, or has none */
function exact(value: number): number {
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
    throw new RangeError(`${value} cannot be stored exactly`)
  return value
}

function decoded(value: any): unknown {
  if (value.S !== undefined) return value.S
  if (value.N !== undefined) return exact(Number(value.N))
  if (value.BOOL !== undefined) return value.BOOL
  if (value.NULL) return null
  if (value.B !== undefined) return new Uint8Array(Buffer.from(value.B, 'base64'))
  if (value.SS) return new Set(value.SS)
  if (value.NS) return new Set(value.NS.map(Number))
  if (value.L) return value.L.map(decoded)
  return mapped(value.M, decoded)
}
