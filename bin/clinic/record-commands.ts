/** The commands `list`, `show` and `find` that the kinds of records have in common, with the filters of the API. */
import type { Command } from 'commander'
import type * as z from 'zod'
import { isUuid } from '../../shared/domain/uuid.ts'
import { type ImportedKind, readImportIds } from '../../shared/store/import-ids.ts'
import { type Place, placeOf } from './catalogue-commands.ts'
import { ExternalRef } from './import/references.ts'
import { CommandFailure, formatTable, parseOption, print } from './output.ts'
import { addParameters, failForParameter, parseParameters } from './record-parameters.ts'
import { describeRecord } from './record-text.ts'
import { unknownRecord } from './unknown-record.ts'

/** The envelope of a list of the API. */
export type RecordPage<Wire> = {
  readonly data: readonly Wire[]
  readonly meta: {
    readonly page?: number
    readonly total?: number
    readonly total_pages?: number
    readonly next_after?: string | null
    readonly has_more?: boolean
  }
}

/** What `find` returns: records, and how many were left out because the text matches too much. */
export type Found<Wire> = { readonly data: readonly Wire[]; readonly leftOut?: string }

/** One kind of record, and how its commands read it. `Wire` is what the API returns. */
export type RecordKind<Wire> = {
  /** The group that the commands are added to. */
  readonly group: string
  readonly noun: string
  readonly plural: string
  /** The kind of external ids; undefined for records that are never imported. */
  readonly imported?: ImportedKind
  readonly list?: RecordList<Wire>
  /** Null for an unknown id. */
  readonly show: (place: Place, id: string) => Promise<object | null>
  /** The group has a `show` of its own. */
  readonly hasOwnShow?: true
  /** What the text of `find` is compared with. */
  readonly searched: string
  readonly find: (place: Place, text: string) => Promise<Found<Wire>>
  /** What a line shows beside the id. */
  readonly cells: (record: Wire) => readonly string[]
}

/** A list of the API: the schema of its query, and how it is read. */
type RecordList<Wire> = {
  readonly query: z.ZodObject
  /** A part of the list that the API does not have, which an option of its own selects. */
  readonly part?: {
    readonly option: string
    readonly description: string
    readonly read: (
      place: Place,
    ) => Promise<{ readonly data: readonly object[]; readonly lines: readonly string[] }>
  }
  readonly read: (place: Place, query: never) => Promise<RecordPage<Wire>>
}

type Given = { readonly clinic: string }

/** Adds the commands of a kind to its group. */
export function addRecordCommands<Wire extends { readonly id: string }>(
  program: Command,
  kind: RecordKind<Wire>,
): void {
  const group = program.commands.find((command) => command.name() === kind.group)
  if (!group) throw new RangeError(`the program has no group ${kind.group}`)
  const { list } = kind
  if (list) addListCommand(group.command('list'), `list a clinic's ${kind.plural}`, { ...kind, list })
  if (!kind.hasOwnShow) addShowCommand(group, kind)
  addFindCommand(group, kind)
}

function addShowCommand<Wire>(group: Command, kind: RecordKind<Wire>): void {
  group
    .command('show')
    .description(`show one ${kind.noun}`)
    .argument('<id>', `id of the ${kind.noun}`)
    .requiredOption('--clinic <id>')
    .action(async (id: string, given: Given, command: Command) => {
      const place = await placeOf(given, command)
      const record = await requireRecord(kind, place, id)
      print(command, record, describeRecord(record))
    })
}

function addFindCommand<Wire extends { readonly id: string }>(group: Command, kind: RecordKind<Wire>): void {
  const find = group
    .command('find')
    .description(`find ${kind.plural}`)
    .argument('[text]', `${kind.searched}, or the id`)
    .requiredOption('--clinic <id>')
  if (kind.imported) find.option('--external-id <id>', "id in the clinic's own system")
  find.action(async (text: string | undefined, given: Given & { externalId?: string }, command: Command) => {
    const { externalId } = given
    if ((text === undefined) === (externalId === undefined))
      throw new CommandFailure(
        kind.imported ? 'Specify either a text or --external-id.' : 'Specify a text to find.',
      )
    const place = await placeOf(given, command)
    const id = externalId === undefined ? text : await importedId(kind, place, externalId)
    if (id !== undefined && isUuid(id)) {
      const record = await requireRecord(kind, place, id)
      print(command, { data: [record] }, describeRecord(record))
      return
    }
    const { data, leftOut } = await kind.find(place, text ?? '')
    if (data.length === 0)
      throw new CommandFailure(
        `The clinic has no such ${kind.noun}. "${kind.group} find" compares ${kind.searched}.`,
      )
    print(command, { data, left_out: leftOut ?? null }, [
      ...tableOf(kind, data),
      ...(leftOut === undefined ? [] : [leftOut]),
    ])
  })
}

async function importedId<Wire>(
  { imported }: RecordKind<Wire>,
  { table, clinic }: Place,
  externalId: string,
): Promise<string> {
  const idOf = await readImportIds(table, clinic.id)
  return idOf(imported as ImportedKind, parseOption('external-id', ExternalRef, externalId))
}

async function requireRecord<Wire>(kind: RecordKind<Wire>, place: Place, id: string): Promise<object> {
  const record = isUuid(id) ? await kind.show(place, id.toLowerCase()) : null
  if (record) return record
  throw unknownRecord(kind.group, kind.noun, id)
}

/** Makes a command the list of a kind. `readFor` reads what an argument before the options names. */
export function addListCommand<Wire extends { readonly id: string }>(
  command: Command,
  description: string,
  kind: Pick<RecordKind<Wire>, 'noun' | 'plural' | 'cells'> & { readonly list: RecordList<Wire> },
  argument?: string,
): void {
  const { query: schema, read, part } = kind.list
  if (part) command.option(`--${part.option}`, part.description)
  if (argument !== undefined) command.argument(argument)
  addParameters(command.description(description).requiredOption('--clinic <id>'), schema).action(
    async (...args: unknown[]) => {
      const [given, current] = args.slice(-2) as [Given, Command]
      const query = parseParameters(schema, given)
      const place = await placeOf(given, current)
      if (part && given[part.option as keyof Given]) {
        const { data, lines } = await part.read(place)
        print(current, { data }, lines)
        return
      }
      const owner = argument === undefined ? {} : { owner: args[0] }
      const page = await read(place, { ...query, ...owner } as never).catch(failForParameter)
      print(current, page, [...tableOf(kind, page.data), footerOf(page, kind)])
    },
  )
}

const tableOf = <Wire>(kind: Pick<RecordKind<Wire>, 'cells'>, records: readonly Wire[]): string[] =>
  formatTable(records.map((record) => [(record as { id: string }).id, ...kind.cells(record)]))

/** How far the list goes, and how to go on. */
function footerOf(
  { data, meta }: RecordPage<unknown>,
  { noun, plural }: Pick<RecordKind<unknown>, 'noun' | 'plural'>,
): string {
  const { page, total, total_pages: pages = 0, next_after: nextAfter } = meta
  const hasMore = meta.has_more ?? (page !== undefined && page < pages)
  const next = page === undefined ? `--after ${nextAfter}` : `--page ${page + 1}`
  const counted = total ?? data.length
  const count = `${counted} ${counted === 1 ? noun : plural}${total ? `, page ${page} of ${pages}` : ''}`
  return hasMore ? `${count}. Next: ${next}` : `${count}.`
}
