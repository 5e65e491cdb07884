/** Commands that call the API: one for each operation of its document, and `api` for any request. */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import type { Place, Tool } from '../../../shared/clients/mcp/tools.ts'
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
  for (const [field, schema] of Object.entries(properties)) {
    if (tool.places[field] === 'path') command.argument(`<${optionName(field)}>`, describeField(schema))
    else command.option(flagsOf(field, schema), describeField(schema, required.includes(field)))
  }
  if (tool.isList) command.option('--match <text>', 'print only records that contain this text')
  if ('page' in tool.places || 'after' in tool.places) command.option('--all', 'read all pages')
  if (tool.method === 'DELETE') addYesOption(command)
  command.addOption(addressOption(env)).action(async () => callOperation(command, tool, env))
}

async function callOperation(command: Command, tool: Tool, env: Environment): Promise<void> {
  const { method, path, places, inputSchema, hasBody, isList } = tool
  const given = command.opts()
  const args = [...command.args]
  const at = (place: Place): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(inputSchema.properties).flatMap(([field, schema]) => {
        if (places[field] !== place) return []
        const text = place === 'path' ? args.shift() : given[attributeOf(field)]
        if (text === undefined) return []
        return [[field, place === 'body' ? parseField(field, schema, text) : text]]
      }),
    )
  const request = {
    method,
    path,
    ids: at('path'),
    query: at('query'),
    body: hasBody ? at('body') : undefined,
    isList,
  }
  if (method === 'DELETE') await confirm(command, [`${tool.title}: ${command.args.join(' ')}`])
  const key: string | undefined =
    'idempotency_key' in places ? (given.idempotencyKey ?? randomUUID()) : undefined
  const body = await call(command, env, { ...request, options: key ? { idempotencyKey: key } : {} }, key)
  if (!isList) return printBody(command, body)
  const page = body as Page
  printBody(command, given.match ? { ...page, data: page.data.filter(contains(given.match)) } : page)
  if (!given.all) noteMore(command, page)
}

/** As commander names the value of an option. */
const attributeOf = (field: string): string =>
  field.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

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
    const { body } = await send(request)
    if (clinic && isWrite) writeNote(command, `Clinic: ${clinic.name} (${clinic.id})`)
    return body as Body | undefined
  } catch (error) {
    throw (await import('./failures.ts')).callFailure(error, key)
  }
}

async function readAll(command: Command, send: SendRequest, request: ApiRequest): Promise<Body> {
  const data: unknown[] = []
  const get = async (query: object) => (await send({ ...request, query })).body as Page
  let bar: ReturnType<typeof progressBar> | undefined
  for await (const page of pagesOf(get, request.query)) {
    data.push(...page.data)
    bar ??= progressBar(command, request.path, (page as Page).meta.total ?? 0)
    bar.show({ bytes: data.length, rows: data.length })
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
    .option('--idempotency-key <key>', 'repeats a request whose outcome is unknown')
    .addOption(addressOption(env))
    .action(async (name: string, path: string, { data, idempotencyKey }: Given) => {
      const method = METHODS.find((one) => one === name.toUpperCase())
      if (!method) throw new CommandFailure(`method must be one of ${METHODS.join(', ')}`)
      if (!path.startsWith('/') || /[{}]/.test(path))
        throw new CommandFailure('path must begin with /, e.g. /patients')
      const key = method === 'GET' || method === 'DELETE' ? undefined : (idempotencyKey ?? randomUUID())
      const options = key ? { idempotencyKey: key } : {}
      const body = data === undefined ? undefined : parseField('data', { type: 'object' }, data)
      const response = await call(
        command,
        env,
        { method, path, body, isList: method === 'GET' && isList(path), options },
        key,
      )
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
