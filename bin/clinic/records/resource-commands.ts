/** The commands `list`, `show` and `find` of a resource, with the filters of the API. */
import type { Command } from 'commander'
import type * as z from 'zod'
import { fold } from '../../../shared/domain/patients/search-text.ts'
import { isUuid } from '../../../shared/domain/uuid.ts'
import { findRecordId } from '../../../shared/store/external-ids/links.ts'
import { provenanceOfItem } from '../../../shared/store/external-ids/provenance.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { ExternalRef } from '../../../shared/sync/external-ids/resolve-references.ts'
import { RECORD_KEYS } from '../../../shared/sync/external-ids/resolve-rows.ts'
import { type ClinicContext, connect, openClinic } from '../tool/connection.ts'
import { CommandFailure, parseOption, print } from '../tool/output.ts'
import { requireRecord } from './change-record.ts'
import { addParameters, failForParameter, parseParameters } from './record-parameters.ts'
import { clockNotes, describeRecord, recordTable } from './record-text.ts'

/** The envelope of a list of the API. */
type RecordPage<Wire> = {
  readonly data: readonly Wire[]
  readonly meta: {
    readonly page?: number
    readonly total?: number
    readonly total_pages?: number
    readonly next_after?: string | null
    readonly has_more?: boolean
  }
}

/** The result of `find`: records, and how many were left out because too many match. */
export type Found<Wire> = {
  readonly data: readonly Wire[]
  readonly leftOut?: number
  /** What to do about those that were left out. */
  readonly notes?: readonly string[]
}

/** The commands of a resource: its words, and how they read its records. `Wire` is what the API returns. */
export type ResourceCommands<Wire> = {
  /** The group that the commands are added to: the kind of external ids, unless the records are never imported. */
  readonly group: keyof typeof RECORD_KEYS | 'webhook'
  /** What a record is called, if not like the group. */
  readonly noun?: string
  readonly list?: ResourceList<Wire>
  /** Null for an unknown id. */
  readonly show: (context: ClinicContext, id: string) => Promise<Wire | null>
  /** The group defines `show` itself. */
  readonly hasOwnShow?: true
  /** The fields that the text of `find` is compared with. */
  readonly searched: string
  readonly find: (context: ClinicContext, text: string) => Promise<Found<Wire>>
  /** The fields of a record as text, if they differ from those of its JSON. */
  readonly describe?: (record: Wire) => object
  /** Lines have dates and times of the clinic's clock, without an offset. */
  readonly hasClockTimes?: true
  /** The cells of a line besides the id. */
  readonly cells: (record: Wire) => readonly string[]
}

type ListPart = { readonly data: readonly object[]; readonly lines: readonly string[] }

/** A list of the API: the schema of its query, and how it is read. */
export type ResourceList<Wire> = {
  readonly query: z.ZodObject
  /** A part of the list that the API does not have, which an option of its own selects. */
  readonly part?: {
    readonly option: string
    readonly description: string
    readonly read: (context: ClinicContext) => Promise<ListPart>
    /** Reads the part of all clinics, for `--all`. */
    readonly readAll?: (table: Table) => Promise<ListPart>
  }
  readonly read: (context: ClinicContext, query: never) => Promise<RecordPage<Wire>>
}

/** A resource of which a clinic has few records, so that all are read at once. */
export type SmallResource<Wire> = Omit<ResourceCommands<Wire>, 'list' | 'show' | 'find'> &
  Partial<Pick<ResourceCommands<Wire>, 'show'>> & {
    readonly readAll: (context: ClinicContext) => Promise<readonly Wire[]>
    /** The texts of a record that the text of `find` can be a part of. */
    readonly textsOf: (record: Wire) => readonly (string | null)[]
  }

type Identified = { readonly id: string }

const nounOf = ({ group, noun = group.replace('-', ' ') }: Pick<ResourceCommands<never>, 'group' | 'noun'>) =>
  noun

/** Adds `list`, `show` and `find` of a resource to its group. */
export function addResourceCommands<Wire extends Identified>(
  group: Command,
  resource: ResourceCommands<Wire>,
): void {
  const { list } = resource
  const noun = nounOf(resource)
  if (list)
    addListCommand(group.command('list'), `list a clinic's ${noun}s`, {
      ...resource,
      list,
      nouns: [noun, `${noun}s`],
    })
  if (!resource.hasOwnShow) addShowCommand(group, resource)
  addResourceFind(group, resource)
}

/** Adds `list`, `show` and `find` of a small resource to its group. */
export function addSmallResource<Wire extends Identified>(
  group: Command,
  { readAll, textsOf, ...resource }: SmallResource<Wire>,
): void {
  group
    .command('list')
    .description(`list a clinic's ${nounOf(resource)}s`)
    .action(async (_: object, command: Command) => {
      const data = await readAll(await openClinic(command))
      print(command, { data }, recordTable(resource, data))
    })
  addResourceCommands(group, {
    show: async (context, id) => (await readAll(context)).find((record) => record.id === id) ?? null,
    ...resource,
    find: async (context, text) => {
      const isMatch = (value: string | null) => value !== null && fold(value).includes(fold(text))
      return { data: (await readAll(context)).filter((record) => textsOf(record).some(isMatch)) }
    },
  })
}

type Listed<Wire> = Pick<ResourceCommands<Wire>, 'cells' | 'hasClockTimes'> & {
  readonly list: ResourceList<Wire>
  /** The noun of one record, and of several. */
  readonly nouns: readonly [string, string]
}

