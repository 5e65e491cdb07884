/** The handler that endpoints are compared with: the SDK with its defaults, and the calls of the table that CALLS lists. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { DocumentCalls } from './table-proxy.ts'

const COMMANDS = {
  GetItem: GetCommand,
  BatchGetItem: BatchGetCommand,
  Query: QueryCommand,
  UpdateItem: UpdateCommand,
  TransactGetItems: TransactGetCommand,
  TransactWriteItems: TransactWriteCommand,
} as const

/** The first ones are those of the start of a function. */
let calls: DocumentCalls = JSON.parse(process.env.CALLS ?? '')
const [, ...callsOfRequest] = calls
const client = DynamoDBDocumentClient.from(new DynamoDBClient())

export async function handler() {
  const replies: unknown[] = []
  for (const sideBySide of calls) {
    const sent = sideBySide.map(({ name, input }) =>
      client.send(new COMMANDS[name as keyof typeof COMMANDS](input as never) as never),
    )
    replies.push(...(await Promise.all(sent)))
  }
  calls = callsOfRequest
  return { statusCode: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(replies) }
}
