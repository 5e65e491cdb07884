import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { loadDemo, type ReadyClinic } from '../../bin/demo/load.ts'
import { type LocalStack, type LocalStackOptions, startLocalStack } from '../../infra/local/stack.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { assertConforms } from './conformance.ts'

export type RunningStack = LocalStack & { table: Table; clinics: ReadyClinic[]; log: string[]; api: string }

/** The synthesized stack on a free port, with the demo clinics unless they are not wanted. */
export async function runStack({
  demo = true,
  seed,
  ...options
}: { demo?: boolean } & Partial<LocalStackOptions> = {}): Promise<RunningStack> {
  const log: string[] = []
  let clinics: ReadyClinic[] = []
  const stack = await startLocalStack({
    port: 0,
    log: (line) => log.push(line),
    seed: async (made) => {
      if (demo) clinics = await loadDemo(tableOf(made))
      await seed?.(made)
    },
    ...options,
  })
  return { ...stack, table: tableOf(stack), clinics, log, api: `${stack.baseUrl}/api/developer/v1` }
}

function tableOf({ endpoints, outputs }: Pick<LocalStack, 'endpoints' | 'outputs'>): Table {
  const client = new DynamoDBClient({
    endpoint: endpoints.dynamodb,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  return openTable(DynamoDBDocumentClient.from(client), outputs.TableName ?? '')
}

export type HttpResponse = {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  body: any
}

/** One request as it stands: header lists and odd bytes reach the server untouched. */
export async function send(
  url: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string | string[]>; body?: string } = {},
): Promise<HttpResponse> {
  const sent = request(url, { method, headers, agent: false })
  sent.end(body)
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const piece of response) text += piece
  const result = {
    status: response.statusCode,
    headers: response.headers,
    text,
    body: text === '' ? null : JSON.parse(text),
  }
  const { pathname } = new URL(url)
  // Whatever a test asks, the document must have the answer.
  assertConforms(method, pathname, result.status, result.headers, result.body)
  return result
}

/** A GET with a demo credential. */
export const get = (
  stack: RunningStack,
  path: string,
  pair = stack.clinics[0]?.credentials.full,
): Promise<HttpResponse> => send(`${stack.api}${path}`, { headers: { authorization: `Developer ${pair}` } })

/** A POST with a demo credential, or the pair given; a body that is text is sent as it stands. */
export function post(
  stack: RunningStack,
  path: string,
  body: object | string,
  {
    pair = stack.clinics[0]?.credentials.full,
    key,
    headers = {},
  }: { pair?: string; key?: string; headers?: Record<string, string> } = {},
): Promise<HttpResponse> {
  return send(`${stack.api}${path}`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      authorization: `Developer ${pair}`,
      ...(key !== undefined && { 'idempotency-key': key }),
      ...headers,
    },
  })
}

/** Runs the operator tool on the stack, as a person at a terminal would. */
export async function clinicTool(stack: LocalStack, ...args: string[]) {
  const { port } = new URL(stack.baseUrl)
  const child = spawn(process.execPath, ['bin/clinic.ts', ...args], { env: { ...process.env, PORT: port } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  return { code: code as number, stdout, stderr, json: () => JSON.parse(stdout) }
}