/** Makes a command the list of a resource. The value of an `argument` is the `owner` in the query that is read. */
export function addListCommand<Wire extends Identified>(
  command: Command,
  description: string,
  resource: Listed<Wire>,
  argument?: string,
): void {
  const { query: schema, read, part } = resource.list
  if (part) command.option(`--${part.option}`, part.description)
  if (part?.readAll) command.option('--all', `with --${part.option}: of all clinics`)
  if (argument !== undefined) command.argument(argument)
  addParameters(command.description(description), schema).action(async (...args: unknown[]) => {
    const [given, current] = args.slice(-2) as [Readonly<Record<string, unknown>>, Command]
    const query = parseParameters(schema, given)
    if (given.all && !given[part?.option ?? '']) throw new CommandFailure(`--all needs --${part?.option}`)
    if (part && given[part.option]) {
      const { data, lines } =
        part.readAll && given.all
          ? await part.readAll(await connect(current))
          : await part.read(await openClinic(current))
      return print(current, { data }, lines)
    }
    const context = await openClinic(current)
    const owner = argument === undefined ? {} : { owner: args[0] }
    const page = await read(context, { ...query, ...owner } as never).catch(failForParameter)
    print(current, page, [
      ...recordTable(resource, page.data),
      [...(page.data.length > 0 ? clockNotes(resource, context) : []), footerOf(page, resource.nouns)].join(
        ' ',
      ),
    ])
  })
}

/** How far the list goes, and how to continue it. */
function footerOf({ data, meta }: RecordPage<unknown>, [noun, plural]: readonly [string, string]): string {
  const { page, total, total_pages: pages = 0, next_after: nextAfter } = meta
  const hasMore = meta.has_more ?? (page !== undefined && page < pages)
  const next = page === undefined ? `--after ${nextAfter}` : `--page ${page + 1}`
  const counted = total ?? data.length
  if (counted === 0) return `No ${plural}`
  const count = `${counted} ${counted === 1 ? noun : plural}${total ? `, page ${page} of ${pages}` : ''}`
  return hasMore ? `${count}. Next: ${next}` : `${count}.`
}

function addShowCommand<Wire extends Identified>(group: Command, resource: ResourceCommands<Wire>): void {
  group
    .command('show')
    .description(`show one ${nounOf(resource)}`)
    .argument('<id>', `id of the ${nounOf(resource)}`)
    .action(async (id: string, _: object, command: Command) => {
      const context = await openClinic(command)
      const { record, lines } = await describeFound(
        resource,
        context,
        await requireShown(resource, context, id),
      )
      print(command, record, lines)
    })
}

const requireShown = <Wire>(
  resource: ResourceCommands<Wire>,
  context: ClinicContext,
  id: string,
): Promise<Wire> =>
  requireRecord(nounOf(resource), id, (known) => resource.show(context, known), resource.group)

/** A record and its text, with its id in the clinic's own system, which the API does not return for every kind. */
async function describeFound<Wire extends Identified>(
  resource: ResourceCommands<Wire>,
  context: ClinicContext,
  found: Wire,
): Promise<{ readonly record: object; readonly lines: readonly string[] }> {
  const { group, describe } = resource
  const { table, clinic } = context
  const item = group === 'webhook' ? undefined : await table.get(RECORD_KEYS[group](clinic.id, found.id))
  const external = group !== 'webhook' && { external_id: (item && provenanceOfItem(item).externalId) ?? null }
  const text = describeRecord({ ...(describe?.(found) ?? found), ...external })
  return { record: { ...found, ...external }, lines: [...text, ...clockNotes(resource, context)] }
}

function addResourceFind<Wire extends Identified>(group: Command, resource: ResourceCommands<Wire>): void {
  const noun = nounOf(resource)
  const isImported = resource.group !== 'webhook'
  const find = group
    .command('find')
    .description(`find ${noun}s`)
    .argument('[text]', `${resource.searched}, or the id`)
  if (isImported) find.option('--external-id <id>', "id in the clinic's own system")
  find.action(async (text: string | undefined, { externalId }: { externalId?: string }, command: Command) => {
    if ((text === undefined) === (externalId === undefined))
      throw new CommandFailure(
        isImported ? 'Specify either a text or --external-id.' : 'Specify a text to find.',
      )
    const context = await openClinic(command)
    if (externalId !== undefined || isUuid(text ?? '')) {
      const record =
        externalId === undefined
          ? await requireShown(resource, context, text ?? '')
          : await requireImported(resource, context, externalId)
      const described = await describeFound(resource, context, record)
      return print(command, { data: [described.record] }, described.lines)
    }
    const { data, leftOut = 0, notes = [] } = await resource.find(context, text ?? '')
    if (data.length === 0)
      throw new CommandFailure(
        `The clinic has no such ${noun}. "${resource.group} find" compares ${resource.searched}.`,
      )
    const lines = [...recordTable(resource, data), ...clockNotes(resource, context), ...notes]
    print(command, { data, left_out: leftOut }, lines)
  })
}

async function requireImported<Wire>(
  resource: ResourceCommands<Wire>,
  context: ClinicContext,
  externalId: string,
): Promise<Wire> {
  const external = parseOption('external-id', ExternalRef, externalId)
  const kind = resource.group as keyof typeof RECORD_KEYS
  const id = await findRecordId(context.table, context.clinic.id, kind, external)
  const record = await resource.show(context, id)
  if (record) return record
  throw new CommandFailure(
    `The clinic has no ${nounOf(resource)} with this id in its own system. It is compared exactly, with zeros and spaces.`,
  )
}
