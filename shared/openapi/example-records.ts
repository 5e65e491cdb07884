/**
 * The records of one clinic that the document's examples show. Their ids are of records of a demo clinic, so that the console of
 * the reference page finds them in a local stack.
 */
import { v5 } from 'uuid'
import type { Caller } from '../api/account.ts'
import { requireChanged } from '../api/appointment-actions.ts'
import { type Appointment, NEW_APPOINTMENT } from '../domain/booking/appointment.ts'
import { type AppointmentAction, applyAction } from '../domain/booking/appointment-actions.ts'
import { availableSlots } from '../domain/booking/availability.ts'
import type { Department, PriceList, Room, Treatment } from '../domain/booking/catalogue.ts'
import type { Doctor } from '../domain/booking/doctor.ts'
import { DEFAULT_HOLD_SECONDS, expiryOf, type Hold } from '../domain/booking/hold.ts'
import { parseWeeklyHours } from '../domain/booking/working-hours.ts'
import { type Clinic, clinicIdOf } from '../domain/clinic.ts'
import { instantOf, wallClock } from '../domain/clock.ts'
import { parseTime } from '../domain/interval.ts'
import type { Message } from '../domain/messages/message.ts'
import { applyPayments, type Invoice } from '../domain/money/invoice.ts'
import { NEW_PAYMENT, type Payment } from '../domain/money/payment.ts'
import { fullName, NO_DETAILS, type Patient } from '../domain/patients/patient.ts'
import { SCOPES } from '../domain/scope.ts'
import { type Delivery, newDelivery } from '../domain/webhooks/delivery.ts'
import { afterAttempt } from '../domain/webhooks/delivery-states.ts'
import type { Event } from '../domain/webhooks/event.ts'
import type { Webhook } from '../domain/webhooks/webhook.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'

/** When everything happens that has no other time: a full hour, on a Monday. */
export const NOW = Date.parse('2030-01-14T09:00:00Z')
const at = new Date(NOW).toISOString()
const times = { createdAt: at, updatedAt: at }

/** The id of something that the demo clinic does not have. It follows from the name, so that a further example changes no other. */
export const exampleId = (name: string): string => v5(name, '5c1f6a0e-3b0d-4d0c-9a53-2f7e8b1d6c40')

export const clinic: Clinic = {
  id: clinicIdOf('b05f0a1e-7c1d-4d0a-9e55-2f1d3c4b5a60'),
  name: 'Bosphorus Family Clinic',
  timezone: 'Europe/Istanbul',
  currency: 'TRY',
  appointmentMinutes: 30,
  createdAt: '2023-01-02T06:00:00Z',
  address: 'Moda Caddesi 112, 34710 Kadıköy, İstanbul',
  phoneNumber: '+902165550112',
  emailAddress: 'info@bosphorus-family.example.com',
  website: 'https://bosphorus-family.example.com/',
}

export const caller: Caller = {
  key: 'KEY',
  name: 'Booking site',
  scopes: SCOPES,
  expiresAt: null,
  clinic,
  requestsPerMinute: 300,
}

export const department: Department = {
  id: '97b04c39-ffc3-855f-8904-ab4763fcc08f',
  name: 'General practice',
  isActive: true,
}

export const doctor: WithUpdatedAt<Doctor> = {
  id: '4872c8a4-aeb9-8b94-8d5c-854964838a66',
  fullName: 'Dr. Selin Arslan',
  specialty: 'Family medicine',
  departmentId: department.id,
  isActive: true,
  hours: parseWeeklyHours('mon-fri 09:00-12:30'),
  breaks: {},
  timeOff: [
    {
      from: '2030-03-11',
      to: '2030-03-11',
      times: { start: '11:00', end: '12:30' },
      reason: 'Surgery',
    },
  ],
  exceptions: {},
  updatedAt: at,
}

export const holiday = {
  id: '0d3d1d0c-3c8f-8a6e-a1e2-6a4f0f3a7b15',
  from: '2030-10-29',
  to: '2030-10-29',
  reason: 'Republic Day',
}

