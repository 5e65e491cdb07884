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
import { retryOnConflict } from '../../../shared/store/table/retries.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { comingAppointments, describeAppointments } from '../appointments/appointments-outside-hours.ts'
import { catalogueName } from '../import/entities/catalogue-fields.ts'
import { requireRecord } from '../records/change-record.ts'
import { addSmallResource } from '../records/resource-commands.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { requireChange } from '../tool/fields.ts'
import { CommandFailure, changeLine, parseOption, print } from '../tool/output.ts'

type Named = { readonly id: string; readonly name: string }

/** One kind of record, and what its commands do. `Options` are the options of `create` and `update` except the name. */
export type CatalogueCommands<Entry extends Named, Options, Wire extends Named = Named> = {
  readonly kind: CatalogueKind
  readonly store: (platform: { readonly table: Table }) => CatalogueStore<Entry>
  /** Adds options to `create` or to `update`. */
  readonly addOptions: (command: Command, use: 'create' | 'update') => Command
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
  readonly toJson: (entry: Entry) => Wire
  /** Whether an appointment needs the record, for those whose deactivation lists the appointments. */
  readonly isNeededFor?: (id: string, appointment: Appointment) => boolean
  /** The cells of `list` besides id and name. */
  readonly cells: (record: Wire) => string[]
}

type Given = { readonly name?: string }

/** Adds the commands `create`, `list`, `show`, `find` and `update` of a kind. */
export function addCatalogueCommands<Entry extends Named, Options, Wire extends Named>(
  group: Command,
  commands: CatalogueCommands<Entry, Options, Wire>,
): void {
  const { kind, toJson } = commands
  const create = group.command('create').description(`create a ${kind}`).requiredOption('--name <name>')
  commands.addOptions(create, 'create').action(async (given: Given & Options, command: Command) => {
    const context = await openClinic(command)
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
    print(command, toJson(entry), [`Created ${kind} ${entry.name}: ${entry.id}`])
  })

  addSmallResource(group, {
    group: commandName(kind) as 'department' | 'room' | 'treatment' | 'price-list',
    readAll: async (context) => (await commands.store(context).list(context.clinic.id)).map(toJson),
    searched: 'a part of the name',
    textsOf: ({ name }) => [name],
    cells: (record) => [record.name, ...commands.cells(record)],
  })

  const update = group
    .command('update')
    .description(`change a ${kind}`)
    .argument(`<${commandName(kind)}>`, `${kind} id`)
    .option('--name <name>')
  commands
    .addOptions(update, 'update')
    .action(async (id: string, given: Given & Options, command: Command) => {
      requireChange(given)
      await changeEntry(commands, id, given, command)
    })
}

export type ActivationOptions = { readonly active?: boolean }

/** Adds the options of kinds that can be out of use to `update`. */
export const addActivation = (command: Command, use: 'create' | 'update'): Command =>
  use === 'create' ? command : command.option('--active', 'in use').option('--no-active', 'no longer in use')

/** Whether a record is in use after a change. */
export const activeAfter = (
  { active }: ActivationOptions,
  before: { readonly isActive: boolean } | null,
): boolean => active ?? before?.isActive ?? true

const commandName = (kind: CatalogueKind): string => kind.replace(' ', '-')

/** The record of the clinic with this id. @throws CommandFailure if there is none */
export const requireEntry = <Entry extends Named>(
  kind: CatalogueKind,
  known: readonly Entry[],
  typed: string,
): Promise<Entry> => requireRecord(kind, typed, async (id) => known.find((entry) => entry.id === id) ?? null)

/** Changes a record as it is when it is written. */
async function changeEntry<Entry extends Named, Options, Wire extends Named>(
  commands: CatalogueCommands<Entry, Options, Wire>,
  id: string,
  given: Given & Options,
  command: Command,
): Promise<void> {
  const context = await openClinic(command)
  const { before, after, isChanged } = await retryOnConflict(async () => {
    const state = await commands.store(context).readState(context.clinic.id)
    const found = await requireEntry(commands.kind, state.entries, id)
    const name = given.name === undefined ? found.name : parseOption('name', catalogueName, given.name)
    const changed = commands.apply(given, found, { id: found.id, name }, context)
    const differs = !isDeepStrictEqual(commands.toJson(changed), commands.toJson(found))
    if (differs) await save(commands, context, state, found, changed)
    return { before: found, after: changed, isChanged: differs }
  })
  const { kind, isNeededFor } = commands
  const appointments =
    isNeededFor && isInactive(after) && !isInactive(before)
      ? await comingAppointments(context, {}, (appointment) => isNeededFor(after.id, appointment))
      : []
  print(command, { ...commands.toJson(after), changed: isChanged, appointments_outside: appointments }, [
    changeLine(isChanged, `Changed ${kind} ${after.name}`, `${kind} ${after.name} has these values already`),
    ...describeAppointments(context, appointments, `without an active ${kind}`),
  ])
}

const isInactive = (entry: object): boolean => 'isActive' in entry && entry.isActive === false

/** Saves a record and the others that change with it. @throws CommandFailure for a record that conflicts with the others */
async function save<Entry extends Named, Options, Wire extends Named>(
  { kind: _, problems, displaced, options, store }: CatalogueCommands<Entry, Options, Wire>,
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
