import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { ReadyClinic } from '../../bin/demo/load.ts'
import { type LocalStack, type LocalStackOptions, startLocalStack } from '../../infra/local/stack.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { copyDemoData } from './demo-data.ts'
import { assertConforms } from './document-conformance.ts'
import { testClient } from './dynamodb/test-client.ts'
import { stackCalls } from './iam/stack-calls.ts'
import { runTool } from './operator-tool.ts'
import { sharedAssembly } from './shared-assembly.ts'

export type RunningStack = LocalStack & {
  table: Table
  clinics: ReadyClinic[]
  log: string[]
  /** The lines that functions have logged. */
  lines: Record<string, unknown>[]
  api: string
}

/**
 * Runs the synthesized stack on a free port, with the demo clinics unless `demo` is false. Closing it fails if IAM would have
 * denied a call of a function.
 */
export async function runStack({
  demo = true,
  ...options
}: { demo?: boolean } & Omit<Partial<LocalStackOptions>, 'dataDir'> = {}): Promise<RunningStack> {
  const log: string[] = []
  const lines: RunningStack['lines'] = []
  const data = demo ? await copyDemoData() : undefined
  const { synthesize = sharedAssembly } = options
  const calls = stackCalls(synthesize)
  const stack = await startLocalStack({
    port: 0,
    log: (line) => log.push(line),
    functionLog: (text) => {
      for (const line of text.split('\n')) if (line.startsWith('{')) lines.push(JSON.parse(line))
    },
    ...(data && { dataDir: data.folder }),
    ...options,
    ...calls.options,
  })
  calls.begin(stack)
  return {
    ...stack,
    table: openTable(testClient(stack.endpoints.dynamodb), stack.outputs.TableName ?? ''),
    clinics: data?.clinics ?? [],
    log,
    lines,
    api: `${stack.baseUrl}/api/developer/v1`,
    close: async () => {
      await stack.close()
      await data?.remove()
      await calls.check()
    },
  }
}

export type HttpResponse = {
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  body: any
}

/** Sends one request unchanged: repeated headers and unusual bytes reach the server as given. */
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
  // Every response must be documented.
  assertConforms(method, pathname, result.status, result.headers, result.body)
  return result
}

/** Sends a GET request with a credential of the demo, or with `pair`. */
export const get = (
  stack: RunningStack,
  path: string,
  pair = stack.clinics[0]?.credentials.full,
): Promise<HttpResponse> => send(`${stack.api}${path}`, { headers: { authorization: `Developer ${pair}` } })

/** Sends a POST request with a credential of the demo, or with `pair`. A string is sent as the raw body. */
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
  const { code, printed, errors } = await runTool(args, { PORT: new URL(stack.baseUrl).port })
  return { code, stdout: printed, stderr: errors, json: () => JSON.parse(printed) }
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