export const room: Room = {
  id: '6ad1ebfe-8af5-8c2d-b049-093194677f4e',
  name: 'Consulting room 1',
  departmentId: department.id,
  isActive: true,
}

export const treatment: Treatment = {
  id: 'b4688025-e9ac-8a0b-99f2-0418de7521d1',
  name: 'Consultation',
  code: 'GP-01',
  description: null,
  minutes: 30,
  price: 185_000,
  currency: clinic.currency,
  doctorIds: [doctor.id],
  isActive: true,
}

export const priceList: PriceList = {
  id: '2a662935-6cb0-80c8-b514-42b99b920cf0',
  name: 'Private patients',
  currency: clinic.currency,
  isDefault: true,
  validFrom: '2030-01-01',
  validTo: null,
  items: [{ treatmentId: treatment.id, price: 179_990 }],
}

export const patient: WithUpdatedAt<Patient> = {
  id: '37d93da4-61e1-8b29-947a-b88135e679bf',
  firstName: 'Mehmet',
  lastName: 'Çelik',
  ...NO_DETAILS,
  dateOfBirth: '1991-04-17',
  gender: 'male',
  phoneNumber: '+905321234567',
  emailAddress: 'mehmet.celik@example.com',
  language: 'tr',
  nationalId: '12345678950',
  notes: 'Prefers afternoons.',
  ...times,
}

export const otherPatient: WithUpdatedAt<Patient> = {
  id: '37278983-8ea1-835f-a32c-84dd68cba6ee',
  firstName: 'Zeynep',
  lastName: 'Yılmaz',
  ...NO_DETAILS,
  ...times,
}

const patientReference = { id: patient.id, fullName: fullName(patient) }
const doctorReference = { id: doctor.id, fullName: doctor.fullName }

export const appointment: WithUpdatedAt<Appointment> = {
  ...NEW_APPOINTMENT,
  id: 'ef77db86-d596-88a3-b543-41742b5e6fc5',
  patient: patientReference,
  doctor: doctorReference,
  date: '2030-01-21',
  startTime: '09:00',
  endTime: '09:30',
  notes: 'First appointment',
  treatments: [{ id: treatment.id, name: treatment.name }],
  room: { id: room.id, name: room.name },
  ...times,
}

export const earlierAppointment: WithUpdatedAt<Appointment> = {
  ...appointment,
  id: '47ced4e0-df1b-8c07-aee8-f911b5b028fa',
  date: '2030-01-18',
  notes: null,
  room: null,
}

export const hold: Hold = {
  id: exampleId('hold'),
  credential: caller.key,
  doctor: doctorReference,
  date: appointment.date,
  startTime: appointment.startTime,
  endTime: appointment.endTime,
  room: appointment.room,
  expiresAt: expiryOf(DEFAULT_HOLD_SECONDS, NOW),
  createdAt: at,
}

/** The appointment after an action: before its day, or at its start. */
export function appointmentAfter(action: AppointmentAction): WithUpdatedAt<Appointment> {
  const { timezone } = clinic
  const isBefore = action.kind === 'confirm' || action.kind === 'cancel'
  const at = isBefore ? times.updatedAt : instantOf(appointment.date, timezone, appointment.startTime)
  return { ...requireChanged(applyAction(appointment, action, { at, timezone }), timezone), updatedAt: at }
}

export const CANCELLATION = { kind: 'cancel', reason: 'The patient is travelling' } as const

const invoiceReference = { id: 'fc63a8e7-b5f3-8fa1-a486-a64825874243', number: '2030-0417' }

const paid: WithUpdatedAt<Omit<Payment, 'id' | 'amount' | 'method'>> = {
  ...NEW_PAYMENT,
  invoice: invoiceReference,
  patient: patientReference,
  currency: clinic.currency,
  type: 'payment',
  status: 'completed',
  description: null,
  date: '2030-01-14',
  ...times,
}

