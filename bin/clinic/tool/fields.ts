/** Options that set the fields of a record. */
import { type Command, Option } from 'commander'
import * as z from 'zod'
import { CommandFailure, parseOption } from './output.ts'

export type Field = {
  /** As in `--first-name <name>`. */
  readonly flags: string
  readonly description?: string
  readonly schema: z.ZodType
  /** Texts that stand for a value, such as "" for none. */
  readonly words?: Readonly<Record<string, unknown>>
  readonly isRequired?: boolean
}

/** The word of a field that may have no value. */
export const NONE = { '': null }

/** The options of a record, by the names of its fields. */
export type Fields<Record> = { readonly [Name in keyof Record]?: Field }

const listed = (fields: object): [field: string, option: Field][] => Object.entries(fields)

export function addFields(command: Command, fields: object): Command {
  for (const [, { flags, description, isRequired = false }] of listed(fields))
    command.addOption(new Option(flags, description).makeOptionMandatory(isRequired))
  return command
}

/** The fields that options set: their values, and null for each that is removed. @throws CommandFailure naming the option */
export const fieldsOf = <R>(fields: Fields<R>, given: object): Partial<R> =>
  Object.fromEntries(
    listed(fields).flatMap(([field, { flags, schema, words = {} }]) => {
      const option = new Option(flags)
      const text = (given as Readonly<Record<string, unknown>>)[option.attributeName()]
      if (text === undefined) return []
      const isWord = Object.hasOwn(words, String(text))
      return [[field, isWord ? words[String(text)] : parseOption(option.name(), schema, text)]]
    }),
  ) as Partial<R>

/** The text of a number, such as of requests per minute. */
export const numberOf = (what: string) =>
  z.coerce
    .number({ error: `must be a number of ${what}` })
    .int({ error: 'must be a whole number' })
    .min(1, { error: 'must be at least 1' })
    .max(1_000_000, { error: 'must be at most 1000000' })

/** @throws CommandFailure for a command without any option about what to change */
export function requireChange({ clinic: _, yes: __, ...options }: Readonly<Record<string, unknown>>): void {
  if (Object.keys(options).length === 0)
    throw new CommandFailure('Nothing to change: specify at least one option.')
}
