/**
 * The one list of ids, queries and bodies for tests that send requests to every route. It does not compile without a sample for
 * each kind of record in a path, for each body, and for each query that is required.
 */
import type * as z from 'zod'
import { RECORD_NOT_FOUND_KEYS, type RecordNotFoundKey } from '../../shared/api/error-catalogue.ts'
import { acceptsIdempotencyKey, type Route } from '../../shared/api/route.ts'
import type { Endpoint } from '../../shared/api/routes.ts'
import type { Appointment } from '../../shared/domain/booking/appointment.ts'
import { formatSpan } from '../../shared/domain/booking/doctor-days.ts'
import { expiryOf, type HoldRequest, holdTime, MAX_HOLD_SECONDS } from '../../shared/domain/booking/hold.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { addDays, wallClock } from '../../shared/domain/clock.ts'
import type { Invoice } from '../../shared/domain/money/invoice.ts'
import { newUuid, timeOffId } from '../../shared/domain/uuid.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { holdStore } from '../../shared/store/calendar/holds.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { priceListStore } from '../../shared/store/catalogue.ts'
import { COUNT } from '../../shared/store/catalogue-count.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { holidayStore } from '../../shared/store/holidays.ts'
import { priceListsPartition } from '../../shared/store/keys/catalogue.ts'
import { catalogueVersionKey } from '../../shared/store/keys/operator.ts'
import { UNREQUESTED } from '../../shared/store/table/idempotency.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { aPriceList } from './catalogue.ts'
import { createWebhook } from './deliveries.ts'
import type { RequestInput } from './event.ts'
import { paymentChanges } from './payment-changes.ts'
import {
  createDeliveries,
  createPopulatedClinic,
  createRecord,
  type PopulatedClinic,
  type WebhookWithDeliveries,
} from './records.ts'
import { type aPatient, newClinic } from './table.ts'

type SampleRecords = PopulatedClinic &
  WebhookWithDeliveries & { timeOff: { id: string }; holiday: { id: string }; hold: { id: string } }

/** An id of each kind, by the error for an unknown one. */
export type SampleIds = Readonly<Record<RecordNotFoundKey, string>>

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name
type KindOf<Key> = Key extends `${infer Kind}_not_found` ? CamelCase<Kind> : never

