import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { runOperatorTool } from '../../bin/clinic/program.ts'
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
  const content = await text(response)
  const result = {
    status: response.statusCode,
    headers: response.headers,
    text: content,
    body: content === '' ? null : JSON.parse(content),
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

/** The outcome of one command of the operator tool. */
export type CommandResult = { code: number; stdout: string; stderr: string; json: () => any }

/** Runs a command of the operator tool on the stack, in this process. */
export async function runClinicTool(stack: LocalStack, ...args: string[]): Promise<CommandResult> {
  let stdout = ''
  let stderr = ''
  const code = await runOperatorTool(args, {
    env: { PORT: new URL(stack.baseUrl).port },
    writeOut: (text) => {
      stdout += text
    },
    writeError: (text) => {
      stderr += text
    },
  })
  return { code, stdout, stderr, json: () => JSON.parse(stdout) }
}

/** Runs a command of the operator tool on the stack as a process of its own, like a person at a terminal. */
export async function spawnClinicTool(stack: LocalStack, ...args: string[]): Promise<CommandResult> {
  const { port } = new URL(stack.baseUrl)
  const child = spawn(process.execPath, ['bin/clinic.ts', ...args], { env: { ...process.env, PORT: port } })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ])
  return { code, stdout, stderr, json: () => JSON.parse(stdout) }
}
