/** The examples of requests and of successful responses: the example records, as the endpoints render them. */
import type * as z from 'zod'
import { renderAccount } from '../api/account.ts'
import { renderAppointment } from '../api/appointments.ts'
import { type getAvailability, renderPaging, renderSlot } from '../api/availability.ts'
import { renderDepartment, renderPriceList, renderRoom, renderTreatment } from '../api/catalogue.ts'
import { renderClinic } from '../api/clinic.ts'
import { renderDelivery } from '../api/deliveries.ts'
import { renderDoctor } from '../api/doctors.ts'
import type { RecordNotFoundKey } from '../api/error-catalogue.ts'
import { renderHold } from '../api/holds.ts'
import { renderHoliday } from '../api/holidays.ts'
import { renderInvoice, renderInvoiceDetails } from '../api/invoices.ts'
import { renderMessage } from '../api/messages.ts'
import { renderAcceptedMessage } from '../api/new-message.ts'
import { renderPatient, renderPatientDetails } from '../api/patients.ts'
import { renderPayment, renderPaymentDetails } from '../api/payments.ts'
import type { Route } from '../api/route.ts'
import type { Endpoint } from '../api/routes.ts'
import { renderScheduleDay } from '../api/schedule.ts'
import { renderCursorPage, renderPage } from '../api/schemas.ts'
import { renderSync } from '../api/sync.ts'
import { renderTimeOff } from '../api/time-off.ts'
import { renderWebhook, renderWebhookDetails, renderWebhookWithSecret } from '../api/webhooks.ts'
import type { AppointmentAction } from '../domain/booking/appointment-actions.ts'
import type { TimeOff } from '../domain/booking/doctor.ts'
import { scheduleOf } from '../domain/booking/slots.ts'
import { totalPages } from '../domain/lists/paging.ts'
import { applyPayments, type Invoice } from '../domain/money/invoice.ts'
import { redelivered } from '../domain/webhooks/delivery-states.ts'
import { eventPayload, PING } from '../domain/webhooks/event.ts'
import { HEALTHY } from '../domain/webhooks/webhook-health.ts'
import { pascalCase } from './errors.ts'
import { exampleEvent } from './events.ts'
import {
  appointment,
  appointmentAfter,
  CANCELLATION,
  caller,
  clinic,
  department,
  doctor,
  earlierAppointment,
  email,
  freeSlots,
  hold,
  holiday,
  invoice,
  NOW,
  otherPatient,
  patient,
  payments,
  pendingDelivery,
  priceList,
  room,
  sms,
  successfulDelivery,
  treatment,
  webhook,
} from './example-records.ts'
import { unwrapped } from './schemas.ts'

const delivery = successfulDelivery(exampleEvent('appointment.created'))
const timeOff = renderTimeOff(doctor.id, doctor.timeOff[0] as TimeOff)
const renderedPayments = payments.map((payment) => renderPayment(payment, clinic))

/** Rendered records by the name of their schema. A list has all of them, any other response the first. */
const RECORDS: Readonly<Record<string, readonly unknown[]>> = {
  Account: [renderAccount(caller)],
  Appointment: [appointment, earlierAppointment].map((one) => renderAppointment(one, clinic)),
  Clinic: [renderClinic(clinic)],
  Delivery: [delivery, pendingDelivery(exampleEvent(PING))].map((one) => renderDelivery(one, clinic)),
  Department: [renderDepartment(department)],
  Doctor: [renderDoctor(doctor, caller)],
  Event: [exampleEvent('appointment.created'), exampleEvent('doctor.updated')].map((event) =>
    eventPayload(event, clinic),
  ),
  Hold: [renderHold(hold, clinic)],
  Holiday: [renderHoliday(holiday)],
  TimeOff: [timeOff],
  Health: [{ status: 'ok', tzdata: '2026f' }],
  Invoice: [renderInvoice(invoice, clinic)],
  ExpandableAppointment: [appointment, earlierAppointment].map((one) => renderAppointment(one, clinic)),
  ExpandableInvoice: [renderInvoice(invoice, clinic)],
  InvoiceDetails: [renderInvoiceDetails(invoice, payments, clinic)],
  InvoiceWithPayments: [renderInvoiceDetails(invoice, payments, clinic)],
  Message: [email, sms].map((message) => renderMessage(message, clinic)),
  Patient: [patient, otherPatient].map((one) => renderPatient(one, clinic)),
  PatientDetails: [renderPatientDetails(patient, caller)],
  Payment: renderedPayments,
  PaymentDetails: payments.map((payment) => renderPaymentDetails(payment, clinic)),
  PriceList: [renderPriceList(priceList)],
  Room: [renderRoom(room)],
  Treatment: [renderTreatment(treatment)],
  Webhook: [renderWebhook(webhook, clinic)],
  WebhookDetails: [renderWebhookDetails(webhook, HEALTHY, [delivery], clinic)],
  WebhookWithSecret: [renderWebhookWithSecret(webhook, clinic)],
}

