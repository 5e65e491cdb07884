/** Confirmation of commands whose effect is large or cannot be undone: on a terminal by an answer, otherwise by options. */
import { createInterface } from 'node:readline/promises'
import type { Readable, Writable } from 'node:stream'
import type { Command } from 'commander'
import { programOf } from './command-trail.ts'
import { CommandFailure, EXIT } from './output.ts'

/** Asks the operator, and resolves to the line that was typed; to an empty one at the end of input. */
export type Ask = (question: string) => Promise<string>

type Options = { readonly yes: boolean; readonly confirm?: string }

/** Who can be asked, if the program has a terminal, and the standard input to its end. */
type Input = { readonly ask?: Ask | undefined; readonly readInput?: (() => Promise<string>) | undefined }

const inputs = new WeakMap<Command, Input>()

/** Lets the commands of a program ask the operator, and read standard input. */
export const allowInput = (program: Command, input: Input): unknown => inputs.set(program, input)

const inputOf = (command: Command): Input => inputs.get(programOf(command)) ?? {}

/** Whether there is an operator at a terminal who can be asked. */
export const canAsk = (command: Command): boolean => inputOf(command).ask !== undefined

/**
 * The value of an option. `-` stands for a line that the operator types, or that standard input has without a terminal: names and ids
 * on a command line stay in the history of the shell.
 * @param what A description of the value, such as `the patient's name`
 * @throws CommandFailure without a line
 */
export async function readValue(command: Command, value: string, what: string): Promise<string> {
  if (value !== '-') return value
  const { ask, readInput } = inputOf(command)
  const line = (ask ? await ask(`Type ${what}: `) : await readInput?.())?.replace(/\r?\n$/, '')
  if (!line) throw new CommandFailure(`Nothing was done: standard input does not have ${what}.`)
  return line
}

/** Adds `--yes`, for {@link confirm}. */
export const addYesOption = (command: Command): Command =>
  command.option('--yes', 'do it without asking', false)

/** Adds `--yes` and `--confirm`, for {@link confirmByTyping}. @param what What must be typed, such as `the patient's name` */
export const addConfirmOptions = (command: Command, what: string): Command =>
  addYesOption(command).option(
    '--confirm <text>',
    `with --yes: ${what}, exactly; - reads it from a prompt or from standard input`,
  )

/**
 * Returns if the command has `--yes`, or the operator agrees.
 * @param consequences Shown before the question.
 * @throws CommandFailure otherwise: nothing must have been done yet
 */
export async function confirm(command: Command, consequences: readonly string[]): Promise<void> {
  const { yes } = command.opts<Options>()
  if (yes) return
  const { ask } = inputOf(command)
  if (!ask) throw new CommandFailure([...consequences, 'Nothing was done. Use --yes to do it.'].join('\n'))
  show(command, consequences)
  if (!/^y(es)?$/i.test((await ask('Do it? (yes/no) ')).trim())) throw new CommandFailure('Nothing was done.')
}

/** The text that an operator types to confirm a command. */
export type TypedConfirmation = {
  /** A description of the text, such as `the patient's name`. */
  readonly what: string
  readonly text: string
  /** Shown before the question. They can show the patient: without a terminal they are not printed. */
  readonly consequences: readonly string[]
}

/**
 * Returns if the operator typed the text exactly, or the command has it in `--confirm`, with `--yes`.
 * @throws CommandFailure otherwise: nothing must have been done yet
 */
export async function confirmByTyping(
  command: Command,
  { what, text, consequences }: TypedConfirmation,
): Promise<void> {
  const { yes, confirm: given } = command.opts<Options>()
  const { ask } = inputOf(command)
  if (!yes && !ask)
    throw new CommandFailure(`Nothing was done. Without a terminal, use --yes --confirm with ${what}.`)
  if (yes && given === undefined)
    throw new CommandFailure(`Nothing was done. --yes needs --confirm with ${what}.`)
  if (!yes && ask) show(command, consequences)
  const typed = yes ? await readValue(command, given ?? '', what) : await ask?.(`Type ${what} to do it: `)
  if (typed !== text) throw new CommandFailure(`Nothing was done: that is not ${what}.`)
}

/** Prints to stderr: `--json` prints the result alone, as one object. */
const show = (command: Command, lines: readonly string[]): void =>
  command.configureOutput().writeErr?.(`${lines.join('\n')}\n`)

/** Asks on a terminal. */
export const askOn =
  (input: Readable, output: Writable): Ask =>
  async (question) => {
    const ended = new AbortController()
    // Both streams are a terminal, so Ctrl-D closes the interface.
    const terminal = createInterface({ input, output })
      .once('SIGINT', () => ended.abort('SIGINT'))
      .once('close', () => ended.abort())
    try {
      return await terminal.question(question, { signal: ended.signal })
    } catch (error) {
      if (ended.signal.reason === 'SIGINT') throw new CommandFailure('Nothing was done.', EXIT.interrupted)
      if (ended.signal.aborted) return ''
      throw error
    } finally {
      terminal.close()
    }
  }
