/** The catalogue of a clinic: departments, rooms, treatments and price lists. */
import * as z from 'zod'
import type {
  Department as DepartmentRecord,
  PriceList as PriceListRecord,
  Room as RoomRecord,
  Treatment as TreatmentRecord,
} from '../domain/booking/catalogue.ts'
import { renderMoney } from '../domain/money/money.ts'
import type { Scope } from '../domain/scope.ts'
import type { RecordNotFoundKey } from './error-catalogue.ts'
import { defineRoute } from './route.ts'
import { activePaging, CalendarDate, envelopeOf, pageOf, paging, Uuid } from './schemas.ts'

const isActive = z.boolean()
const currency = z.string().length(3)

export const Department = z.lazy(() =>
  z.strictObject({ id: Uuid, name: z.string(), is_active: isActive }).meta({ id: 'Department' }),
)

export const renderDepartment = (department: DepartmentRecord): z.input<typeof Department> => ({
  id: department.id,
  name: department.name,
  is_active: department.isActive,
})

export const Room = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      name: z.string(),
      department_id: Uuid.nullable(),
      is_active: isActive,
    })
    .meta({ id: 'Room' }),
)

export const renderRoom = (room: RoomRecord): z.input<typeof Room> => ({
  id: room.id,
  name: room.name,
  department_id: room.departmentId,
  is_active: room.isActive,
})

export const Treatment = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      name: z.string(),
      code: z.string().nullable(),
      description: z.string().nullable(),
      duration_minutes: z.int(),
      price: z.number(),
      currency,
      doctor_ids: z.array(Uuid),
      is_active: isActive,
    })
    .meta({ id: 'Treatment' }),
)

export const renderTreatment = (treatment: TreatmentRecord): z.input<typeof Treatment> => ({
  id: treatment.id,
  name: treatment.name,
  code: treatment.code,
  description: treatment.description,
  duration_minutes: treatment.minutes,
  price: renderMoney(treatment.price, treatment.currency),
  currency: treatment.currency,
  doctor_ids: [...treatment.doctorIds],
  is_active: treatment.isActive,
})

const PriceListItem = z.lazy(() =>
  z.strictObject({ treatment_id: Uuid, price: z.number() }).meta({ id: 'PriceListItem' }),
)

export const PriceList = z.lazy(() =>
  z
    .strictObject({
      id: Uuid,
      name: z.string(),
      currency,
      is_default: z.boolean(),
      valid_from: CalendarDate.nullable(),
      valid_to: CalendarDate.nullable(),
      items: z.array(PriceListItem),
    })
    .meta({ id: 'PriceList' }),
)

export const renderPriceList = (list: PriceListRecord): z.input<typeof PriceList> => ({
  id: list.id,
  name: list.name,
  currency: list.currency,
  is_default: list.isDefault,
  valid_from: list.validFrom,
  valid_to: list.validTo,
  items: list.items.map(({ treatmentId, price }) => ({
    treatment_id: treatmentId,
    price: renderMoney(price, list.currency),
  })),
})

/** The endpoints that list and return the records of a kind. */
function readsOf<
  const Name extends 'department' | 'room' | 'treatment' | 'price-list',
  const ReadScope extends Scope,
  Record extends z.ZodType,
  Query extends z.ZodRawShape,
>(kind: {
  readonly name: Name
  readonly notFound: RecordNotFoundKey
  readonly record: Record
  readonly scope: ReadScope
  readonly query: Query
  readonly description: string
}) {
  const { name, notFound, record, scope, query, description } = kind
  const path = `/clinic/${name}s` as const
  const called = name.replace('-', ' ')
  return {
    list: defineRoute({
      id: `list-${name}s` as const,
      method: 'GET',
      path,
      summary: `List ${called}s`,
      description,
      scope,
      query: z.strictObject(query),
      response: { status: 200, body: pageOf(record) },
      errors: [],
    }),
    get: defineRoute({
      id: `get-${name}` as const,
      method: 'GET',
      path: `${path}/{id}` as const,
      summary: `Retrieve a ${called}`,
      scope,
      params: { id: notFound },
      response: { status: 200, body: envelopeOf(record), record: {} },
      errors: [notFound],
    }),
  }
}

export const { list: listDepartments, get: getDepartment } = readsOf({
  name: 'department',
  notFound: 'department_not_found',
  record: Department,
  scope: 'appointment.read.availability',
  query: activePaging(),
  description: 'Sorted by name. Includes inactive departments by default.',
})

export const { list: listRooms, get: getRoom } = readsOf({
  name: 'room',
  notFound: 'room_not_found',
  record: Room,
  scope: 'appointment.read.availability',
  query: activePaging(),
  description: 'Sorted by name. Includes inactive rooms by default.',
})

export const { list: listTreatments, get: getTreatment } = readsOf({
  name: 'treatment',
  notFound: 'treatment_not_found',
  record: Treatment,
  scope: 'appointment.read.availability',
  query: { ...activePaging(), doctor_id: Uuid.optional() },
  description:
    'Sorted by name. Includes inactive treatments by default. Filtering by an unknown id returns an empty list.',
})

export const { list: listPriceLists, get: getPriceList } = readsOf({
  name: 'price-list',
  notFound: 'price_list_not_found',
  record: PriceList,
  scope: 'finance.read',
  query: paging(),
  description:
    'Sorted by name. A treatment that a list leaves out has its own price. Amounts are numbers in units of the ' +
    'currency, exact to its decimals.',
})