/**
 * The example of a path parameter, by the error for an unknown id: the id of the first example of its kind of record.
 * @throws Error if there is none
 */
export function exampleIdOf(notFound: RecordNotFoundKey): string {
  const schema = pascalCase(notFound.replace('_not_found', ''))
  const [record] = RECORDS[schema] ?? []
  if (!record) throw new Error(`${notFound} needs an example of ${schema} in shared/openapi/examples.ts.`)
  return (record as { id: string }).id
}

/** A request, and the response to it if it is successful. */
export type Exchange = {
  readonly query?: Readonly<Record<string, unknown>>
  readonly request?: unknown
  readonly response?: unknown
}

type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : never

/** The examples of endpoints, as far as they do not follow from their contracts. */
type Examples<E extends Endpoint> = {
  readonly [One in E as One['id']]: {
    readonly query?: One extends { readonly query: infer Query } ? Input<Query> : never
    readonly request?: One extends { readonly body: infer Body } ? Input<Body> : never
    readonly response?: Input<One['response']['body']>
  }
}

/** Endpoints whose requests need parameters or a body. */
type WithRequiredFields<E = Endpoint> = E extends
  | { readonly query: infer Needed extends z.ZodObject }
  | { readonly body: infer Needed extends z.ZodObject }
  ? Record<string, never> extends z.input<Needed>
    ? never
    : E
  : never

const text = { patient_id: patient.id, message: sms.text }
const VOID_REASON = 'Entered twice'
const { hours } = renderDoctor(doctor, caller)
const CURSOR = 'ozFq5xL86OKyMDAwMDAwMDQ5MA'

/** Endpoints with several examples. */
const NAMED = {
  'get-availability': {
    default: availability({ doctor_id: doctor.id, date: appointment.date, limit: '3' }),
    treatment: availability({
      treatment_id: treatment.id,
      room_id: room.id,
      date: appointment.date,
      date_to: '2030-01-25',
      limit: '3',
    }),
  },
  'send-message': {
    sms: { request: { channel: 'sms', ...text }, response: renderAcceptedMessage(sms) },
    email: {
      request: { channel: 'email', ...text, subject: email.subject },
      response: renderAcceptedMessage(email),
    },
  },
} satisfies { readonly [Id in Endpoint['id']]?: Readonly<Record<string, Examples<Endpoint>[Id]>> }

