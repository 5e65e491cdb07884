/** The clinic that a command concerns: from `--clinic`, the environment's `CLINIC`, or what `clinic use` remembered for the stack. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Command, Option } from 'commander'
import * as z from 'zod'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { fold } from '../../../shared/domain/patients/search-text.ts'
import { isUuid } from '../../../shared/domain/uuid.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { nameOf } from './command-trail.ts'
import { CommandFailure, formatTable, type GlobalOptions } from './output.ts'

/** Commands of all clinics, and those whose argument says the clinic. */
const WITHOUT_CLINIC =
  /^(clinic (create|list|use)|credential (update|rotate)|dead-letter .*|restore .*|migrate|webhook listen)$/

/** Commands whose effect cannot be undone. Their clinic is named, never remembered. */
const NAMED_ONLY = / (delete|erase|replay)$/

/** The shortest start of an id, so that a short name with a typing error selects no clinic. */
const MIN_PREFIX = 4

/** Adds `--clinic` to a command that concerns a clinic. */
export function addClinicOption(command: Command, env: { readonly CLINIC?: string | undefined }): void {
  const name = nameOf(command)
  if (WITHOUT_CLINIC.test(name)) return
  const otherwise = NAMED_ONLY.test(name) ? 'CLINIC' : 'CLINIC, then the clinic of "clinic use"'
  const option = new Option('--clinic <clinic>', `full name, or start of the id (default: ${otherwise})`)
  command.addOption(env.CLINIC ? option.default(env.CLINIC, env.CLINIC) : option)
}

/** The clinic as it was named or remembered. @throws CommandFailure without one */
export function namedClinic(command: Command): string {
  const { clinic } = command.opts<{ clinic?: string }>()
  const name = nameOf(command)
  const chosen = clinic ?? (NAMED_ONLY.test(name) ? undefined : readRemembered()[stackOf(command)])
  if (chosen) return chosen
  throw new CommandFailure(
    NAMED_ONLY.test(name)
      ? `Specify the clinic with --clinic: "${name}" does not use the remembered one.`
      : 'Specify the clinic with --clinic, in CLINIC, or once with "clinic use".',
  )
}

/** Where the clinic comes from if the command line does not say it, for errors. */
export function clinicSource(command: Command): string {
  const source = command.getOptionValueSource('clinic')
  return source === 'cli' ? '' : source === 'default' ? ' of CLINIC' : ' of "clinic use"'
}

export const unknownClinic = (text: string, source: string): CommandFailure =>
  new CommandFailure(`Clinic ${text}${source} does not exist. Run "clinic list" to see all clinics.`)

/** The id of the clinic with this id, name or start of an id. @throws CommandFailure for none, or for several */
export async function findClinic(table: Table, text: string, source = ''): Promise<ClinicId> {
  const lower = text.toLowerCase()
  if (isUuid(lower)) return lower as ClinicId
  const all = await clinicStore({ table }).list()
  const named = all.filter(({ name }) => fold(name) === fold(text))
  const found =
    named.length > 0 || text.length < MIN_PREFIX ? named : all.filter(({ id }) => id.startsWith(lower))
  const [only, ...others] = found
  if (!only) throw unknownClinic(text, source)
  if (others.length === 0) return only.id
  throw new CommandFailure(
    [
      `${found.length} clinics match ${text}${source}. Specify the id of one:`,
      ...formatTable(found.map(({ id, name }) => [id, name])),
    ].join('\n'),
  )
}

/** Remembers the clinic for the commands on this stack that follow. */
export function rememberClinic(command: Command, id: ClinicId): void {
  mkdirSync(dirname(rememberedFile()), { recursive: true, mode: 0o700 })
  const remembered = { ...readRemembered(), [stackOf(command)]: id }
  // Other terminals read the whole file or the one before.
  const unfinished = `${rememberedFile()}.${process.pid}`
  writeFileSync(unfinished, `${JSON.stringify(remembered, null, 2)}\n`, { mode: 0o600 })
  renameSync(unfinished, rememberedFile())
}

function readRemembered(): Readonly<Record<string, string | undefined>> {
  try {
    return z.record(z.string(), z.string()).parse(JSON.parse(readFileSync(rememberedFile(), 'utf8')))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new CommandFailure(`${rememberedFile()} cannot be read: remove it, and run "clinic use" again.`)
  }
}

const rememberedFile = (): string =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'clinic-developer-api', 'clinics.json')

/** A stack has a name on AWS, and a port on this machine. */
function stackOf(command: Command): string {
  const { stack, port } = command.optsWithGlobals<GlobalOptions>()
  return stack ?? `localhost:${port}`
}
