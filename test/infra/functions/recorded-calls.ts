/** The calls that handlers make in this process: to DynamoDB on the real engine, to other services on mocks. */
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient, UpdateCommand, type UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import { vi } from 'vitest'
import type { SdkCall } from '../../support/iam/requests.ts'
import { mockClient } from '../../support/mock-client.ts'

export const sns = mockClient(SNSClient)
export const sqs = mockClient(SQSClient)
export const ses = mockClient(SESv2Client)

type Command = { constructor: { name: string }; input: object }

/** The operations of commands of the document client that are named otherwise. */
const OPERATIONS: Record<string, string> = {
  Get: 'GetItem',
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  BatchGet: 'BatchGetItem',
  BatchWrite: 'BatchWriteItem',
  TransactGet: 'TransactGetItems',
  TransactWrite: 'TransactWriteItems',
}

function callOf(service: string, command: Command): SdkCall {
  const name = command.constructor.name.replace(/Command$/, '')
  const operation = service === 'dynamodb' ? (OPERATIONS[name] ?? name) : name
  return { service, operation, input: command.input }
}

/** The kind and the family of each item of a transaction, by which its like is recognized. */
const shapeOf = (items: object[]): string =>
  JSON.stringify(
    items.flatMap((item) =>
      Object.entries(item).map(
        ([kind, { Key, Item }]) => `${kind} ${(Key ?? Item).pk.replace(/[\w-]{22,}|\d+/g, '')}`,
      ),
    ),
  )

/** Makes the first transaction of each shape collide with another writer's, so that it is attempted again. */
function collideOnce(): (command: Command) => void {
  const collided = new Set<string>()
  return ({ input }) => {
    const { TransactItems = [] } = input as { TransactItems?: object[] }
    const shape = shapeOf(TransactItems)
    if (TransactItems.length === 0 || collided.has(shape)) return
    collided.add(shape)
    throw new TransactionCanceledException({
      message: 'canceled',
      $metadata: {},
      CancellationReasons: TransactItems.map(() => ({ Code: 'TransactionConflict' })),
    })
  }
}

/** An endpoint succeeds for the first time just before a delivery is recorded that waits for it. */
async function succeedFirst({ input }: Command, send: (command: UpdateCommand) => Promise<unknown>) {
  const { TableName, Key, UpdateExpression } = input as UpdateCommandInput
  if (UpdateExpression !== 'SET waiting = :at') return
  const values = { UpdateExpression: 'SET proven = :yes', ExpressionAttributeValues: { ':yes': true } }
  await send(new UpdateCommand({ TableName, Key, ...values }))
}

/** Every call that `act` makes. The first transaction of each shape collides with another writer's. */
export async function recordCalls(act: () => Promise<void>): Promise<SdkCall[]> {
  const original = DynamoDBDocumentClient.prototype.send
  const collide = collideOnce()
  const send = vi.spyOn(DynamoDBDocumentClient.prototype, 'send')
  send.mockImplementation(async function (this: DynamoDBDocumentClient, ...parameters: unknown[]) {
    collide(parameters[0] as Command)
    await succeedFirst(
      parameters[0] as Command,
      (command) => original.apply(this, [command] as never) as unknown as Promise<unknown>,
    )
    return original.apply(this, parameters as never)
  } as never)
  const mocks = Object.entries({ sns, sqs, ses })
  const before = mocks.map(([, mock]) => mock.calls().length)
  await act()
  const ofTable = send.mock.calls.map(([command]) => callOf('dynamodb', command as Command))
  send.mockRestore()
  const others = mocks.flatMap(([service, mock], at) =>
    mock
      .calls()
      .slice(before[at])
      .map(({ args }) => callOf(service, args[0] as unknown as Command)),
  )
  return [...ofTable, ...others]
}
