/** The commands that departments, rooms, treatments and price lists have in common. */
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import type { Appointment } from '../../../shared/domain/booking/appointment.ts'
import {
  type CatalogueKind,
  type FieldProblem,
  MAX_CATALOGUE,
} from '../../../shared/domain/booking/catalogue.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import type { CatalogueState, CatalogueStore, StoredEntry } from '../../../shared/store/catalogue.ts'
import { provenanceOf } from '../../../shared/store/external-ids/provenance.ts'
import { retryOnConflict } from '../../../shared/store/table/retry-on-conflict.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { comingAppointments, describeAppointments } from '../appointments/appointments-outside-hours.ts'
import { catalogueName, parsePrice } from '../import/entities/catalogue-fields.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { CommandFailure, formatTable, parseOption, print } from '../tool/output.ts'

type Named = { readonly id: string; readonly name: string }

/** One kind of record, and what its commands do. `Options` are the options of `add` and `update` except the name. */
export type CatalogueCommands<Entry extends Named, Options> = {
  readonly kind: CatalogueKind
  readonly store: (platform: { readonly table: Table }) => CatalogueStore<Entry>
  /** Adds options to `add` or to `update`. */
  readonly addOptions: (command: Command, use: 'add' | 'update') => Command
  /** A new record, or a changed one. @throws CommandFailure naming an option */
  readonly apply: (options: Options, before: Entry | null, named: Named, context: ClinicContext) => Entry
  readonly problems: (
    entry: Entry,
    known: readonly Entry[],
    context: ClinicContext,
  ) => Promise<FieldProblem<Entry>[]>
  /** Other records that change with it. */
  readonly displaced?: (entry: Entry, known: readonly StoredEntry<Entry>[]) => Entry[]
  /** The option of each field that can be wrong. */
  readonly options: { readonly [Name in keyof Entry]?: string }
  readonly toJson: (entry: Entry) => object
  /** Whether an appointment needs the record, for those whose deactivation lists the appointments. */
  readonly isNeededFor?: (id: string, appointment: Appointment) => boolean
  /** The cells of `list` besides id and name. */
  readonly cells: (entry: Entry) => string[]
}

type Given = { readonly clinic: string; readonly name?: string }

/** Adds the commands `add`, `list` and `update` of a kind. Returns their group. */
export function addCatalogueGroup<Entry extends Named, Options>(
  program: Command,
  commands: CatalogueCommands<Entry, Options>,
): Command {
  const { kind } = commands
  const group = program.command(commandName(kind)).description(`add, list and change ${kind}s`)

  const add = group.command('add').description(`add a ${kind}`).requiredOption('--clinic <id>')
  commands
    .addOptions(add.requiredOption('--name <name>'), 'add')
    .action(async (given: Given & Options, command: Command) => {
      const context = await openClinic(given, command)
      const named = { id: newUuid(), name: parseOption('name', catalogueName, given.name) }
      const entry = await retryOnConflict(async () => {
        const state = await commands.store(context).readState(context.clinic.id)
        if (state.entries.length >= MAX_CATALOGUE[kind])
          throw new CommandFailure(
            `The clinic has ${MAX_CATALOGUE[kind]} ${kind}s already, the most that it can have.`,
          )
        const added = commands.apply(given, null, named, context)
        await save(commands, context, state, null, added)
        return added
      })
      print(command, commands.toJson(entry), [`Added ${kind} ${entry.name}: ${entry.id}`])
    })

  group
    .command('list')
    .description(`list a clinic's ${kind}s`)
    .requiredOption('--clinic <id>')
    .action(async (given: Given, command: Command) => {
      const context = await openClinic(given, command)
      const entries = await commands.store(context).list(context.clinic.id)
      const rows = entries.map((entry) => [entry.id, entry.name, ...commands.cells(entry)])
      print(command, { data: entries.map(commands.toJson) }, formatTable(rows))
    })

  const update = group
    .command('update')
    .description(`change a ${kind}`)
    .argument(`<${kind.replace(' ', '-')}>`, `${kind} id`)
    .requiredOption('--clinic <id>')
    .option('--name <name>')
  commands
    .addOptions(update, 'update')
    .action(async (id: string, given: Given & Options, command: Command) => {
      const { clinic: _, ...changes } = given
      if (Object.keys(changes).length === 0)
        throw new CommandFailure('Nothing to change: specify at least one option.')
      await changeEntry(commands, id, given, command, (before, context) => {
        const name = given.name === undefined ? before.name : parseOption('name', catalogueName, given.name)
        return commands.apply(given, before, { id: before.id, name }, context)
      })
    })
  return group
}

