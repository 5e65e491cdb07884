/** The closed list of events, and the event that each change of a record causes. */
import { APPOINTMENT_FIELDS, type Appointment } from '../booking/appointment.ts'
import type { ClinicInfo } from '../clinic.ts'
import { hasSameEventFields } from '../field-policy.ts'
import type { Message } from '../messages/message.ts'
import { INVOICE_FIELDS, type Invoice } from '../money/invoice.ts'
import { PAYMENT_FIELDS, type Payment } from '../money/payment.ts'
import { PATIENT_FIELDS, type Patient } from '../patients/patient.ts'
import type { Scope } from '../scope.ts'
import { clinicTimestamp } from '../timestamp.ts'

export const EVENTS = [
  'patient.created',
  'patient.updated',
  'patient.erased',
  'appointment.created',
  'appointment.updated',
  'appointment.confirmed',
  'appointment.checked_in',
  'appointment.cancelled',
  'appointment.completed',
  'appointment.no_show',
  'invoice.created',
  'invoice.updated',
  'invoice.paid',
  'payment.created',
  'payment.updated',
  'sms.sent',
  'sms.delivered',
  'sms.failed',
  'email.sent',
  'email.delivered',
  'email.failed',
  'doctor.created',
  'doctor.updated',
  'treatment.created',
  'treatment.updated',
  'clinic.updated',
  'import.completed',
] as const

/** An event that a change of a record causes. */
export type RecordEventName = (typeof EVENTS)[number]
/** Sent on request only, to test an endpoint. */
export const PING = 'webhook.ping' as const
export type EventName = RecordEventName | typeof PING

/** Whether this version knows an event: a later one may have stored others. */
export const isKnownEvent = (event: string): boolean => [...EVENTS, PING].some((known) => known === event)

/** Each finished file of an import. */
export const IMPORT_COMPLETED = 'import.completed' as const

/** The first part of an event's name. */
type EventKind =
  Exclude<RecordEventName, typeof IMPORT_COMPLETED> extends `${infer Kind}.${string}` ? Kind : never

/** The scope that reads the records of each kind. */
const KIND_SCOPES: Readonly<Record<EventKind, Scope>> = {
  patient: 'patient.read',
  appointment: 'appointment.read',
  invoice: 'finance.read',
  payment: 'finance.read',
  sms: 'communication.read.sms',
  email: 'communication.read.sms',
  doctor: 'appointment.read.availability',
  treatment: 'appointment.read.availability',
  clinic: 'appointment.read.availability',
}

/** The scope that reads the records of each entity that can be imported. */
export const ENTITY_SCOPES: Readonly<Record<string, Scope>> = {
  departments: 'appointment.read.availability',
  doctors: 'appointment.read.availability',
  holidays: 'appointment.read.availability',
  rooms: 'appointment.read.availability',
  treatments: 'appointment.read.availability',
  'price-lists': 'finance.read',
  patients: 'patient.read',
  appointments: 'appointment.read',
  invoices: 'finance.read',
  payments: 'finance.read',
  messages: 'communication.read.sms',
}

/**
 * The scope without which an event may not be seen: the one that reads its record, or the records of an import, which `data`
 * tells. Null for a ping, which has no record, and for imports of any entity. Undefined for an event that this version does not
 * know, which is shown to no credential.
 */
export function scopeOfEvent(event: EventName, data?: EventData): Scope | null | undefined {
  if (event === PING) return null
  if (!isKnownEvent(event)) return undefined
  if (event === IMPORT_COMPLETED) return data ? ENTITY_SCOPES[String(data.entity)] : null
  return KIND_SCOPES[event.slice(0, event.indexOf('.')) as EventKind]
}

/** Whether the holder of these scopes may see an event. */
export function maySeeEvent(scopes: readonly Scope[], event: EventName, data?: EventData): boolean {
  const scope = scopeOfEvent(event, data)
  return scope === null || (scope !== undefined && scopes.includes(scope))
}

/** Whether the holder of these scopes may see every event. */
export const mayReadAllEvents = (scopes: readonly Scope[]): boolean =>
  [...Object.values(KIND_SCOPES), ...Object.values(ENTITY_SCOPES)].every((scope) => scopes.includes(scope))

/** Ids, statuses, dates, times and counts; of a later version, any JSON value. */
export type EventData = Readonly<Record<string, unknown>>

/** Who causes an event: a request of the API, its sync, an import, the operator's other commands, or the system itself. */
export const EVENT_SOURCES = ['api', 'sync', 'import', 'operator', 'system'] as const
export type EventSource = (typeof EVENT_SOURCES)[number]

/** A stored event: its record, its sequence number within the record, and the data of its payload. */
export type Event = {
  /** UUID; `evt_` and this on the wire. */
  readonly id: string
  readonly event: EventName
  readonly record: string
  readonly sequence: number
  readonly data: EventData
  /** ISO 8601 instant. */
  readonly createdAt: string
  /** Undefined for an event of an earlier version. */
  readonly source?: EventSource
  /** The request that caused it; undefined for other changes. */
  readonly requestId?: string
}

