/** The commands that departments, rooms, treatments and price lists have in common. */
import type { Command } from 'commander'
import * as z from 'zod'
import type { Appointment } from '../../../shared/domain/booking/appointment.ts'
import type { CatalogueKind } from '../../../shared/domain/booking/catalogue.ts'
import { InvalidEntry } from '../../../shared/domain/catalogue/catalogue-rules.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import type { CatalogueStore } from '../../../shared/store/catalogue.ts'
import type { CatalogueChanges } from '../../../shared/store/catalogue-changes.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { comingAppointments, describeAppointments } from '../appointments/appointments-outside-hours.ts'
import { catalogueName, currencyCode } from '../import/entities/catalogue-fields.ts'
import { requireRecord } from '../records/change-record.ts'
import { addSmallResource } from '../records/resource-commands.ts'
import { openClinic } from '../tool/connection.ts'
import { type Field, requireChange } from '../tool/fields.ts'
import { CommandFailure, changeLine, parseOption, print } from '../tool/output.ts'

type Named = { readonly id: string; readonly name: string }

/** One kind of record, and what its commands do. `Options` are the options of `create` and `update` except the name. */
export type CatalogueCommands<Entry extends Named, Values, Options, Wire extends Named = Named> = {
  readonly kind: CatalogueKind
  readonly store: (platform: { readonly table: Table }) => CatalogueStore<Entry>
  readonly changes: (platform: { readonly table: Table }) => CatalogueChanges<Entry, Values>
  /** Adds options to `create` or to `update`. */
  readonly addOptions: (command: Command, use: 'create' | 'update') => Command
  /** The values that options give a new record, or a changed one. @throws CommandFailure naming an option */
  readonly values: (options: Options & Given, before: Entry | null) => Values
  /** The option of each field that can be wrong. */
  readonly options: Readonly<Record<string, string>>
  readonly toJson: (entry: Entry) => Wire
  /** Whether an appointment needs the record, for those whose deactivation lists the appointments. */
  readonly isNeededFor?: (id: string, appointment: Appointment) => boolean
  /** The cells of `list` besides id and name. */
  readonly cells: (record: Wire) => string[]
}

type Given = { readonly name?: string }

/** The options with a name that was checked. @throws CommandFailure */
const named = <Options extends Given>(given: Options): Options =>
  given.name === undefined ? given : { ...given, name: parseOption('name', catalogueName, given.name) }

/** Adds the commands `create`, `list`, `show`, `find` and `update` of a kind. */
export function addCatalogueCommands<Entry extends Named, Values, Options, Wire extends Named>(
  group: Command,
  commands: CatalogueCommands<Entry, Values, Options, Wire>,
): void {
  const { kind, toJson } = commands
  const create = group.command('create').description(`create a ${kind}`).requiredOption('--name <name>')
  commands.addOptions(create, 'create').action(async (given: Given & Options, command: Command) => {
    const context = await openClinic(command)
    const entry = await commands
      .changes(context)
      .create(context.clinic, { id: newUuid() }, () => commands.values(named(given), null))
      .catch((error) => failCommand(error, commands))
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

/** The option of a currency, in any case. */
export const CURRENCY: Field = {
  flags: '--currency <code>',
  schema: z.string().toUpperCase().pipe(currencyCode),
}

export type ActivationOptions = { readonly active?: boolean }

/** Adds the options of kinds that can be out of use to `update`. */
export const addActivation = (command: Command, use: 'create' | 'update'): Command =>
  use === 'create' ? command : command.option('--active', 'in use').option('--no-active', 'no longer in use')

const commandName = (kind: CatalogueKind): string => kind.replace(' ', '-')

/** The record of the clinic with this id. @throws CommandFailure if there is none */
export const requireEntry = <Entry extends Named>(
  kind: CatalogueKind,
  known: readonly Entry[],
  typed: string,
): Promise<Entry> => requireRecord(kind, typed, async (id) => known.find((entry) => entry.id === id) ?? null)

/** Changes a record as it is when it is written. */
async function changeEntry<Entry extends Named, Values, Options, Wire extends Named>(
  commands: CatalogueCommands<Entry, Values, Options, Wire>,
  id: string,
  given: Given & Options,
  command: Command,
): Promise<void> {
  const context = await openClinic(command)
  const changes = commands.changes(context)
  const valuesFrom = (before: Entry) => commands.values(named(given), before)
  const { before, after } = await requireRecord(commands.kind, id, (one) =>
    changes.update(context.clinic, one, valuesFrom).catch((error) => failCommand(error, commands)),
  )
  const isChanged = before !== after
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

/** @throws CommandFailure that names the options, for a record that is rejected */
function failCommand(
  error: Error,
  { options }: { readonly options: Readonly<Record<string, string>> },
): never {
  if (!(error instanceof InvalidEntry)) throw error
  const optionOf = (field: string) => options[field.split('.')[0] ?? ''] ?? field
  throw new CommandFailure(
    error.problems.map(({ field, issue }) => `--${optionOf(field)} ${issue}`).join('\n'),
  )
}
