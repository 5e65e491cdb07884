/** The catalogue of a clinic: departments, rooms, treatments and price lists. */
import * as z from 'zod'
import type {
  Department as DepartmentRecord,
  PriceList as PriceListRecord,
  Room as RoomRecord,
  Treatment as TreatmentRecord,
} from '../domain/booking/catalogue.ts'
import { renderMoney } from '../domain/money/money.ts'
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

export const listDepartments = defineRoute({
  id: 'list-departments',
  method: 'GET',
  path: '/clinic/departments',
  summary: 'List departments',
  description: 'Sorted by name. Includes inactive departments by default.',
  scope: 'appointment.read.availability',
  query: z.strictObject(activePaging()),
  response: { status: 200, body: pageOf(Department) },
  errors: [],
})

export const getDepartment = defineRoute({
  id: 'get-department',
  method: 'GET',
  path: '/clinic/departments/{id}',
  summary: 'Retrieve a department',
  scope: 'appointment.read.availability',
  params: { id: 'department_not_found' },
  response: { status: 200, body: envelopeOf(Department), record: {} },
  errors: ['department_not_found'],
})

export const listRooms = defineRoute({
  id: 'list-rooms',
  method: 'GET',
  path: '/clinic/rooms',
  summary: 'List rooms',
  description: 'Sorted by name. Includes inactive rooms by default.',
  scope: 'appointment.read.availability',
  query: z.strictObject(activePaging()),
  response: { status: 200, body: pageOf(Room) },
  errors: [],
})

export const getRoom = defineRoute({
  id: 'get-room',
  method: 'GET',
  path: '/clinic/rooms/{id}',
  summary: 'Retrieve a room',
  scope: 'appointment.read.availability',
  params: { id: 'room_not_found' },
  response: { status: 200, body: envelopeOf(Room), record: {} },
  errors: ['room_not_found'],
})

export const listTreatments = defineRoute({
  id: 'list-treatments',
  method: 'GET',
  path: '/clinic/treatments',
  summary: 'List treatments',
  description:
    'Sorted by name. Includes inactive treatments by default. Filtering by an unknown id returns an empty list.',
  scope: 'appointment.read.availability',
  query: z.strictObject({
    ...activePaging(),
    doctor_id: Uuid.optional(),
  }),
  response: { status: 200, body: pageOf(Treatment) },
  errors: [],
})

export const getTreatment = defineRoute({
  id: 'get-treatment',
  method: 'GET',
  path: '/clinic/treatments/{id}',
  summary: 'Retrieve a treatment',
  scope: 'appointment.read.availability',
  params: { id: 'treatment_not_found' },
  response: { status: 200, body: envelopeOf(Treatment), record: {} },
  errors: ['treatment_not_found'],
})

export const listPriceLists = defineRoute({
  id: 'list-price-lists',
  method: 'GET',
  path: '/clinic/price-lists',
  summary: 'List price lists',
  description:
    'Sorted by name. A treatment that a list leaves out has its own price. Amounts are numbers in units of the ' +
    'currency, exact to its decimals.',
  scope: 'finance.read',
  query: z.strictObject(paging()),
  response: { status: 200, body: pageOf(PriceList) },
  errors: [],
})

export const getPriceList = defineRoute({
  id: 'get-price-list',
  method: 'GET',
  path: '/clinic/price-lists/{id}',
  summary: 'Retrieve a price list',
  scope: 'finance.read',
  params: { id: 'price_list_not_found' },
  response: { status: 200, body: envelopeOf(PriceList), record: {} },
  errors: ['price_list_not_found'],
})