/** Endpoints with such requests, and those whose responses show a change. */
const EXCHANGES: Partial<Examples<Endpoint>> & Omit<Examples<WithRequiredFields>, keyof typeof NAMED> = {
  'create-patient': {
    request: {
      first_name: patient.firstName,
      last_name: patient.lastName,
      date_of_birth: patient.dateOfBirth,
      gender: patient.gender,
      phone_number: patient.phoneNumber,
      email_address: patient.emailAddress,
      language: patient.language,
      national_id: patient.nationalId,
      notes: patient.notes,
    },
  },
  'update-patient': changed(
    { phone_number: '+905321234568', notes: null },
    renderPatientDetails({ ...patient, phoneNumber: '+905321234568', notes: null }, caller),
  ),
  'deactivate-patient': {
    response: { data: renderPatientDetails({ ...patient, isActive: false }, caller) },
  },
  'create-department': { request: { name: department.name, external_id: 'D-1' } },
  'update-department': changed({ is_active: false }, renderDepartment({ ...department, isActive: false })),
  'create-room': { request: { name: room.name, department_id: department.id } },
  'update-room': changed({ department_id: null }, renderRoom({ ...room, departmentId: null })),
  'create-treatment': {
    request: {
      name: treatment.name,
      duration_minutes: treatment.minutes,
      price: renderTreatment(treatment).price,
      doctor_ids: [doctor.id],
    },
  },
  'update-treatment': changed(
    { code: 'GP-1', price: 2000 },
    renderTreatment({ ...treatment, code: 'GP-1', price: 200_000 }),
  ),
  'create-price-list': {
    request: {
      name: priceList.name,
      is_default: true,
      valid_from: priceList.validFrom,
      items: renderPriceList(priceList).items,
    },
  },
  'update-price-list': changed(
    { valid_to: '2030-12-31' },
    renderPriceList({ ...priceList, validTo: '2030-12-31' }),
  ),
  'create-doctor': {
    request: {
      full_name: doctor.fullName,
      specialty: doctor.specialty,
      department_id: department.id,
      hours,
    },
    response: { data: renderDoctor(doctor, caller), meta: { appointments_outside: 0 } },
  },
  'update-doctor': {
    request: { exceptions: { '2030-12-24': [] } },
    response: {
      data: renderDoctor({ ...doctor, exceptions: { '2030-12-24': [] } }, caller),
      meta: { appointments_outside: 2 },
    },
  },
  'create-time-off': {
    request: { from: '2030-03-11', start_time: '11:00', end_time: '12:30', reason: 'Surgery' },
    response: { data: timeOff, meta: { appointments_outside: 1 } },
  },
  'create-holiday': { request: { from: holiday.from, name: holiday.reason } },
  'get-schedule': {
    query: { date: appointment.date },
    response: {
      data: [
        renderScheduleDay(
          appointment.date,
          scheduleOf({ doctor, date: appointment.date, timezone: clinic.timezone }),
        ),
      ],
      meta: {
        doctor_id: doctor.id,
        date: appointment.date,
        date_to: appointment.date,
        timezone: clinic.timezone,
      },
    },
  },
  'create-hold': {
    request: {
      doctor_id: doctor.id,
      appointment_date: appointment.date,
      start_time: appointment.startTime,
      duration: treatment.minutes,
      room_id: room.id,
    },
  },
  'create-appointment': {
    request: {
      patient_id: patient.id,
      doctor_id: doctor.id,
      appointment_date: appointment.date,
      start_time: appointment.startTime,
      duration: treatment.minutes,
      room_id: room.id,
      notes: appointment.notes,
    },
    response: { data: renderAppointment({ ...appointment, treatments: [] }, clinic) },
  },
  'update-appointment': {
    request: { room_id: null, notes: 'Fasting' },
    response: { data: renderAppointment({ ...appointment, room: null, notes: 'Fasting' }, clinic) },
  },
  'confirm-appointment': afterAction({ kind: 'confirm' }),
  'cancel-appointment': {
    request: { reason: CANCELLATION.reason },
    ...afterAction(CANCELLATION),
  },
  'check-in-appointment': afterAction({ kind: 'check_in' }),
  'complete-appointment': afterAction({ kind: 'complete' }),
  'no-show-appointment': afterAction({ kind: 'no_show' }),
  'reopen-appointment': {
    request: {},
    response: { data: renderAppointment(appointment, clinic) },
  },
  'create-invoice': {
    request: {
      patient_id: patient.id,
      appointment_id: appointment.id,
      doctor_id: doctor.id,
      due_date: invoice.dueDate,
      line_items: [
        {
          description: treatment.name,
          quantity: 1,
          unit_price: 1850,
          discount_rate: 10,
          tax_rate: 20,
          treatment_id: treatment.id,
        },
      ],
    },
  },
  'update-invoice': changed({ due_date: '2030-02-28' }, writtenInvoice({ dueDate: '2030-02-28' })),
  'send-invoice': { response: { data: writtenInvoice({ clinicStatus: 'sent' }) } },
  'cancel-invoice': { response: { data: writtenInvoice({ clinicStatus: 'cancelled' }, []) } },
  'create-payment': {
    request: {
      invoice_id: invoice.id,
      amount: renderedPayments[0]?.amount ?? 0,
      payment_method: 'card',
    },
  },
  'void-payment': {
    request: { reason: VOID_REASON },
    response: {
      data: renderPaymentDetails(
        {
          ...(payments[0] as (typeof payments)[number]),
          status: 'failed',
          voidedAt: invoice.updatedAt,
          voidReason: VOID_REASON,
        },
        clinic,
      ),
    },
  },
  'sync-records': {
    request: {
      entity: 'appointments',
      records: [
        {
          external_id: 'A-1001',
          patient_external_id: 'P-17',
          doctor_external_id: 'D-1',
          appointment_date: appointment.date,
          start_time: appointment.startTime,
          end_time: appointment.endTime,
        },
      ],
    },
    response: renderSync([
      { externalId: 'A-1001', id: appointment.id, outcome: 'created', issues: [], warnings: [] },
    ]),
  },
  'create-webhook': {
    request: {
      url: webhook.url,
      events: ['appointment.created', 'appointment.cancelled'],
      description: webhook.description,
    },
  },
  'update-webhook': {
    request: { events: ['appointment.created'], is_active: false },
    response: {
      data: renderWebhook({ ...webhook, events: ['appointment.created'], isActive: false }, clinic),
    },
  },
  redeliver: {
    response: { data: renderDelivery(redelivered(delivery, NOW), clinic) },
  },
}

