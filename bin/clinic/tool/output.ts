import type { Command } from 'commander'
import type * as z from 'zod'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { WalkOptions } from '../../../shared/maintenance/walk/walk.ts'
import { COMMANDS, type OperatorRole } from '../../../shared/operator/commands.ts'
import { addToTrail, nameOf, programOf } from './command-trail.ts'

/** Exit codes. `needsAttention`: done, but rows were rejected or differences remain. */
export const EXIT = {
  done: 0,
  needsAttention: 1,
  wrongInput: 2,
  unreachable: 3,
  failed: 4,
  interrupted: 130,
} as const

/** The secret of a credential, which is pasted with its key. Nothing that the tool reports repeats it. */
const SECRET = /cs_[\w-]{8,}/g

/** A writer of errors that leaves out secrets of credentials. */
export const withoutSecrets =
  (writeError: (text: string) => void) =>
  (text: string): void =>
    writeError(text.replace(SECRET, 'cs_...'))

/** Ends the command with a message for the operator. */
export class CommandFailure extends Error {
  readonly exitCode: number
  /** The fields that `--json` prints with the message, such as other times. */
  readonly details: object
  constructor(message: string, exitCode: number = EXIT.wrongInput, details: object = {}) {
    super(message)
    this.exitCode = exitCode
    this.details = details
  }
}

/** Ends the command with exit code 1 after it has printed its result. */
export class NeedsAttention extends Error {}

/** Options of every command. */
export type GlobalOptions = { stack?: string; port: string; json: boolean }

export function printLines(command: Command, ...lines: readonly string[]): void {
  command.configureOutput().writeOut?.(`${lines.join('\n')}\n`)
}

/** Prints a line about a command that continues: `--json` prints the result alone. */
export function printProgress(command: Command, text: string): void {
  if (!command.optsWithGlobals<GlobalOptions>().json) printLines(command, text)
}

type NamedClinic = Pick<ClinicInfo, 'id' | 'name'>

/** By program: the clinic that its command concerns. */
const clinics = new WeakMap<Command, NamedClinic>()

/** From now on, what the command prints after a write names this clinic. */
export const nameClinic = (command: Command, { id, name }: NamedClinic): unknown =>
  clinics.set(programOf(command), { id, name })

/**
 * Prints a result: lines of text, or with `--json` one object. Its `data` is the result, unless that has `data` itself. After a write,
 * it names the clinic: in the object, or on stderr.
 */
export function print(command: Command, result: object, lines: readonly string[]): void {
  addToTrail(command, result)
  const { json } = command.optsWithGlobals<GlobalOptions>()
  const clinic = isWrite(command) ? clinics.get(programOf(command)) : undefined
  const object = { ...('data' in result ? result : { data: result }), ...(clinic && { clinic }) }
  printLines(command, ...(json ? [JSON.stringify(object)] : lines.length > 0 ? lines : [noneOf(command)]))
  if (clinic && !json) command.configureOutput().writeErr?.(`Clinic: ${clinic.name} (${clinic.id})\n`)
}

/** What an empty list prints, such as `No dead letters`. */
const noneOf = ({ parent }: Command): string => `No ${parent?.name().replace('-', ' ')}s`

const isWrite = (command: Command): boolean => (roleOf(command) ?? 'read') !== 'read'

/** The role that a command needs with its options; undefined for a command that uses no stack. */
export function roleOf(command: Command): OperatorRole | undefined {
  const name = nameOf(command)
  const { repair, all } = command.opts()
  const option = repair ? 'repair' : all && 'all'
  const withOption = option ? COMMANDS[`${name} --${option}`] : undefined
  return (withOption ?? COMMANDS[name])?.role
}

/** Reports on stderr that a command continues one that was stopped, and that it waits until another one may have been. */
export function walkNotices(command: Command, noun: string): Pick<WalkOptions, 'onResume' | 'onWait'> {
  const write = (text: string) => command.configureOutput().writeErr?.(`${text}\n`)
  return {
    onResume: ({ read, begun }) => write(`Resumed at ${counted(read, noun)}, begun at ${begun}`),
    onWait: (ms) =>
      write(`Waiting up to ${Math.ceil(ms / 1000)} s: another process runs this, or was stopped`),
  }
}

/** `1 appointment`, `2 appointments`. */
export const counted = (count: number, noun: string): string =>
  count === 1 ? `1 ${noun}` : `${count.toLocaleString('en')} ${noun}s`

/** The line about a change: what was done, or why nothing changed. */
export const changeLine = (isChanged: boolean, done: string, reason: string): string =>
  isChanged ? done : `Nothing changed: ${reason}`

/** Columns as wide as their widest cell. */
export function formatTable(rows: readonly (readonly string[])[]): string[] {
  const widths = rows.reduce<number[]>(
    (max, row) => row.map((cell, at) => Math.max(max[at] ?? 0, cell.length)),
    [],
  )
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** Parses one option. @throws CommandFailure with the option's name and the issues */
export const parseOption = <T>(name: string, schema: z.ZodType<T>, value: unknown): T =>
  parseArgument(`--${name}`, schema, value)

/** Parses one argument. @throws CommandFailure with the argument's name and the issues */
export function parseArgument<T>(name: string, schema: z.ZodType<T>, value: unknown): T {
  const { data, error } = schema.safeParse(value)
  if (error) throw new CommandFailure(`${name} ${error.issues.map(({ message }) => message).join(', ')}`)
  return data as T
}