/** Adds the commands `deactivate` and `activate`. */
export function addActivation<Entry extends Named & { readonly isActive: boolean }, Options>(
  group: Command,
  commands: CatalogueCommands<Entry, Options>,
): void {
  const { kind } = commands
  const uses = [
    ['deactivate', `mark a ${kind} as no longer in use`],
    ['activate', `mark a ${kind} as in use again`],
  ] as const
  for (const [name, description] of uses)
    group
      .command(name)
      .description(description)
      .argument(`<${kind}>`, `${kind} id`)
      .requiredOption('--clinic <id>')
      .action((id: string, given: Given, command: Command) =>
        changeEntry(commands, id, given, command, (before) => ({ ...before, isActive: name === 'activate' })),
      )
}

const commandName = (kind: CatalogueKind): string => kind.replace(' ', '-')

/** The record of the clinic with this id. @throws CommandFailure if there is none */
export function requireEntry<Entry extends Named>(
  kind: CatalogueKind,
  known: readonly Entry[],
  id: string,
): Entry {
  const found = known.find((entry) => entry.id === id.toLowerCase())
  if (!found)
    throw new CommandFailure(
      `The clinic has no ${kind} ${id}. Run "${commandName(kind)} list" to see all ${kind}s.`,
    )
  return found
}

/** A price in minor units. @throws CommandFailure naming the option */
export function parsePriceOption(option: string, value: string, currency: string): number {
  const parsed = parsePrice(value.trim(), currency)
  if ('issue' in parsed) throw new CommandFailure(`--${option} ${parsed.issue}`)
  return parsed.price
}

/** Changes a record as it is when it is written. */
async function changeEntry<Entry extends Named, Options>(
  commands: CatalogueCommands<Entry, Options>,
  id: string,
  given: Given,
  command: Command,
  change: (before: StoredEntry<Entry>, context: ClinicContext) => Entry,
): Promise<void> {
  const context = await openClinic(given, command)
  const { before, after, isChanged } = await retryOnConflict(async () => {
    const state = await commands.store(context).readState(context.clinic.id)
    const found = requireEntry(commands.kind, state.entries, id)
    const changed = change(found, context)
    const differs = !isDeepStrictEqual(commands.toJson(changed), commands.toJson(found))
    if (differs) await save(commands, context, state, found, changed)
    return { before: found, after: changed, isChanged: differs }
  })
  const { kind, isNeededFor } = commands
  const appointments =
    isNeededFor && isInactive(after) && !isInactive(before)
      ? await comingAppointments(context, {}, (appointment) => isNeededFor(after.id, appointment))
      : []
  print(command, { ...commands.toJson(after), changed: isChanged, visits_outside: appointments }, [
    isChanged
      ? `Changed ${kind} ${after.name}`
      : `Nothing changed: ${kind} ${after.name} has these values already`,
    ...describeAppointments(context, appointments, `without an active ${kind}`),
  ])
}

const isInactive = (entry: object): boolean => 'isActive' in entry && entry.isActive === false

/** Saves a record and the others that change with it. @throws CommandFailure for a record that conflicts with the others */
async function save<Entry extends Named, Options>(
  { kind: _, problems, displaced, options, store }: CatalogueCommands<Entry, Options>,
  context: ClinicContext,
  { entries: known, version }: CatalogueState<Entry>,
  before: StoredEntry<Entry> | null,
  after: Entry,
): Promise<void> {
  const others = new Map((displaced?.(after, known) ?? []).map((other) => [other.id, other]))
  const found = await problems(
    after,
    known.map((entry) => others.get(entry.id) ?? entry),
    context,
  )
  if (found.length > 0)
    throw new CommandFailure(
      found.map(({ field, issue }) => `--${options[field] ?? field} ${issue}`).join('\n'),
    )
  const changed = known.flatMap((entry) => {
    const other = others.get(entry.id)
    return other ? [{ before: entry, after: { ...entry, ...other } }] : []
  })
  const record = { ...after, ...provenanceOf(before ?? {}) }
  await store(context).save(context.clinic.id, [{ before, after: record }, ...changed], version)
}