/** The id of the record of a kind: of `priceList` for `price_list_not_found`. */
function idOf(records: Readonly<Record<KindOf<RecordNotFoundKey>, { id: string }>>, key: RecordNotFoundKey) {
  const kind = key.replace('_not_found', '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  return records[kind as KindOf<RecordNotFoundKey>].id
}

/** Makes an id of each kind. */
export const idsOf = (make: (kind: RecordNotFoundKey) => string): SampleIds =>
  Object.fromEntries(RECORD_NOT_FOUND_KEYS.map((kind) => [kind, make(kind)])) as SampleIds

/** Ids of records that do not exist. */
export const unknownIds = (): SampleIds => idsOf(newUuid)

/** Ids of the webhook or appointment for a request that can be made of each only once. */
const NEW_IDS_FOR: Partial<
  Record<Endpoint['id'], (table: Table, records: SampleRecords) => Promise<Partial<SampleIds>>>
> = {
  'confirm-appointment': newAppointment,
  'check-in-appointment': newAppointment,
  'complete-appointment': newAppointment,
  'cancel-appointment': newAppointment,
  'no-show-appointment': newAppointment,
  'reopen-appointment': newMissedAppointment,
  'update-invoice': newDraft,
  'send-invoice': newDraft,
  'cancel-invoice': newDraft,
  'create-payment': async (table, records) => ({ invoice_not_found: (await newInvoice(table, records)).id }),
  'void-payment': newPaidInvoice,
  'delete-price-list': async (table, { clinic }) => {
    const after = { ...aPriceList(), imported: 'x' }
    await priceListStore({ table }).save(clinic.id, [{ before: null, after }])
    // As an earlier version left it, so that the deletion counts the price lists.
    await table.update(catalogueVersionKey(clinic.id, priceListsPartition(clinic.id)), {
      UpdateExpression: `REMOVE ${COUNT}`,
    })
    return { price_list_not_found: after.id }
  },
  'create-appointment': newHold,
  'get-hold': newHold,
  'delete-hold': newHold,
  'delete-time-off': newTimeOff,
  'delete-holiday': newHoliday,
  'delete-webhook': async (table, { clinic, webhook: { url } }) => ({
    webhook_not_found: (await createWebhook(table, clinic.id, { url })).id,
  }),
}

async function newAppointment(
  table: Table,
  { clinic, appointment, room }: SampleRecords,
  facts: Partial<Appointment> = {},
) {
  const id = newUuid()
  await createRecord(table, clinic, appointmentStore({ table }), { ...appointment, room, ...facts, id })
  return { appointment_not_found: id }
}

/** An unpaid draft with a number of its own. */
async function newDraft(table: Table, records: SampleRecords) {
  const facts = { number: newUuid(), status: 'draft', clinicStatus: 'draft' } as const
  return { invoice_not_found: (await newInvoice(table, records, facts)).id }
}

/** An unpaid invoice, of 100.00 if nothing else is said. */
export async function newInvoice(
  table: Table,
  { clinic, invoice }: Pick<SampleRecords, 'clinic' | 'invoice'>,
  facts: Partial<Invoice> = {},
): Promise<Invoice> {
  const own: Invoice = { ...invoice, id: newUuid(), total: 10_000, status: 'sent', paid: 0, ...facts }
  await createRecord(table, clinic, invoiceStore({ table }), own)
  return own
}

/** A payment of a whole invoice, which is no longer paid without it. */
async function newPaidInvoice(table: Table, { clinic, invoice, payment }: SampleRecords) {
  const id = newUuid()
  const own = await newInvoice(table, { clinic, invoice })
  const build = () => ({ ...payment, id, amount: own.total, invoice: { id: own.id, number: own.number } })
  await (await paymentChanges(table, clinic.id, own.id, [{ id, build }]))?.commit()
  return { payment_not_found: id }
}

let days = 0

/** A day long ago that no other sample has. */
const newDay = () => {
  const date = addDays('2000-01-01', days++)
  return { from: date, to: date, reason: null }
}

async function newTimeOff(
  table: Table,
  { clinic, doctor: { id } }: Pick<PopulatedClinic, 'clinic' | 'doctor'>,
) {
  const store = doctorStore({ table })
  const day = newDay()
  const before = await store.find(clinic.id, id)
  const { version: _, ...doctor } = before as NonNullable<typeof before>
  await store.save(clinic.id, [{ before, after: { ...doctor, timeOff: [...doctor.timeOff, day] } }])
  return { time_off_not_found: timeOffId(id, formatSpan(day)) }
}

async function newHoliday(table: Table, { clinic: { id } }: Pick<PopulatedClinic, 'clinic'>) {
  const day = newDay()
  await holidayStore({ table }).set(id, (before) => [...before, day])
  await holidayStore({ table }).refreshCopies(id)
  return { holiday_not_found: timeOffId(id, formatSpan(day)) }
}

let holds = 0

/** A hold of the newest credential of the clinic with the most scopes, in a room. */
export async function newHold(
  table: Table,
  { clinic, doctor, room }: Pick<PopulatedClinic, 'clinic' | 'doctor' | 'room'>,
) {
  const now = table.now()
  const credentials = await credentialStore({ table, now: table.now }).list(clinic.id)
  const [newest] = credentials.toSorted(
    (a, b) => b.scopes.length - a.scopes.length || (a.createdAt < b.createdAt ? 1 : -1),
  )
  const request: HoldRequest = {
    id: newUuid(),
    credential: newest?.key ?? '',
    doctor: doctor.id,
    room: room.id,
    date: dateOf(500 + holds++),
    startTime: '15:00',
    minutes: 30,
    treatments: [],
    timezone: clinic.timezone,
    clock: wallClock(now, clinic.timezone),
    expiresAt: expiryOf(MAX_HOLD_SECONDS, now),
    createdAt: new Date(now).toISOString(),
  }
  const { create } = holdStore({ table, now: table.now })
  await create(clinic.id, request, (facts) => holdTime(request, facts), UNREQUESTED)
  return { hold_not_found: request.id }
}

let missed = 0

/** An appointment that the patient missed, at a time that no other one takes. */
function newMissedAppointment(table: Table, records: SampleRecords) {
  return newAppointment(table, records, { status: 'no_show', date: addDays('2020-01-01', missed++) })
}

export type RouteSamples = SampleRecords & {
  readonly ids: SampleIds
  /** The ids for a request that succeeds: ids of new records for an endpoint that succeeds once for each. */
  readonly idsFor: (route: Route) => Promise<SampleIds>
}

/** Creates one record of every kind, with a webhook that is subscribed to everything and the deliveries of their events. */
export async function createRouteSamples(
  table: Table,
  facts: {
    readonly clinic?: Clinic
    readonly patient?: ReturnType<typeof aPatient>
    readonly webhook?: Partial<Webhook>
  } = {},
): Promise<RouteSamples> {
  const clinic = facts.clinic ?? (await newClinic(table))
  // Before the records, so that a running stack delivers their events to it.
  const webhook = await createWebhook(table, clinic.id, facts.webhook)
  const populated = await createPopulatedClinic(table, facts.patient, clinic)
  const times = { ...(await newTimeOff(table, populated)), ...(await newHoliday(table, populated)) }
  const records = {
    ...populated,
    timeOff: { id: times.time_off_not_found },
    holiday: { id: times.holiday_not_found },
    // Of a credential, which tests create afterwards.
    hold: { id: newUuid() },
    webhook,
    deliveries: await createDeliveries(table, clinic, webhook),
  }
  const ids = idsOf((kind) => idOf({ ...records, delivery: records.deliveries[0] }, kind))
  return {
    ...records,
    ids,
    idsFor: async (route) => ({ ...ids, ...(await sampleOf(NEW_IDS_FOR, route)?.(table, records)) }),
  }
}

/** The date on which the n-th appointment is booked: a Monday, on which the doctor of the samples works. */
const dateOf = (n: number): string => new Date(Date.UTC(2030, 0, 7 + 7 * n)).toISOString().slice(0, 10)

const MONDAYS = { mon: [{ start_time: '09:00', end_time: '17:00' }] }

/** A day of the same week on which the doctor does not work. */
const saturday = (n: number): string => addDays(dateOf(n), 5)

type WithBody = Extract<Endpoint, { readonly body: z.ZodObject }>

/** The n-th valid body. Those with another number differ, as far as a body of the endpoint can. */
const BODIES: {
  readonly [E in WithBody as E['id']]: (ids: SampleIds, n: number) => z.input<E['body']>
} = {
  'create-patient': (_, n) => ({ first_name: `Ada${n}`, last_name: 'Kaya' }),
  'update-patient': (_, n) => ({ last_name: `Kaya${n}`, email_address: `${n}@example.com`, gender: null }),
  'deactivate-patient': () => ({}),
  'activate-patient': () => ({}),
  'create-department': (_, n) => ({ name: `Department ${n}` }),
  'update-department': (_, n) => ({ name: `Department ${n}` }),
  'create-room': (ids, n) => ({ name: `Room ${n}`, department_id: ids.department_not_found }),
  'update-room': (ids, n) => ({ name: `Room ${n}`, department_id: ids.department_not_found }),
  'create-treatment': (ids, n) => ({
    name: `Treatment ${n}`,
    duration_minutes: 30,
    price: 10,
    doctor_ids: [ids.doctor_not_found],
  }),
  'update-treatment': (ids, n) => ({ name: `Treatment ${n}`, doctor_ids: [ids.doctor_not_found] }),
  'create-price-list': (ids, n) => ({
    name: `Prices ${n}`,
    items: [{ treatment_id: ids.treatment_not_found, price: n }],
  }),
  'update-price-list': (ids, n) => ({
    name: `Prices ${n}`,
    items: [{ treatment_id: ids.treatment_not_found, price: n }],
  }),
  'create-doctor': (ids, n) => ({
    full_name: `Dr. Ada ${n}`,
    department_id: ids.department_not_found,
    hours: MONDAYS,
  }),
  'update-doctor': (_, n) => ({ full_name: `Dr. Bo ${n}`, exceptions: { [saturday(n)]: [] } }),
  'create-time-off': (_, n) => ({ from: saturday(n), start_time: '13:00', end_time: '14:00' }),
  'create-holiday': (_, n) => ({ from: saturday(n), name: `no. ${n}` }),
  'create-hold': (ids, n) => ({
    doctor_id: ids.doctor_not_found,
    room_id: ids.room_not_found,
    appointment_date: dateOf(n),
    start_time: '12:00',
  }),
  'create-appointment': (ids, n) => ({
    patient_id: ids.patient_not_found,
    doctor_id: ids.doctor_not_found,
    room_id: ids.room_not_found,
    appointment_date: dateOf(n),
    start_time: '09:00',
  }),
  'update-appointment': (_, n) => ({ appointment_date: dateOf(n), start_time: '11:00', notes: `no. ${n}` }),
  'confirm-appointment': () => ({}),
  'cancel-appointment': (_, n) => ({ reason: `no. ${n}` }),
  'check-in-appointment': () => ({}),
  'complete-appointment': () => ({}),
  'no-show-appointment': () => ({}),
  'reopen-appointment': () => ({}),
  'create-invoice': (ids, n) => ({
    patient_id: ids.patient_not_found,
    line_items: [{ description: `no. ${n}`, quantity: 1, unit_price: 10 }],
  }),
  'update-invoice': (_, n) => ({ due_date: dateOf(n) }),
  'send-invoice': () => ({}),
  'cancel-invoice': () => ({}),
  'create-payment': (ids, n) => ({
    invoice_id: ids.invoice_not_found,
    amount: 1,
    payment_method: 'cash',
    description: `no. ${n}`,
  }),
  'void-payment': () => ({}),
  'send-message': (ids, n) => ({
    channel: n % 2 === 0 ? 'email' : 'sms',
    patient_id: ids.patient_not_found,
    message: `See you, no. ${n}`,
  }),
  'sync-records': (_, n) =>
    n % 2 === 0
      ? {
          entity: 'patients',
          records: [{ external_id: `sync ${n}`, first_name: 'Ayşe', last_name: `no. ${n}` }],
        }
      : { entity: 'holidays', records: [{ external_id: `sync ${n}`, from: addDays('2028-01-01', n) }] },
  'create-webhook': (_, n) => ({ url: `https://example.com/${n}`, events: ['patient.created'] }),
  'update-webhook': (_, n) => ({ is_active: n % 2 === 0, description: `no. ${n}` }),
  'rotate-webhook-secret': () => ({}),
  'ping-webhook': () => ({}),
  redeliver: () => ({}),
}

type Query = Record<string, string>
type WithRequiredQuery<E = Endpoint> = E extends { readonly query: infer Q extends z.ZodObject }
  ? object extends z.input<Q>
    ? never
    : E
  : never

/** Queries of endpoints that require one. */
const QUERIES: {
  readonly [E in WithRequiredQuery as E['id']]: (ids: SampleIds) => z.input<E['query']> & Query
} = {
  'get-availability': (ids) => ({ doctor_id: ids.doctor_not_found, date: dateOf(0) }),
  'get-schedule': () => ({ date: dateOf(0) }),
}

const queries = (...all: Query[]) => all.map((query) => ({ query }))
const bodies = (...all: object[]) => all.map((body) => ({ body: JSON.stringify(body) }))

/** Lists the changes since then. */
const SINCE: Query = { updated_since: '2026-01-01T00:00:00Z' }

/** Records of each entity: new, changed in all that finds them, and given external ids. */
function syncSamples(ids: SampleIds): object[] {
  const one = { external_id: 'sync' }
  const named = { ...one, name: 'Sync' }
  const treatment = { ...named, duration_minutes: 30, price: 1, doctor_external_ids: 'sync' }
  const person = { ...one, first_name: 'Ayşe', last_name: 'Kaya', date_of_birth: '1984-03-12' }
  const linked = { id: ids.patient_not_found, first_name: 'P', last_name: 'P' }
  const doctor = { ...one, full_name: 'Dr. Sync' }
  const care = { ...one, patient_external_id: 'sync', doctor_external_id: 'sync' }
  const time = { start_time: '09:00', end_time: '09:30', room_external_id: 'sync' }
  const visit = { ...care, ...time, appointment_date: '2029-06-04' }
  const moved = { ...visit, appointment_date: '2029-08-06', treatment_external_ids: 'sync' }
  const invoice = { ...care, invoice_number: 'S-1', issue_date: '2026-01-01', subtotal: 100 }
  const payment = { ...one, invoice_external_id: 'sync', payment_method: 'cash', amount: 10 }
  const sent = { ...one, patient_external_id: 'sync', channel: 'sms', recipient: '+905321234567' }
  const renamed = { ...doctor, department_external_id: 'sync', full_name: 'Dr. S' }
  const numbered = { ...invoice, invoice_number: 'S-2', issue_date: '2026-03-01' }
  const all: Record<string, object[]> = {
    departments: [named, { ...named, is_active: false }],
    doctors: [
      doctor,
      renamed,
      { ...renamed, specialty: null },
      { id: ids.doctor_not_found, external_id: 'd', full_name: 'D' },
    ],
    rooms: [named, { ...named, department_external_id: 'sync' }],
    treatments: [treatment, { ...treatment, price: 2 }],
    'price-lists': [
      { ...named, items: [{ treatment_external_id: 'sync', price: 1 }] },
      { ...named, items: [] },
    ],
    holidays: ['2029-12-24', '2029-12-25'].map((from) => ({ ...one, from })),
    patients: [
      ...[person, { ...person, national_id: '1', is_active: false }, { ...person, national_id: null }],
      ...[{ ...person, language: null }, ...['p', 'q'].map((external_id) => ({ ...linked, external_id }))],
      { ...person, external_id: 'namesake' },
    ],
    appointments: [
      ...[visit, moved, { ...moved, status: 'cancelled' }, { ...moved, status: 'cancelled', notes: null }],
      ...['v', 'w'].map((external_id) => ({
        ...moved,
        id: ids.appointment_not_found,
        external_id,
        status: 'cancelled',
      })),
    ],
    invoices: [{ ...invoice, appointment_external_id: 'sync' }, numbered, { ...numbered, due_date: null }],
    payments: ['01', '03', '03'].map((month, at) => ({
      ...{ ...payment, payment_date: `2026-${month}-02` },
      ...(at === 2 && { description: null }),
    })),
    messages: ['01', '03', '03'].map((month, at) => ({
      ...{ ...sent, message: 'Hi', created_at: `2026-${month}-02T09:00:00Z` },
      ...(at === 2 && { subject: null }),
    })),
  }
  return Object.entries(all).flatMap(([entity, records]) =>
    records.map((record) => ({ entity, records: [record], overwrite: true })),
  )
}

/** Further requests, without which some endpoints do not use every grant: parts that replace parts of the sample. */
const FURTHER: Partial<Record<Endpoint['id'], (ids: SampleIds) => Pick<RequestInput, 'query' | 'body'>[]>> = {
  // A part of an email address: these patients are read one by one.
  'list-patients': () => [
    ...queries({ search: '7@example' }, { national_id: 'x' }, { external_id: 'x' }),
    ...queries({ is_active: 'false' }, SINCE),
  ],
  'list-appointments': (ids) => [
    ...queries({ external_id: 'x' }, SINCE, { expand: 'patient' }),
    ...queries({ outside_hours: 'true', date_from: dateOf(0), date_to: dateOf(1) }),
    ...queries({ doctor_id: ids.doctor_not_found }, { patient_id: ids.patient_not_found }),
  ],
  'list-invoices': (ids) =>
    queries({ patient_id: ids.patient_not_found }, { invoice_number: '1' }, SINCE, { expand: 'patient' }),
  'get-invoice': () => queries({ expand: 'patient' }),
  'list-payments': (ids) =>
    queries({ patient_id: ids.patient_not_found }, { invoice_id: ids.invoice_not_found }, SINCE),
  'list-messages': (ids) => queries({ patient_id: ids.patient_not_found }, SINCE),
  ...Object.fromEntries(
    (['create-department', 'create-room', 'create-treatment', 'create-price-list'] as const).map((id) => [
      id,
      (ids: SampleIds) => bodies({ ...BODIES[id](ids, 1), external_id: 'x' }),
    ]),
  ),
  'create-patient': (ids) =>
    bodies({ ...BODIES['create-patient'](ids, 1), external_id: 'x', national_id: 'x' }),
  'create-invoice': (ids) =>
    bodies({
      ...BODIES['create-invoice'](ids, 1),
      ...billedCare(ids),
      invoice_number: 'x',
      external_id: 'x',
    }),
  'update-invoice': (ids) =>
    bodies(
      {
        patient_id: ids.patient_not_found,
        ...billedCare(ids),
        invoice_number: 'y',
        issue_date: '2026-01-01',
      },
      { status: 'sent' },
    ),
  // The rest of the balance, after two samples.
  'create-payment': (ids) => bodies({ ...BODIES['create-payment'](ids, 1), amount: 98 }),
  'create-doctor': (ids) => bodies({ ...BODIES['create-doctor'](ids, 1), external_id: 'x' }),
  'update-doctor': (ids) =>
    bodies(
      { external_id: 'y', department_id: null, breaks: {} },
      { external_id: null, department_id: ids.department_not_found, is_active: false },
      // The hours in which the samples of appointments are.
      { is_active: true, hours: MONDAYS },
    ),
  'create-holiday': () => bodies({ from: '2001-01-01', external_id: 'x' }),
  'update-patient': () =>
    bodies({ external_id: 'y' }, { external_id: null, national_id: 'y' }, { national_id: null }),
  'get-availability': (ids) =>
    queries({ treatment_id: ids.treatment_not_found, room_id: ids.room_not_found, date: dateOf(0) }),
  'create-hold': (ids) =>
    bodies({ ...BODIES['create-hold'](ids, 1), treatment_ids: [ids.treatment_not_found] }),
  'create-appointment': (ids) =>
    bodies(
      {
        ...BODIES['create-appointment'](ids, 1),
        treatment_ids: [ids.treatment_not_found],
        external_id: 'x',
      },
      { patient_id: ids.patient_not_found, hold_id: ids.hold_not_found },
    ),
  'update-appointment': (ids) =>
    bodies(
      { room_id: ids.room_not_found, treatment_ids: [ids.treatment_not_found], external_id: 'z' },
      // The time at which the sample of a new appointment is booked.
      { appointment_date: dateOf(0), start_time: '09:00' },
      { external_id: null },
    ),
  'send-message': (ids) => bodies(...[1, 3].map((n) => BODIES['send-message'](ids, n))),
  'get-appointment': () => queries({ expand: 'patient' }),
  'sync-records': (ids) => bodies(...syncSamples(ids)),
  'list-events': () => queries({ event: 'patient.created' }),
}

/** An appointment, a doctor and a treatment of an invoice. */
const billedCare = (ids: SampleIds) => ({
  appointment_id: ids.appointment_not_found,
  doctor_id: ids.doctor_not_found,
  line_items: [{ description: 'Care', quantity: 1, unit_price: 10, treatment_id: ids.treatment_not_found }],
})

/** A sample of a route, by the id of its endpoint. */
const sampleOf = <S>(samples: Readonly<Partial<Record<string, S>>>, { id, aliasOf }: Route): S | undefined =>
  samples[aliasOf ?? id]

/** The path parameters of a route. */
export const pathOf = ({ params = {} }: Route, ids: SampleIds): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, kind]) => [name, ids[kind]]))

/** The n-th valid body of a route; an empty one if it has none. */
export const bodyOf = (route: Route, ids: SampleIds, n = 0): object =>
  sampleOf<(ids: SampleIds, n: number) => object>(BODIES, route)?.(ids, n) ?? {}

/** A valid request, without a credential. Its body is the n-th. */
export function requestOf(route: Route, ids: SampleIds, n = 0) {
  const query: Query = sampleOf(QUERIES, route)?.(ids) ?? {}
  return {
    method: route.method,
    path: pathOf(route, ids),
    query,
    headers: {} as Record<string, string>,
    ...(route.body && {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(bodyOf(route, ids, n)),
    }),
  }
}

/** Requests with which an endpoint uses every grant: repetitions with an idempotency key, and what else some endpoints need. */
export function requestsOf(route: Route, ids: SampleIds) {
  const sample = requestOf(route, ids)
  const withKey = { ...sample, headers: { ...sample.headers, 'idempotency-key': 'sample' } }
  return [
    sample,
    ...(acceptsIdempotencyKey(route) ? [withKey, withKey] : []),
    ...(sampleOf(FURTHER, route)?.(ids) ?? []).map((parts) => ({ ...sample, ...parts })),
  ]
}
