/** The synthesized stack on local engines, and a server that receives webhooks. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { plainClient } from '../support/dynamodb/plain-client.ts'
import { lighten, shortCut } from '../support/dynamodb/short-cut.ts'
import { RACING, runStack, startRealisticEngine } from '../support/local-stack.ts'
import { httpWorld } from './http-world.ts'
import type { Stage } from './stage.ts'

/** A third of DynamoDB's: hundreds of histories take an hour. */
const LATENCY = { transactionMs: 6, writeMs: 2, readMs: 2, rejectionMs: 2, jitter: 1 }
const FEEDBACK_DELAYS = { email: 30, nextEmail: 20, sms: 30 }
/** No limit rejects a request of a history. */
const LIMITS = { REQUESTS_PER_MINUTE: '100000', SMS_PER_DAY: '100000', EMAILS_PER_DAY: '100000' }

export async function openHttpStage(): Promise<Stage> {
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end())
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const address = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const clockOffset = new Float64Array(new SharedArrayBuffer(8))
  const { realistic, dynamodb } = await startRealisticEngine({ latency: LATENCY })
  const stack = await runStack({
    demo: false,
    dynamodb,
    clockOffset,
    allowedWebhookHost: address,
    environment: LIMITS,
    feedbackDelays: FEEDBACK_DELAYS,
    limits: RACING,
  })
  const client = lighten(documentClient(shortCut(realistic.execute)))
  const direct = plainClient(realistic.pass)
  const tableName = stack.outputs.TableName ?? ''
  const engine = { stack, dynamodb: realistic, client, direct, tableName, receiver: address, clockOffset }
  return {
    dynamodb: realistic,
    table: openTable(direct, tableName),
    begin: (random) => httpWorld(engine, random),
    [Symbol.asyncDispose]: async () => {
      client.destroy()
      await stack.close()
      receiver.closeAllConnections()
      receiver.close()
    },
  }
}
