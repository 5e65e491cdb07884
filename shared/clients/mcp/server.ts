#!/usr/bin/env node
/** Serves the operations of the Clinic Developer API as tools of the Model Context Protocol, over stdin and stdout. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import {
  type CallToolResult,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
  Server,
} from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { ApiError, NoResponseError } from '../typescript/errors.ts'
import { type SendRequest, transport } from '../typescript/transport.ts'
import { meantArguments } from './arguments.ts'
import { type AssistantTool, DEFAULT_LIMIT, type Generated } from './assistant-tools.ts'
import { type Body, resultText } from './result-text.ts'
import type { Place } from './tools.ts'

type Account = { scopes: string[]; clinic: { name: string; timezone: string } }

/** How long a host waits for the name and the time zone of the clinic, in milliseconds. */
const MAX_WAIT_FOR_CLINIC = 2_000

const { version, tools, errorTexts }: Generated = JSON.parse(
  readFileSync(new URL('tools.json', import.meta.url), 'utf8'),
)

try {
  start()
} catch (error) {
  fail(error as Error)
}

function fail(error: Error): void {
  process.stderr.write(`clinic-developer-mcp: ${failureText(error)}\n`)
  process.exit(1)
}

function start(): void {
  const { values: options } = parseArgs({
    options: {
      'allow-writes': { type: 'boolean', default: false },
      tools: { type: 'string' },
      full: { type: 'boolean', default: false },
    },
  })
  const { CLINIC_API: baseUrl, CLINIC_CREDENTIAL: credential } = process.env
  if (!baseUrl || !credential) throw new Error('set CLINIC_API and CLINIC_CREDENTIAL in the environment')
  const groups = groupsOf(options.tools)
  const account = transport({ baseUrl, credential, timeout: 10_000 })<{ data: Account }>({
    method: 'GET',
    path: '/me',
  }).then(({ body }) => body.data)
  account.catch(fail)
  const offered = account.then(({ scopes }) =>
    tools.filter(
      (tool) =>
        (groups ? groups.includes(tool.group) : tool.isDefault) &&
        (tool.annotations.readOnlyHint || options['allow-writes']) &&
        (tool.scopes.length === 0 || tool.scopes.some((scope) => scopes.includes(scope))),
    ),
  )
  // Most hosts wait a minute for a result. The assistant decides whether to repeat a call, with its idempotency key.
  const send = transport({ baseUrl, credential, retries: 0, timeout: 50_000 })
  serveStdio(async () => {
    const known = await Promise.race([account, sleep(MAX_WAIT_FOR_CLINIC, undefined, { ref: false })])
    const server = new Server(
      { name: 'clinic-developer-mcp', version },
      { capabilities: { tools: {} }, instructions: instructionsOf(known?.clinic) },
    )
    server.setRequestHandler('tools/list', async () => ({
      tools: (await offered).map(({ name, title, description, inputSchema, annotations }) => ({
        name,
        title,
        description,
        inputSchema: inputSchema as object as ListedTool['inputSchema'],
        annotations,
      })),
    }))
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const tool = (await offered).find(({ name }) => name === params.name)
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Tool ${params.name} not found`)
      return call(tool, params.arguments ?? {}, send, mcpReq.signal, options.full)
    })
    return server
  })
}

/** The names of `--tools patients,appointments`. */
function groupsOf(option: string | undefined): string[] | undefined {
  const known = [...new Set(tools.map(({ group }) => group))]
  const groups = option?.split(',').map((name) => name.trim())
  const unknown = groups?.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`--tools has no group ${unknown}: ${known.join(', ')}`)
  return groups
}

/** The day is in UTC if the clinic is not known yet. */
function instructionsOf(clinic: Account['clinic'] | undefined): string {
  const zone = clinic?.timezone ?? 'UTC'
  const today = new Date().toLocaleDateString('en-CA', { timeZone: zone })
  const weekday = new Date().toLocaleDateString('en', { timeZone: zone, weekday: 'long' })
  const records = clinic
    ? `Records of the clinic ${clinic.name}. Dates and times are in its time zone, ${zone}, unless they end in Z.`
    : 'Records of a clinic. Dates and times are in its time zone, which get-clinic returns.'
  return `${records} This session began on ${weekday}, ${today} (${zone}).`
}

async function call(
  tool: AssistantTool,
  given: Record<string, unknown>,
  send: SendRequest,
  signal: AbortSignal,
  isFull: boolean,
): Promise<CallToolResult> {
  const { name, method, path, places, hasBody, isList } = tool
  let idempotencyKey: string | undefined
  try {
    const input: Record<string, unknown> = {
      ...('limit' in places && { limit: DEFAULT_LIMIT }),
      ...meantArguments(tool.inputSchema, given),
    }
    // The API rejects an unknown argument, and suggests a known one.
    const placeOf = (field: string) => places[field] ?? (hasBody ? 'body' : 'query')
    // In the order of the schema: a body repeated with its idempotency key must be the same, byte by byte.
    const order = [...new Set([...Object.keys(places), ...Object.keys(input)])]
    const at = (place: Place) =>
      Object.fromEntries(
        order
          .filter((field) => placeOf(field) === place && Object.hasOwn(input, field))
          .map((field) => [field, input[field]]),
      )
    if ('idempotency_key' in places) idempotencyKey = String(at('header').idempotency_key ?? randomUUID())
    const options = { signal, ...(idempotencyKey && { idempotencyKey }) }
    const body = hasBody ? at('body') : undefined
    const response = await send<Body>({
      method,
      path,
      ids: at('path'),
      query: at('query'),
      body,
      isList,
      options,
    })
    const result = response.body ?? {}
    const hasNoSlots = name === 'get-availability' && Array.isArray(result.data) && result.data.length === 0
    const reason = hasNoSlots ? await inactiveText(input, send) : ''
    const text = isFull ? JSON.stringify(result) : reason + resultText(result)
    return { structuredContent: result, content: [{ type: 'text', text }] }
  } catch (error) {
    const text = failureText(error as Error, idempotencyKey, { tool, given })
    return { isError: true, content: [{ type: 'text', text }] }
  }
}

/** Which of the records that were asked for are inactive: they have no free slots. */
async function inactiveText(query: Record<string, unknown>, send: SendRequest): Promise<string> {
  const { doctor_id, room_id, treatment_id, treatment_ids = treatment_id } = query
  const requested = [
    ['/doctors/{id}', doctor_id],
    ['/clinic/rooms/{id}', room_id],
    ...String(treatment_ids ?? '')
      .split(',')
      .map((id) => ['/clinic/treatments/{id}', id]),
  ] as const
  const records = await Promise.all(
    requested
      .filter(([, id]) => id)
      .map(async ([path, id]) => {
        type Body = { data: { is_active: boolean; name?: string; full_name?: string } }
        const { body } = await send<Body>({ method: 'GET', path, ids: { id } })
        return body.data
      }),
  )
  return records
    .filter(({ is_active }) => !is_active)
    .map(({ full_name, name = full_name }) => `${name} is inactive.\n`)
    .join('')
}

type Call = { readonly tool: AssistantTool; readonly given: Record<string, unknown> }

/** What happened, what to do, and what the texts of errors refer to. */
function failureText(error: Error, idempotencyKey?: string, call?: Call): string {
  const response = error instanceof ApiError ? error : undefined
  const isUnclear =
    (error instanceof ApiError || error instanceof NoResponseError) && error.mayHaveTakenEffect
  const mayRepeat = isUnclear || response?.retryAfter != null
  return [
    (response && errorTexts[response.key]) ?? error.message,
    isUnclear &&
      `The request may have taken effect. ${idempotencyKey ? 'Repeat it with this key.' : 'Check before you repeat it.'}`,
    ...((response?.details ?? []) as Detail[]).map((detail) => detailText(detail, call)),
    response && response.detailsOmitted > 0 && `details_omitted: ${response.detailsOmitted}`,
    response?.retryAfter != null && `retry-after: ${response.retryAfter}`,
    mayRepeat && idempotencyKey && `idempotency_key: ${idempotencyKey}`,
    response?.requestId && `x-request-id: ${response.requestId}`,
  ]
    .filter(Boolean)
    .join('\n')
}

type Detail = { readonly field?: string; readonly issue?: string }

/** Such as `details: limit must be a whole number from 1 to 100 (given: "x")`. */
function detailText(detail: Detail, call: Call | undefined): string {
  const { field = '', issue } = detail
  if (!issue || !call) return `details: ${JSON.stringify(detail)}`
  const { given, tool } = call
  const known = Object.keys(tool.inputSchema.properties)
  if (!(field in given) || issue.includes('did you mean')) return `details: ${field} ${issue}`
  const value = JSON.stringify(given[field]).slice(0, 100)
  return `details: ${field} ${issue} (${known.includes(field) ? `given: ${value}` : `arguments: ${known.join(', ') || 'none'}`})`
}
