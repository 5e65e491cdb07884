import * as z from 'zod'
import { SCOPES } from '../../domain/scope.ts'
import { Alternative } from '../bookings.ts'
import { type ErrorKey, errorEntry } from '../error-catalogue.ts'
import { errorBody, MAX_DETAILS } from '../errors.ts'
import { oneOf } from '../schemas.ts'
import type { Examples } from './examples.ts'
import { headersOf } from './headers.ts'
import type { Json, SchemaCollector } from './schemas.ts'

const FieldIssue = z
  .strictObject({
    field: z
      .string()
      .meta({ description: 'The name of the parameter or field, such as `events.0` for a list item.' }),
    issue: z.string().meta({ description: 'What is wrong with it, in English. Intended for developers.' }),
  })
  .meta({ id: 'FieldIssue' })

type Details = {
  readonly itemSchema: z.ZodObject
  readonly maxItems?: number
  /** The gateway's own invalid_params response has no details. */
  readonly isOptional?: true
}

const DETAILS: Partial<Record<ErrorKey, Details>> = {
  invalid_params: { itemSchema: FieldIssue, isOptional: true },
  invalid_cursor: { itemSchema: FieldIssue, maxItems: 1 },
  validation: { itemSchema: FieldIssue },
  missing_scope: { itemSchema: z.strictObject({ scope: oneOf(SCOPES) }), maxItems: SCOPES.length },
  slot_unavailable: { itemSchema: Alternative, maxItems: 3 },
  room_unavailable: { itemSchema: Alternative, maxItems: 3 },
}

const DetailsOmitted: Json = {
  type: 'integer',
  minimum: 1,
  description: `The number of items that \`details\` leaves out. Present only if there are more than ${MAX_DETAILS}.`,
}

/** The fields of an item of an error's `details`; null for an error without details. */
export const detailFields = (key: ErrorKey): string[] | null =>
  DETAILS[key] ? Object.keys(DETAILS[key].itemSchema.shape) : null

/** The schema of one error of the catalogue: exactly its code and key, and its details if it has any. */
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
          maxItems: details.maxItems ?? MAX_DETAILS,
        },
        ...(details.maxItems === undefined && { details_omitted: DetailsOmitted }),
      }),
    },
    required: ['error', 'message', ...(details && !details.isOptional ? ['details'] : [])],
    additionalProperties: false,
  }
}

/** `patient_not_found` is `PatientNotFound`. */
export const pascalCase = (key: string): string =>
  key.replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase())

/** The response of one status, with every error that can have it and an example of each. */
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

/** Error keys grouped by status, in ascending order of status. */
export function groupByStatus(keys: readonly ErrorKey[]): [status: string, keys: ErrorKey[]][] {
  const groups = Object.groupBy(keys, (key) => String(errorEntry(key).status))
  return Object.entries(groups).map(([status, group]) => [status, group ?? []])
}
