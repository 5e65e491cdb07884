/** Creating, changing and removing records of the catalogue. Its kinds are alike, so one function declares their endpoints. */
import * as z from 'zod'
import { type CatalogueKind, MAX_CATALOGUE } from '../domain/booking/catalogue.ts'
import { MAX_ACTIVE_DOCTORS } from '../domain/booking/doctor.ts'
import { CURRENCIES } from '../domain/money/currencies.ts'
import {
  catalogueName,
  externalId,
  treatmentCode,
  treatmentDescription,
} from '../domain/patients/text-fields.ts'
import { DurationMinutes } from './availability.ts'
import { Department, PriceList, Room, Treatment } from './catalogue.ts'
import type { RecordNotFoundKey } from './error-catalogue.ts'
import { inRecord } from './record-names.ts'
import { defineRoute, type RecordReference } from './route.ts'
import { envelopeOf, RecordDate, sentFields, Uuid } from './schemas.ts'

const name = catalogueName()
const flag = z.boolean({ error: 'must be true or false' }).optional()
const currency = z
  .string({ error: 'must be text' })
  .refine((code) => CURRENCIES.includes(code), { error: 'must be an ISO 4217 code such as EUR' })
  .meta({ pattern: '^[A-Z]{3}$' })
  .optional()
/** Its decimals are checked when its currency is known. */
const price = z.number({ error: 'must be a number' }).min(0, { error: 'must not be negative' })
const listOf = <Item extends z.ZodType>(item: Item, max: number) =>
  z.array(item, { error: 'must be a list' }).max(max, { error: `must have at most ${max} items` })

/** What every response to a change has, where records have it. */
const IN_REFERENCES = ['id', 'is_active']

/** The endpoints that create and update records of a kind, with these fields in requests. `note` is a part of their descriptions. */
function changesOf<
  const Name extends 'department' | 'room' | 'treatment' | 'price-list',
  R extends z.ZodLazy<z.ZodObject>,
  const Fields extends z.ZodRawShape,
>(
  kind: {
    readonly name: Name
    readonly record: R
    /** The name of the schema. */
    readonly schema: string
    readonly notFound: RecordNotFoundKey
    /** The kind of records that it can refer to. */
    readonly references?: 'department' | 'doctor' | 'treatment'
    readonly note?: string
  },
  fields: Fields,
) {
  const { record, schema, notFound, references, note = '' } = kind
  const readScope = kind.name === 'price-list' ? 'finance.read' : 'appointment.read.availability'
  const family = `${kind.name}s` as const
  const path = `/clinic/${family}` as const
  const called = kind.name.replace('-', ' ') as CatalogueKind
  const reference: RecordReference = {
    schema: z.lazy(() => {
      const shape = Object.entries(record.unwrap().shape).map(([field, one]) => [
        field,
        IN_REFERENCES.includes(field) ? one : z.optional(one),
      ])
      const description = `Without \`${readScope}\`, of the optional fields only those that the request had.`
      return z.strictObject(Object.fromEntries(shape)).meta({ id: `${schema}Reference`, description })
    }),
    of: (entry, sent) => sentFields(entry, sent, IN_REFERENCES),
  }
  const unknown = references ? ([`${references}_not_found`] as const) : []
  return {
    create: defineRoute({
      id: `create-${kind.name}` as const,
      method: 'POST',
      path,
      summary: `Create a ${called}`,
      description:
        `A clinic has at most ${MAX_CATALOGUE[called]} of them. Imports find the record by \`external_id\`, which cannot be changed.` +
        note,
      scope: 'catalogue.write',
      readScope,
      body: z
        .strictObject({ ...fields, external_id: externalId().nullish() })
        .meta({ id: `${schema}Create` }),
      response: { status: 201, body: envelopeOf(record), record: { reference }, location: path },
      errors: [...unknown, 'external_id_taken'],
    }),
    update: defineRoute({
      id: `update-${kind.name}` as const,
      method: 'PATCH',
      path: `${path}/{id}` as const,
      summary: `Update a ${called}`,
      description: `Changes only the fields that are sent; null clears an optional one.${note}`,
      scope: 'catalogue.write',
      readScope,
      params: { id: notFound },
      body: z
        .strictObject(fields)
        .partial()
        .meta({ id: `${schema}Changes` }),
      response: { status: 200, body: envelopeOf(record), record: { reference } },
      errors: [notFound, ...unknown, 'precondition_failed'],
    }),
  }
}

export const { create: createDepartment, update: updateDepartment } = changesOf(
  { name: 'department', record: Department, schema: 'Department', notFound: 'department_not_found' },
  { name, is_active: flag },
)

export const { create: createRoom, update: updateRoom } = changesOf(
  {
    name: 'room',
    record: Room,
    schema: 'Room',
    notFound: 'room_not_found',
    references: 'department',
  },
  { name, department_id: Uuid.nullish(), is_active: flag },
)

export const { create: createTreatment, update: updateTreatment } = changesOf(
  {
    name: 'treatment',
    record: Treatment,
    schema: 'Treatment',
    notFound: 'treatment_not_found',
    references: 'doctor',
    note: " The currency is by default the clinic's; another one needs a price in it.",
  },
  {
    name,
    code: treatmentCode().nullish(),
    description: treatmentDescription().nullish(),
    duration_minutes: DurationMinutes,
    price,
    currency,
    doctor_ids: listOf(Uuid, MAX_ACTIVE_DOCTORS).optional(),
    is_active: flag,
  },
)

export const { create: createPriceList, update: updatePriceList } = changesOf(
  {
    name: 'price-list',
    record: PriceList,
    schema: 'PriceList',
    notFound: 'price_list_not_found',
    references: 'treatment',
    note:
      " The currency is by default the clinic's; another one needs `items` with prices in it. The list takes the place of the present " +
      'default if `is_default` is true.',
  },
  {
    name,
    currency,
    is_default: flag,
    valid_from: RecordDate.nullish(),
    valid_to: RecordDate.nullish(),
    items: listOf(
      z.strictObject({ treatment_id: Uuid, price }).meta({ id: 'PriceListItemCreate' }),
      MAX_CATALOGUE.treatment,
    ).optional(),
  },
)

export const deletePriceList = defineRoute({
  id: 'delete-price-list',
  method: 'DELETE',
  path: '/clinic/price-lists/{id}',
  summary: 'Delete a price list',
  description: 'Deletes it with its prices, unless it is the default.',
  scope: 'catalogue.write',
  readScope: 'finance.read',
  params: { id: 'price_list_not_found' },
  response: { status: 204, body: z.undefined() },
  errors: ['price_list_not_found', 'price_list_is_default', 'precondition_failed'],
})

/** The values of a treatment in a request. */
export const treatmentValues = (body: z.output<typeof updateTreatment.body>) => {
  const { duration_minutes: minutes, ...fields } = body
  return { ...inRecord(fields), minutes }
}

/** The values of a price list in a request. */
export const priceListValues = ({ items, ...fields }: z.output<typeof updatePriceList.body>) => ({
  ...inRecord(fields),
  items: items?.map(inRecord),
})
