import * as z from 'zod'
import { NotDueIssue, requireChanged } from '../api/appointment-actions.ts'
import { Alternative, OutsideHours, rejectionError, takenError } from '../api/bookings.ts'
import { type ErrorKey, errorEntry } from '../api/error-catalogue.ts'
import { ApiError, errorBody, MAX_DETAILS, missingScope } from '../api/errors.ts'
import { invoiceRejected } from '../api/new-invoice.ts'
import { AmountIssue, paymentRejected } from '../api/new-payment.ts'
import { type Route, scopesOf } from '../api/route.ts'
import { invalidCursor, oneOf, rangeRequired, Uuid } from '../api/schemas.ts'
import { applyAction } from '../domain/booking/appointment-actions.ts'
import { MAX_TREATMENTS } from '../domain/booking/placement.ts'
import { SCOPES } from '../domain/scope.ts'
import { validateBody } from '../http/read-body.ts'
import { parseQuery } from '../http/validate.ts'
import { appointment, clinic, freeSlots, invoice, patient } from './example-records.ts'
import { headersOf } from './headers.ts'
import type { Json, SchemaCollector } from './schemas.ts'

const FieldIssue = z
  .strictObject({
    field: z.string(),
    issue: z.string(),
  })
  .meta({ id: 'FieldIssue' })

const UnknownId = z.strictObject({ field: z.string() }).meta({ id: 'UnknownId' })

type Details = {
  readonly itemSchema: z.ZodObject
  /** The details of the response of a route; undefined if it has none. */
  readonly example: (route: Route) => readonly object[] | undefined
  readonly maxItems?: number
  /** An error for an unknown id in a path or query has no details. */
  readonly isOptional?: true
}

/** The details of unknown ids in fields of bodies, such as `room_id` or `treatment_ids.0`: an example has the first that a body has. */
const unknownIdsIn = (fields: readonly string[], maxItems = 1): Details => ({
  itemSchema: UnknownId,
  maxItems,
  isOptional: true,
  example: ({ body }) => {
    const field = fields.find((one) => body && Object.hasOwn(body.shape, one.replace('.0', '')))
    return field === undefined ? undefined : [{ field }]
  },
})

const DETAILS: Partial<Record<ErrorKey, Details>> = {
  invalid_params: {
    itemSchema: FieldIssue,
    example: ({ query }) =>
      detailsOf(() => parseQuery(query, { colour: ['blue'], ...(query?.shape.limit && { limit: ['0'] }) })),
  },
  invalid_cursor: {
    itemSchema: FieldIssue,
    maxItems: 1,
    example: () => invalidCursor().details ?? [],
  },
  range_required: {
    itemSchema: FieldIssue,
    // Invoices have two such filters.
    maxItems: 2,
    example: ({ query }) =>
      rangeRequired(
        ['room_id', 'appointment_id'].find((name) => query && Object.hasOwn(query.shape, name)) ?? 'status',
      ).details ?? [],
  },
  validation: {
    itemSchema: FieldIssue,
    example: ({ body, fieldAliases = {} }) =>
      body ? detailsOf(() => validateBody(body, fieldAliases, { colour: 'blue' })) : [],
  },
  missing_scope: {
    itemSchema: z.strictObject({ scope: oneOf(SCOPES) }).meta({ id: 'MissingScope' }),
    maxItems: SCOPES.length,
    example: (route) => missingScope(scopesOf(route)).details ?? [],
  },
  invoice_number_taken: {
    itemSchema: z
      .strictObject({ field: z.literal('invoice_number'), id: Uuid })
      .meta({ id: 'TakenInvoiceNumber' }),
    maxItems: 1,
    example: () => invoiceRejected({ kind: 'invoice_number_taken', holder: invoice.id }).details,
  },
  invoice_not_draft: {
    itemSchema: UnknownId,
    example: () => invoiceRejected({ kind: 'invoice_not_draft', fields: ['line_items'] }).details,
  },
  appointment_not_due: {
    itemSchema: NotDueIssue,
    maxItems: 1,
    example: () => {
      const { createdAt: at } = appointment
      const { timezone } = clinic
      const early = applyAction(appointment, { kind: 'no_show' }, { at, timezone })
      return detailsOf(() => requireChanged(early, timezone))
    },
  },
  patient_not_found: unknownIdsIn(['patient_id']),
  department_not_found: unknownIdsIn(['department_id']),
  doctor_not_found: unknownIdsIn(['doctor_id', 'doctor_ids']),
  invoice_not_found: unknownIdsIn(['invoice_id']),
  treatment_not_found: unknownIdsIn(['treatment_ids.0', 'items'], MAX_TREATMENTS),
  room_not_found: unknownIdsIn(['room_id']),
  outside_working_hours: {
    itemSchema: OutsideHours,
    maxItems: 1,
    example: () => rejectionError({ kind: 'outside_hours', reason: 'break' }).details ?? [],
  },
  external_id_taken: {
    itemSchema: z.strictObject({ field: z.literal('external_id'), id: Uuid }).meta({ id: 'TakenExternalId' }),
    maxItems: 1,
    example: () => [{ field: 'external_id', id: patient.id }],
  },
  amount_exceeds_balance: amountAbove('amount_exceeds_balance'),
  amount_exceeds_paid: amountAbove('amount_exceeds_paid'),
  slot_unavailable: { itemSchema: Alternative, maxItems: 3, example: () => alternatives('taken') },
  room_unavailable: { itemSchema: Alternative, maxItems: 3, example: () => alternatives('room_taken') },
}