function writtenInvoice(facts: Partial<Invoice>, paid: readonly (typeof payments)[number][] = payments) {
  const { updatedAt } = invoice
  return renderInvoiceDetails({ ...applyPayments({ ...invoice, ...facts }, paid), updatedAt }, paid, clinic)
}

function changed<Request, Wire>(request: Request, data: Wire) {
  return { request, response: { data } }
}

function afterAction(action: AppointmentAction) {
  return { response: { data: renderAppointment(appointmentAfter(action), clinic) } }
}

function availability(query: Omit<z.input<typeof getAvailability.query>, 'treatment_ids'>) {
  const { date, limit, ...asked } = query
  const slots = freeSlots(date, asked.date_to)
  const paging = renderPaging(CURSOR, { ...asked, limit: Number(limit) })
  return {
    query,
    response: {
      data: slots.map((slot) => renderSlot(slot, asked)),
      meta: { date, ...asked, duration_minutes: treatment.minutes, count: slots.length, ...paging },
    },
  }
}

/**
 * The examples of a route, by name; most routes have one, named `default`.
 * @throws Error if the response is of a kind of record without an example
 */
export function exchangesOf(route: Route): Readonly<Record<string, Exchange>> {
  const { id, aliasOf = id, body, response } = route
  const named: Readonly<Record<string, Readonly<Record<string, Exchange>>>> = NAMED
  const exchanges: Readonly<Record<string, Exchange>> = EXCHANGES
  return Object.fromEntries(
    Object.entries(named[aliasOf] ?? { default: exchanges[aliasOf] ?? {} }).map(([name, example]) => [
      name,
      {
        ...(body && { request: {} }),
        ...(response.status !== 204 && !example.response && responseOf(id, response.body)),
        ...example,
      },
    ]),
  )
}

/** A response with the records that its schema has; for a list, with the request for this page. */
function responseOf(id: string, schema: z.ZodType): Exchange {
  const { data, meta } = ((unwrapped(schema) as Partial<z.ZodObject>).shape ?? {}) as Record<
    string,
    z.ZodType | undefined
  >
  const list = LISTS[nameOf(meta)]
  const records = RECORDS[nameOf(list ? (data as z.ZodArray<z.ZodType>).element : (data ?? schema))]
  if (!records) throw new Error(`The response of ${id} needs an example in shared/openapi/examples.ts.`)
  if (!list) return { response: data ? { data: records[0] } : records[0] }
  const response = list(records)
  return { query: { limit: response.meta.limit }, response }
}

/** The name of a schema in the document. */
const nameOf = (schema: z.ZodType | undefined): string => (schema && unwrapped(schema).meta()?.id) ?? ''

const TOTAL = 44
const unchanged = (record: unknown) => record

/** How lists are paginated, by the name of their `meta`. */
const LISTS: Readonly<
  Record<string, (items: readonly unknown[]) => { readonly meta: { readonly limit: number } }>
> = {
  PageMeta: (items) =>
    renderPage({ items: [...items], total: items.length }, { page: 1, limit: 20 }, unchanged),
  CursorMeta: (items) =>
    renderCursorPage({ items, nextAfter: CURSOR, hasMore: true }, { limit: items.length }, unchanged),
  EventListMeta: (items) =>
    renderCursorPage({ items, nextAfter: CURSOR, hasMore: true }, { limit: items.length }, unchanged),
  RecordListMeta: (items) => {
    const limit = items.length
    const meta = { page: 1, limit, total: TOTAL, total_pages: totalPages(TOTAL, limit), next_after: CURSOR }
    return { data: items, meta }
  },
}