/** The payload that is delivered and listed. */
export const eventPayload = (event: Event, clinic: Pick<ClinicInfo, 'id' | 'timezone'>) => ({
  id: `evt_${event.id}`,
  event: event.event,
  clinic_id: clinic.id as string,
  created_at: clinicTimestamp(event.createdAt, clinic.timezone),
  sequence: event.sequence,
  source: event.source ?? null,
  request_id: event.requestId ?? null,
  data: event.data,
})

export const payloadData = (payload: string): EventData => JSON.parse(payload).data

/** An event that a change causes. The integrator reads what is not in `data` with its scopes. */
export type EventDraft = { readonly event: RecordEventName; readonly data: EventData }

export function patientEventDraft(before: Patient | null, after: Patient): EventDraft | null {
  if (before && hasSameEventFields(before, after, PATIENT_FIELDS)) return null
  const isErasure = before !== null && before.erasedAt === null && after.erasedAt !== null
  const event = !before ? 'created' : isErasure ? 'erased' : 'updated'
  return { event: `patient.${event}`, data: { id: after.id } }
}

export function appointmentEventDraft(before: Appointment | null, after: Appointment): EventDraft | null {
  if (before && hasSameEventFields(before, after, APPOINTMENT_FIELDS)) return null
  return {
    event: before ? appointmentChange(before, after) : 'appointment.created',
    data: {
      id: after.id,
      patient_id: after.patient.id,
      doctor_id: after.doctor.id,
      treatment_ids: after.treatments.map(({ id }) => id),
      room_id: after.room?.id ?? null,
      status: after.status,
      appointment_date: after.date,
      start_time: after.startTime,
      end_time: after.endTime,
    },
  }
}

function appointmentChange(before: Appointment, after: Appointment): RecordEventName {
  if (before.status !== after.status && after.status !== 'scheduled') return `appointment.${after.status}`
  if (!before.confirmedAt && after.confirmedAt) return 'appointment.confirmed'
  if (!before.checkedInAt && after.checkedInAt) return 'appointment.checked_in'
  return 'appointment.updated'
}

export function invoiceEventDraft(before: Invoice | null, after: Invoice): EventDraft | null {
  if (before && hasSameEventFields(before, after, INVOICE_FIELDS)) return null
  const becamePaid = before !== null && before.status !== 'paid' && after.status === 'paid'
  return {
    event: !before ? 'invoice.created' : becamePaid ? 'invoice.paid' : 'invoice.updated',
    data: {
      id: after.id,
      patient_id: after.patient.id,
      appointment_id: after.appointmentId,
      doctor_id: after.doctor?.id ?? null,
      status: after.status,
      issue_date: after.issueDate,
      due_date: after.dueDate,
    },
  }
}

export function paymentEventDraft(before: Payment | null, after: Payment): EventDraft | null {
  if (before && hasSameEventFields(before, after, PAYMENT_FIELDS)) return null
  return {
    event: before ? 'payment.updated' : 'payment.created',
    data: {
      id: after.id,
      invoice_id: after.invoice.id,
      patient_id: after.patient.id,
      status: after.status,
      payment_date: after.date,
    },
  }
}

/** A message causes an event for each status after `queued`. Its acceptance is the response of the request. */
export function messageEventDraft(before: Message | null, after: Message): EventDraft | null {
  if (after.status === 'queued' || before?.status === after.status) return null
  return {
    event: `${after.channel}.${after.status}`,
    data: { id: after.id, patient_id: after.patient.id, status: after.status },
  }
}

type CatalogueRecord = { readonly id: string; readonly isActive: boolean }

/** The event of a doctor who differs from the stored one. Days off are part of a doctor. */
export const doctorEventDraft = (before: CatalogueRecord | null, after: CatalogueRecord): EventDraft => ({
  event: before ? 'doctor.updated' : 'doctor.created',
  data: { id: after.id, is_active: after.isActive },
})

/** The event of a treatment that differs from the stored one. */
export const treatmentEventDraft = (before: CatalogueRecord | null, after: CatalogueRecord): EventDraft => ({
  event: before ? 'treatment.updated' : 'treatment.created',
  data: { id: after.id, is_active: after.isActive },
})

/** What of a clinic an event says has changed. */
export const CLINIC_PARTS = ['settings', 'holidays', 'departments', 'rooms', 'price_lists'] as const
export type ClinicPart = (typeof CLINIC_PARTS)[number]

export const clinicEventDraft = (changed: ClinicPart): EventDraft => ({
  event: 'clinic.updated',
  data: { changed },
})

/** An import of a file of one entity was finished. */
export const importEventDraft = (
  entity: string,
  { imported, updated }: { readonly imported: number; readonly updated: number },
): EventDraft => ({ event: IMPORT_COMPLETED, data: { entity, imported, updated } })
