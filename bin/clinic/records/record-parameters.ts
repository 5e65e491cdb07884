/** The query parameters of the API's lists as options. */
import type { Command } from 'commander'
import * as z from 'zod'
import { ApiError } from '../../../shared/api/errors.ts'
import { MAX_LIMIT } from '../../../shared/domain/lists/paging.ts'
import { CommandFailure } from '../tool/output.ts'

/** Descriptions of the options that are named after the API's query parameters, with `-` for `_`. */
const PARAMETERS: Readonly<Record<string, readonly [value: string, description: string]>> = {
  page: ['number', 'page number (default: 1)'],
  limit: ['number', `how many, up to ${MAX_LIMIT} (default: 20)`],
  after: ['cursor', 'where an earlier page ended: its next_after'],
  updated_since: ['timestamp', 'changed since then, oldest change first, e.g. 2026-05-01T10:00:00+03:00'],
  patient_id: ['id', 'of this patient'],
  doctor_id: ['id', 'of this doctor'],
  appointment_id: ['id', 'of this appointment'],
  invoice_id: ['id', 'of this invoice'],
  invoice_number: ['number', 'with exactly this number'],
  room_id: ['id', 'of this room'],
  status: ['statuses', 'with one of these statuses, separated by commas'],
  channel: ['channel', 'of this channel'],
  date_from: ['date', 'first date, YYYY-MM-DD'],
  date_to: ['date', 'last date, YYYY-MM-DD'],
  from: ['date', 'first date, YYYY-MM-DD'],
  to: ['date', 'last date, YYYY-MM-DD'],
  order: ['order', 'newest or oldest first (default: desc)'],
  search: ['words', 'words of the name, email address or phone number'],
  is_active: ['boolean', 'true or false'],
  external_id: ['id', "id in the clinic's own system, alone or with --limit"],
  national_id: ['id', 'with exactly this national id'],
}

const optionName = (parameter: string): string => parameter.replaceAll('_', '-')

const attributeName = (parameter: string): string =>
  parameter.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Adds the parameters of a query as options. */
export function addParameters(command: Command, schema: z.ZodObject): Command {
  for (const [name, parameter] of Object.entries(schema.shape)) {
    // The tool has an option of its own for appointments outside working hours.
    if (name === 'expand' || name === 'outside_hours') continue
    const known = PARAMETERS[name]
    if (!known) throw new RangeError(`the parameter ${name} has no option`)
    const [value, description] = known
    const listed =
      name === 'is_active' ? '' : listOf(parameter instanceof z.ZodOptional ? parameter.unwrap() : parameter)
    command.option(`--${optionName(name)} <${value}>`, `${description}${listed}`)
  }
  return command
}

/** The values of a parameter that has a fixed set of them. */
function listOf(schema: z.core.SomeType): string {
  if (schema instanceof z.ZodEnum) return `: ${schema.options.join(', ')}`
  const [, values] = /^\^\(([\w|]+)\)/.exec(String((schema as z.ZodType).meta()?.pattern)) ?? []
  return values ? `: ${values.replaceAll('|', ', ')}` : ''
}

/** The query of options. @throws CommandFailure naming every invalid option */
export function parseParameters(schema: z.ZodObject, given: object): object {
  const options = given as Readonly<Record<string, unknown>>
  const values = Object.keys(schema.shape).flatMap((name) => {
    const value = options[attributeName(name)]
    return value === undefined ? [] : [[name, value]]
  })
  const { data, error } = schema.safeParse(Object.fromEntries(values))
  if (error)
    throw failure(error.issues.map(({ path, message }) => ({ field: String(path[0]), issue: message })))
  return data as object
}

/** Names the options of the parameters that an error of the API names. */
export function failForParameter(error: unknown): never {
  if (error instanceof ApiError && error.details)
    throw failure(error.details as readonly { field: string; issue: string }[])
  throw error
}

const failure = (issues: readonly { readonly field: string; readonly issue: string }[]): CommandFailure =>
  new CommandFailure(
    issues
      .map(
        ({ field, issue }) =>
          `--${optionName(field)} ${issue.replace(/%2B/g, '+').replace(/, where .*$/, '')}`,
      )
      .join('\n'),
  )