export const payments = [
  { ...paid, id: '8e410511-dbc6-8638-ac92-7142a6525184', amount: 120_000, method: 'bank_transfer' },
  { ...paid, id: '37e02c3d-c3ae-890a-99cd-c0ecf83ba029', amount: 83_500, method: 'card' },
] as const satisfies readonly WithUpdatedAt<Payment>[]

export const unpaidInvoice: WithUpdatedAt<Invoice> = {
  ...invoiceReference,
  clinicStatus: 'sent',
  status: 'sent',
  issueDate: '2030-01-14',
  dueDate: '2030-01-28',
  paidAt: null,
  clinicPaidAt: null,
  currency: clinic.currency,
  subtotal: 185_000,
  tax: 18_500,
  discount: 0,
  total: 203_500,
  paid: 0,
  patient: { ...patientReference, email: patient.emailAddress },
  appointmentId: null,
  doctor: doctorReference,
  lineItems: [
    {
      id: exampleId('line item'),
      description: treatment.name,
      quantity: 10_000,
      unitPrice: 185_000,
      discount: 0,
      taxRate: 100_000,
      tax: 18_500,
      total: 203_500,
      doctor: doctorReference,
      treatment: { id: treatment.id, name: treatment.name },
    },
  ],
  ...times,
}

export const invoice: WithUpdatedAt<Invoice> = { ...applyPayments(unpaidInvoice, payments), updatedAt: at }

/** An SMS that the provider has accepted. */
export const sms: WithUpdatedAt<Message> = {
  id: '963e9b90-2848-8aaa-9deb-23774d0fbf27',
  channel: 'sms',
  type: 'manual',
  recipient: patient.phoneNumber ?? '',
  subject: null,
  text: 'Your appointment is at 09:00.',
  status: 'sent',
  providerMessageId: exampleId('id of the provider'),
  errorMessage: null,
  sentAt: at,
  patient: patientReference,
  acceptedAt: at,
  acceptedOn: '2030-01-14',
  dispatch: null,
  updatedAt: at,
}

/** An email that was delivered. */
export const email: WithUpdatedAt<Message> = {
  ...sms,
  id: '27d9d8bb-5852-8a77-ae73-3eddea2d172a',
  channel: 'email',
  recipient: patient.emailAddress ?? '',
  subject: 'Your appointment',
  status: 'delivered',
  providerMessageId: `0102019df2a4b3c5-${exampleId('id of the other provider')}-000000`,
}

export const webhook: Webhook = {
  id: exampleId('webhook'),
  url: 'https://hooks.example.com/clinic',
  events: ['appointment.created', 'appointment.cancelled'],
  isActive: true,
  description: 'Booking site',
  // 32 bytes, all of them the digit 0.
  secret: `whsec_${Buffer.from('0'.repeat(32)).toString('base64')}`,
  secretNumber: 1,
  previousSecrets: [],
  createdBy: caller.key,
  ...times,
}

/** The delivery of an event that was not attempted yet. */
export const pendingDelivery = (event: Event): Delivery =>
  newDelivery(event, clinic, { id: exampleId(`delivery of ${event.event}`), webhook: webhook.id, now: NOW })

export const successfulDelivery = (event: Event): Delivery => {
  const attempt = { at, status: 204, error: null, latencyMs: 85 }
  return afterAttempt(pendingDelivery(event), { kind: 'delivered', attempt, retryAfter: null }, 0)
}

const busyOn = (date: string) =>
  date === appointment.date
    ? [{ from: parseTime(appointment.startTime), to: parseTime(appointment.endTime) }]
    : []

/** The first free slots of the doctor, whose only appointment is the example. */
export const freeSlots = (from: string, to = from) =>
  availableSlots([{ doctor, busyOn }], {
    from,
    to,
    minutes: treatment.minutes,
    limit: 3,
    roomBusyOn: () => [],
    timezone: clinic.timezone,
    clock: wallClock(NOW, clinic.timezone),
  })
