/** Records of the domain, by default the simplest valid ones. Nothing is stored. */
import { type Appointment, NEW_APPOINTMENT } from '../../shared/domain/booking/appointment.ts'
import type { Doctor } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Message } from '../../shared/domain/messages/message.ts'
import type { Invoice } from '../../shared/domain/money/invoice.ts'
import { NEW_PAYMENT, type Payment } from '../../shared/domain/money/payment.ts'
import { NO_DETAILS, type Patient } from '../../shared/domain/patients/patient.ts'
import type { Delivery } from '../../shared/domain/webhooks/delivery.ts'

const AT = '2026-05-01T07:00:00.000Z'
const PATIENT = { id: 'p1', fullName: 'Ada Kaya' }

/** A doctor who works every day from 9 to 12. */
export const aDoctor = (facts: Partial<Doctor> = {}): Doctor => ({
  id: 'd1',
  fullName: 'Dr. Bo',
  specialty: null,
  departmentId: null,
  isActive: true,
  hours: parseWeeklyHours('mon-sun 09:00-12:00'),
  breaks: {},
  timeOff: [],
  exceptions: {},
  ...facts,
})

/** Ada Kaya, without phone number and email address. */
export const aPerson = (facts: Partial<Patient> = {}): Patient => ({
  ...{ id: 'p1', firstName: 'Ada', lastName: 'Kaya', ...NO_DETAILS, createdAt: AT },
  ...facts,
})

/** A scheduled appointment of half an hour. */
export const anAppointment = (facts: Partial<Appointment> = {}): Appointment => ({
  ...NEW_APPOINTMENT,
  id: 'a1',
  patient: PATIENT,
  doctor: { id: 'd1', fullName: 'Dr. Bo' },
  date: '2026-05-04',
  startTime: '09:00',
  endTime: '09:30',
  createdAt: AT,
  ...facts,
})

/** An unpaid invoice with one line item of its total. */
export const anInvoice = ({ total = 100, ...facts }: Partial<Invoice> = {}): Invoice => ({
  id: 'i1',
  number: '2026-1',
  clinicStatus: 'sent',
  status: 'sent',
  issueDate: '2026-05-04',
  dueDate: null,
  paidAt: null,
  clinicPaidAt: null,
  currency: 'EUR',
  subtotal: total,
  tax: 0,
  discount: 0,
  total,
  paid: 0,
  patient: { ...PATIENT, email: 'ada@example.com' },
  appointmentId: null,
  doctor: null,
  lineItems: [
    {
      id: 'l1',
      description: 'Consultation',
      quantity: 10_000,
      unitPrice: total,
      discount: 0,
      taxRate: 0,
      tax: 0,
      total,
      doctor: null,
      treatment: null,
    },
  ],
  createdAt: AT,
  ...facts,
})

/** A completed payment of an invoice, by card. */
export const aPayment = (
  { id, number, patient, createdAt }: Invoice,
  facts: Partial<Payment> = {},
): Payment => ({
  ...NEW_PAYMENT,
  id: 'y1',
  invoice: { id, number },
  patient: { id: patient.id, fullName: patient.fullName },
  amount: 100,
  currency: 'EUR',
  type: 'payment',
  method: 'card',
  status: 'completed',
  description: null,
  date: '2026-05-04',
  createdAt,
  ...facts,
})

/** A queued email. */
export const anEmail = (facts: Partial<Message> = {}): Message => ({
  id: 'm1',
  channel: 'email',
  type: 'manual',
  recipient: 'ada@example.com',
  subject: 'Your appointment',
  text: 'See you at ten',
  status: 'queued',
  providerMessageId: null,
  errorMessage: null,
  sentAt: null,
  patient: PATIENT,
  acceptedAt: AT,
  acceptedOn: '2026-05-01',
  dispatch: null,
  ...facts,
})

/** A queued SMS. */
export const anSms = (facts: Partial<Message> = {}): Message =>
  anEmail({ channel: 'sms', recipient: '+905321234567', subject: null, ...facts })

/** A new delivery, due at `at`, before a sweep has to check it. */
export const aDelivery = (at: number, facts: Partial<Delivery> = {}): Delivery => ({
  id: '6d0e2a7c-0000-4000-8000-000000000001',
  webhook: '6d0e2a7c-0000-4000-8000-000000000002',
  eventId: 'evt_6d0e2a7c-0000-4000-8000-000000000003',
  event: 'patient.created',
  record: '6d0e2a7c-0000-4000-8000-000000000004',
  sequence: 1,
  body: '{}',
  status: 'pending',
  attempts: [],
  failedAttempts: 0,
  nextAt: at,
  dueAt: at,
  claim: null,
  isManual: false,
  createdAt: at,
  ...facts,
})
