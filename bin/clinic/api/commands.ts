/** Commands that call the API: one for each operation of its document, and `api` for any request. */
import { randomUUID } from 'node:crypto'
import { type Command, Option } from 'commander'
import type { Tool } from '../../../shared/clients/mcp/tools.ts'
import { pagesOf } from '../../../shared/clients/typescript/lists.ts'
import type { ApiRequest, SendRequest } from '../../../shared/clients/typescript/transport.ts'
import { fold } from '../../../shared/domain/patients/search-text.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { CommandFailure, type GlobalOptions } from '../tool/output.ts'
import { progressBar } from '../tool/progress.ts'
import { addressOption, callerOf, type Environment } from './caller.ts'
import { OPERATIONS, type Operation, toolOf } from './operations.ts'
import { type Body, type Page, printBody } from './responses.ts'
import { describeField, flagsOf, optionName, parseField } from './values.ts'

const KEY = 'idempotency_key'
const keyOption = () => new Option('--idempotency-key <key>', 'repeats a request whose outcome is unknown')

type Given = Readonly<Record<string, string | undefined>> & { readonly all?: never }

/** Adds the commands of a noun that the group does not have. */
export function addOperations(group: Command, noun: string, env: Environment): void {
  for (const operation of OPERATIONS)
    if (operation.noun === noun && !group.commands.some((command) => command.name() === operation.verb))
      addOperation(group.command(operation.verb), operation, env)
}

function addOperation(command: Command, operation: Operation, env: Environment): void {
  const tool = toolOf(operation)
  const { properties, required } = tool.inputSchema
  command.description(tool.title.charAt(0).toLowerCase() + tool.title.slice(1))
  command.addHelpText('after', `\n${tool.description}`)
  const isFirst = (field: string) => required.includes(field)
  const fields = Object.entries(properties)
  for (const [field, schema] of fields.sort(([a], [b]) => Number(isFirst(b)) - Number(isFirst(a)))) {
    if (tool.places[field] === 'path') command.argument(`<${optionName(field)}>`, describeField(schema))
    else if (field !== KEY) command.option(flagsOf(field, schema), describeField(schema, isFirst(field)))
  }
  if (KEY in properties) command.addOption(keyOption())
  if (tool.isList) command.option('--match <text>', 'print only records that contain this text')
  if ('page' in tool.places || 'after' in tool.places) command.option('--all', 'read all pages')
  if (tool.method === 'DELETE') addYesOption(command)
  command.addOption(addressOption(env)).action(async () => callOperation(command, tool, env))
}

async function callOperation(command: Command, tool: Tool, env: Environment): Promise<void> {
  const { method, path, places, inputSchema, hasBody, isList } = tool
  const given = command.opts()
  const args = [...command.args]
  const ids: Record<string, unknown> = {}
  const query: Record<string, unknown> = {}
  const fields: Record<string, unknown> = {}
  for (const [field, schema] of Object.entries(inputSchema.properties)) {
    const text =
      places[field] === 'path' ? args.shift() : given[new Option(flagsOf(field, schema)).attributeName()]
    if (text === undefined) continue
    if (places[field] === 'path') ids[field] = text
    else if (places[field] === 'query') query[field] = text
    else if (places[field] === 'body') fields[field] = await parseField(field, schema, text)
  }
  const request = { method, path, ids, query, body: hasBody ? fields : undefined, isList }
  if (method === 'DELETE') await confirm(command, [`${tool.title}: ${command.args.join(' ')}`])
  const key: string | undefined = KEY in places ? (given.idempotencyKey ?? randomUUID()) : undefined
  const body = await call(command, env, request, key)
  if (!isList) return printBody(command, body)
  const page = body as Page
  printBody(command, given.match ? { ...page, data: page.data.filter(contains(given.match)) } : page)
  if (!given.all) noteMore(command, page)
}

/** Sends a request, with `--all` for each page of a list. After a write, prints the clinic to stderr. */
async function call(
  command: Command,
  env: Environment,
  request: ApiRequest,
  key?: string,
): Promise<Body | undefined> {
  const isWrite = request.method !== 'GET'
  try {
    const { send, clinic } = await callerOf(command, env, isWrite)
    if (command.opts<Given>().all) return await readAll(command, send, request)
    const { body } = await send<Body | undefined>({ ...request, options: key ? { idempotencyKey: key } : {} })
    if (clinic && isWrite) writeNote(command, `Clinic: ${clinic.name} (${clinic.id})`)
    return body
  } catch (error) {
    throw (await import('./failures.ts')).callFailure(error, key)
  }
}

async function readAll(command: Command, send: SendRequest, request: ApiRequest): Promise<Body> {
  const data: unknown[] = []
  const get = async (query: object) => (await send<Page>({ ...request, query })).body
  let bar: ReturnType<typeof progressBar> | undefined
  for await (const page of pagesOf(get, request.query)) {
    data.push(...page.data)
    bar ??= progressBar(command, request.path, (page as Page).meta.total ?? 0)
    bar.show(data.length)
  }
  bar?.done()
  return { data }
}

/** Whether a record contains a text, whatever its case and accents. */
const contains = (text: string) => (record: object) =>
  fold(JSON.stringify(Object.values(record))).includes(fold(text))

/** Says on stderr that a list has further records. */
function noteMore(command: Command, { data, meta }: Page): void {
  const { total, total_pages: pages = 1, page = 1, next_after: after } = meta
  if (after == null && page >= pages) return
  writeNote(command, `${data.length}${total === undefined ? '' : ` of ${total}`}: --all lists all`)
}

const writeNote = (command: Command, text: string): void => {
  if (!command.optsWithGlobals<GlobalOptions>().json) command.configureOutput().writeErr?.(`${text}\n`)
}

const METHODS = ['GET', 'POST', 'PATCH', 'DELETE'] as const

/** `api METHOD PATH [--data JSON]` */
export function addApiCommand(command: Command, env: Environment): void {
  command
    .argument('<method>', METHODS.join(', '))
    .argument('<path>', 'path below /api/developer/v1 with its query, e.g. "/patients?limit=5"')
    .option('--data <json>', 'body as JSON, or @file')
    .addOption(keyOption())
    .addOption(addressOption(env))
    .action(async (name: string, path: string, { data, idempotencyKey }: Given) => {
      const method = METHODS.find((one) => one === name.toUpperCase())
      if (!method) throw new CommandFailure(`method must be one of ${METHODS.join(', ')}`)
      if (!path.startsWith('/') || /[{}]/.test(path))
        throw new CommandFailure('path must begin with /, e.g. /patients')
      const key = method === 'GET' || method === 'DELETE' ? undefined : (idempotencyKey ?? randomUUID())
      const body = data === undefined ? undefined : await parseField('data', { type: 'object' }, data)
      const request = { method, path, body, isList: method === 'GET' && isList(path) }
      const response = await call(command, env, request, key)
      command.configureOutput().writeOut?.(`${JSON.stringify(response ?? {}, null, 2)}\n`)
    })
}

/** Whether GET of a path returns a list. */
function isList(path: string): boolean {
  const matches = ({ endpoint }: Operation) =>
    new RegExp(`^${endpoint.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path.replace(/\?.*/, ''))
  const operation = OPERATIONS.find((one) => one.endpoint.method === 'GET' && matches(one))
  return operation !== undefined && toolOf(operation).isList
}
