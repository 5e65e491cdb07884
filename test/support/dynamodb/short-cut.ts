/**
 * Settings of the SDK's client for campaigns of many calls: requests are not signed, and reach the proxy or the engine
 * without a connection of the client's own. Serialization, retries and errors are the SDK's.
 */
import type { DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type DataOperation, dataOperation, type Reply } from '../realistic-dynamodb/call.ts'

/** Executes a data operation of DynamoDB's JSON protocol. */
export type Execute = (operation: DataOperation, body: string) => Promise<Reply>

type Request = { readonly headers: Record<string, string>; readonly body: Uint8Array }

/** Middleware that only adds headers or log lines. */
const UNUSED = [
  'loggerMiddleware',
  'contentLengthMiddleware',
  'getUserAgentMiddleware',
  'hostHeaderMiddleware',
  'recursionDetectionMiddleware',
]

/** Leaves out what adds headers that nothing here reads. */
export function lighten(client: DynamoDBDocumentClient): DynamoDBDocumentClient {
  for (const name of UNUSED) client.middlewareStack.remove(name)
  return client
}

export const shortCut = (execute: Execute): DynamoDBClientConfig =>
  ({
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    signer: { sign: async (request: unknown) => request },
    endpointProvider: () => ENDPOINT,
    requestHandler: {
      handle: async ({ headers, body }: Request, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
        const operation = dataOperation(headers['x-amz-target'])
        if (!operation) throw new Error(`${headers['x-amz-target']} is not a data operation`)
        const reply = await unlessAborted(abortSignal, () => execute(operation, DECODER.decode(body)))
        // node:http reports a connection that is cut before the response in this way.
        if (reply === 'disconnect') throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
        return { response: { statusCode: reply.status, headers: HEADERS, body: Buffer.from(reply.body) } }
      },
    },
  }) as unknown as DynamoDBClientConfig

const DECODER = new TextDecoder()
const ENDPOINT = { url: new URL('http://127.0.0.1:1/') }
const HEADERS = { 'content-type': 'application/x-amz-json-1.0' }

/** Ends a call whose signal is aborted as the SDK does. */
export async function unlessAborted<T>(signal: AbortSignal | undefined, call: () => Promise<T>): Promise<T> {
  if (!signal) return call()
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(Object.assign(new Error('Request aborted'), { name: 'AbortError' }))
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  try {
    return await Promise.race([promise, signal.aborted ? promise : call()])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