function amountAbove(kind: 'amount_exceeds_balance' | 'amount_exceeds_paid') {
  const example = () => paymentRejected({ kind, maximum: 5000 }, invoice.currency).details ?? []
  return { itemSchema: AmountIssue, maxItems: 1, example }
}

const alternatives = (kind: 'taken' | 'room_taken') =>
  takenError({ kind, alternatives: freeSlots(appointment.date) }).details ?? []

/** The details of the error of a request that is not valid. */
function detailsOf(request: () => unknown): readonly object[] {
  try {
    request()
  } catch (error) {
    if (error instanceof ApiError) return error.details ?? []
    throw error
  }
  return []
}

const DetailsOmitted: Json = {
  type: 'integer',
  minimum: 1,
}

/** The fields of an item of an error's `details`, of one route or any; null for an error without details. */
export function detailFields(key: ErrorKey, route?: Route): string[] | null {
  const details = DETAILS[key]
  return details && (!route || details.example(route)) ? Object.keys(details.itemSchema.shape) : null
}

/** The schema of one error of the catalogue: exactly its code and key, and its details if it has any. */
export function errorSchema(key: ErrorKey, { schemaOf }: Pick<SchemaCollector, 'schemaOf'>): Json {
  const { error, text } = errorEntry(key)
  const details = DETAILS[key]
  return {
    type: 'object',
    description: text,
    properties: {
      error: { type: 'string', const: error },
      message: { type: 'string', const: errorBody(key).message },
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
  }
}

/** `patient_not_found` is `PatientNotFound`. */
export const pascalCase = (key: string): string =>
  key.replace(/(?:^|_)([a-z])/g, (_all, letter: string) => letter.toUpperCase())

/** The response of one status, with every error that can have it and an example of each. */
export function errorResponse(keys: readonly ErrorKey[], schemas: readonly Json[], route?: Route): Json {
  const [first, ...more] = schemas
  const exampleOf = (key: ErrorKey) => errorBody(key, route && DETAILS[key]?.example(route))
  return {
    description: keys.map((key) => errorEntry(key).text).join(' Or: '),
    headers: headersOf(keys, route),
    content: {
      'application/json': {
        schema: more.length === 0 ? first : { oneOf: schemas },
        examples: Object.fromEntries(keys.map((key) => [key, { value: exampleOf(key) }])),
      },
    },
  }
}

/** Error keys grouped by status, in ascending order of status. */
export function groupByStatus(keys: readonly ErrorKey[]): [status: string, keys: ErrorKey[]][] {
  const groups = Object.groupBy(keys, (key) => String(errorEntry(key).status))
  return Object.entries(groups).map(([status, group]) => [status, group ?? []])
}
