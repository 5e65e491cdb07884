import * as z from 'zod'
import { SCOPES } from '../../domain/scope.ts'
import { Alternative } from '../appointments.ts'
import { type ErrorKey, errorBody, errorEntry } from '../errors.ts'
import { oneOf } from '../schemas.ts'
import type { Examples } from './examples.ts'
import { headersOf } from './headers.ts'
import type { Json, SchemaCollector } from './schemas.ts'

const FieldIssue = z
  .strictObject({
    field: z.string().meta({ description: 'The parameter or field, as `events.0` inside a list.' }),
    issue: z.string().meta({ description: 'What is wrong with it, in English; for developers.' }),
  })
  .meta({ id: 'FieldIssue' })

type Details = {
  readonly itemSchema: z.ZodObject
  readonly maxItems?: number
  /** The gateway's own invalid_params have none. */
  readonly isOptional?: true
}

const DETAILS: Partial<Record<ErrorKey, Details>> = {
  invalid_params: { itemSchema: FieldIssue, isOptional: true },
  validation: { itemSchema: FieldIssue },
  missing_scope: { itemSchema: z.strictObject({ scope: oneOf(SCOPES) }) },
  slot_unavailable: { itemSchema: Alternative, maxItems: 3 },
}

/** The fields of each of an error's `details`; null for an error without. */
export const detailFields = (key: ErrorKey): string[] | null =>
  DETAILS[key] ? Object.keys(DETAILS[key].itemSchema.shape) : null

/** The schema of one error of the catalogue: its code and key, and nothing else. */
export function errorSchema(key: ErrorKey, { schemaOf }: Pick<SchemaCollector, 'schemaOf'>): Json {
  const { error, text } = errorEntry(key)
  const details = DETAILS[key]
  return {
    type: 'object',
    description: text,
    properties: {
      error: { const: error },
      message: { const: errorBody(key).message },
      ...(details && {
        details: {
          type: 'array',
          items: schemaOf(details.itemSchema, 'output'),
          ...(details.maxItems !== undefined && { maxItems: details.maxItems }),
        },
      }),
    },
    required: ['error', 'message', ...(details && !details.isOptional ? ['details'] : [])],
    additionalProperties: false,
  }
}

/** `patient_not_found` is `PatientNotFound`. */
export const pascalCase = (key: string): string =>
  key.replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase())

/** One answer: its status with every error that it may carry, each shown by an example. */
export function errorResponse(
  keys: readonly ErrorKey[],
  schemas: readonly Json[],
  { errors }: Pick<Examples, 'errors'>,
  overrides: Partial<Record<ErrorKey, unknown>> = {},
): Json {
  const [first, ...more] = schemas
  return {
    description: keys.map((key) => errorEntry(key).text).join(' Or: '),
    headers: headersOf(keys),
    content: {
      'application/json': {
        schema: more.length === 0 ? first : { oneOf: schemas },
        examples: Object.fromEntries(
          keys.map((key) => [key, { value: overrides[key] ?? errors[key] ?? errorBody(key) }]),
        ),
      },
    },
  }
}

/** Keys by their status, in the order of statuses. */
export function groupByStatus(keys: readonly ErrorKey[]): [status: string, keys: ErrorKey[]][] {
  const groups = Object.groupBy(keys, (key) => String(errorEntry(key).status))
  return Object.entries(groups).map(([status, group]) => [status, group ?? []])
}
