#!/usr/bin/env node
/** Serves the operations of the Clinic Developer API as tools of the Model Context Protocol, over stdin and stdout. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type CallToolResult, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { ApiError, NoResponseError } from '../typescript/errors.ts'
import { type SendRequest, transport } from '../typescript/transport.ts'
import type { Generated, Place, Tool } from './tools.ts'

type Account = { scopes: string[]; clinic: { name: string; timezone: string } }

const { version, tools, errorTexts }: Generated = JSON.parse(
  readFileSync(new URL('tools.json', import.meta.url), 'utf8'),
)

/** The scopes of operations for the clinic's own system, of which an assistant has no tools. */
const CLINIC_SYSTEM_SCOPES = new Set([
  'schedule.read',
  'schedule.write',
  'catalogue.write',
  'invoice.write',
  'sync.write',
])

try {
  await start()
} catch (error) {
  process.stderr.write(`clinic-developer-mcp: ${failureText(error as Error)}\n`)
  process.exitCode = 1
}

async function start(): Promise<void> {
  const { values } = parseArgs({ options: { 'allow-writes': { type: 'boolean', default: false } } })
  const { CLINIC_API: baseUrl, CLINIC_CREDENTIAL: credential } = process.env
  if (!baseUrl || !credential) throw new Error('set CLINIC_API and CLINIC_CREDENTIAL in the environment')
  // Most hosts wait a minute for a result. The assistant decides whether to repeat a call, with its idempotency key.
  const send = transport({ baseUrl, credential, retries: 0, timeout: 50_000 })
  const { body } = await send({ method: 'GET', path: '/me' })
  const { scopes, clinic } = (body as { data: Account }).data
  const allowed = tools.filter(
    (tool) =>
      !tool.scopes.some((scope) => CLINIC_SYSTEM_SCOPES.has(scope)) &&
      (tool.annotations.readOnlyHint || values['allow-writes']) &&
      (tool.scopes.length === 0 || tool.scopes.some((scope) => scopes.includes(scope))),
  )
  const instructions = `Records of the clinic ${clinic.name}. Dates and times are in its time zone, ${clinic.timezone}, unless they end in Z.`
  serveStdio(() => {
    const server = new McpServer({ name: 'clinic-developer-mcp', version }, { instructions })
    for (const tool of allowed) register(server, tool, send)
    return server
  })
}

function register(server: McpServer, tool: Tool, send: SendRequest): void {
  const { name, title, description, inputSchema: schema, annotations } = tool
  const inputSchema = fromJsonSchema<Record<string, unknown>>(schema)
  server.registerTool(name, { title, description, inputSchema, annotations }, (input, { mcpReq }) =>
    call(tool, input, send, mcpReq.signal),
  )
}

async function call(
  { method, path, places, hasBody, isList }: Tool,
  input: Record<string, unknown>,
  send: SendRequest,
  signal: AbortSignal,
): Promise<CallToolResult> {
  // In the order of the schema: a body repeated with its idempotency key must be the same, byte by byte.
  const at = (place: Place) =>
    Object.fromEntries(
      Object.keys(places)
        .filter((name) => places[name] === place && Object.hasOwn(input, name))
        .map((name) => [name, input[name]]),
    )
  const idempotencyKey = String(input.idempotency_key ?? randomUUID())
  try {
    const { body = {} } = await send({
      method,
      path,
      ids: at('path'),
      query: at('query'),
      body: hasBody ? at('body') : undefined,
      isList,
      options: { signal, idempotencyKey },
    })
    return {
      structuredContent: body as Record<string, unknown>,
      content: [{ type: 'text', text: JSON.stringify(body) }],
    }
  } catch (error) {
    const key = 'idempotency_key' in places ? idempotencyKey : undefined
    return { isError: true, content: [{ type: 'text', text: failureText(error as Error, key) }] }
  }
}

/** What happened, what to do, and what the texts of errors refer to. */
function failureText(error: Error, idempotencyKey?: string): string {
  const response = error instanceof ApiError ? error : undefined
  const isUnclear =
    (error instanceof ApiError || error instanceof NoResponseError) && error.mayHaveTakenEffect
  const mayRepeat = isUnclear || response?.retryAfter != null
  return [
    (response && errorTexts[response.key]) ?? error.message,
    isUnclear &&
      `The request may have taken effect. ${idempotencyKey ? 'Repeat it with this key.' : 'Check before you repeat it.'}`,
    response && response.details.length > 0 && `details: ${JSON.stringify(response.details)}`,
    response && response.detailsOmitted > 0 && `details_omitted: ${response.detailsOmitted}`,
    response?.retryAfter != null && `retry-after: ${response.retryAfter}`,
    mayRepeat && idempotencyKey && `idempotency_key: ${idempotencyKey}`,
    response?.requestId && `x-request-id: ${response.requestId}`,
  ]
    .filter(Boolean)
    .join('\n')
}
