import {
  APPOINTMENT_STATUSES,
  type Appointment,
  type AppointmentStatus,
  NEW_APPOINTMENT,
} from '../../../../shared/domain/booking/appointment.ts'
import type { Doctor } from '../../../../shared/domain/booking/doctor.ts'
import { NEW_DOCTOR } from '../../../../shared/domain/booking/doctor.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { CHANNELS, type Message } from '../../../../shared/domain/messages/message.ts'
import { INVOICE_STATUSES, type Invoice } from '../../../../shared/domain/money/invoice.ts'
import { PAYMENT_STATUSES, type Payment, refundable } from '../../../../shared/domain/money/payment.ts'
import { fullName, type Patient } from '../../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import type { ReportedDifference } from '../../../../shared/maintenance/verify/comparison/difference.ts'
import { verifyClinic } from '../../../../shared/maintenance/verify/verify-clinic.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import type { RecordStore } from '../../../../shared/store/calendar/calendar-list.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { MAX_CREATED, patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import { commitPacked, commitWithRetry } from '../../../../shared/store/table/commit-packed.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { paymentChanges } from '../../../support/payment-changes.ts'
import { mulberry32 } from '../../../support/random.ts'
import * as sample from '../../../support/sample-records.ts'
import { aPatient, NOW, newClinic } from '../../../support/table.ts'

/** How many records of each kind a practice has. */
export type Size = {
  patients: number
  doctors: number
  appointments: number
  invoices: number
  payments: number
  messages: number
  /** Whether some patients are inactive and have a national id. */
  indexed?: boolean
}

export type Practice = {
  clinic: ClinicId
  random: () => number
  patients: Patient[]
  doctors: Doctor[]
  appointments: Appointment[]
  invoices: Invoice[]
  payments: Payment[]
  messages: Message[]
}

const createdAt = new Date(NOW).toISOString()

/** The room of every appointment. */
const ROOM = { id: newUuid(), name: 'Room 1' }

/** Creates a clinic through the stores. */
export async function createPractice(table: Table, size: Size, seed = 1): Promise<Practice> {
  const { id: clinic } = await newClinic(table)
  const made: Practice = {
    clinic,
    random: mulberry32(seed),
    patients: [],
    doctors: [],
    appointments: [],
    invoices: [],
    payments: [],
    messages: [],
  }
  const { random, patients, doctors, appointments, invoices, payments, messages } = made
  const writer = patientWriter({ table })
  const range = (n: number) => Array.from({ length: n }, (_, at) => at)
  patients.push(...range(size.patients).map(() => aPatient(random() < 0.3 ? lessKnown(size) : {})))
  for (const chunk of chunked(patients, MAX_CREATED)) await writer.createMany(clinic, chunk)
  if (random() < 0.7) await writer.snapshot(clinic)
  doctors.push(...range(size.doctors).map(() => aDoctor(`Dr. ${random()}`)))
  for (const chunk of chunked(doctors, 50)) {
    await doctorStore({ table }).save(
      clinic,
      chunk.map((after) => ({ before: null, after })),
    )
  }
  appointments.push(...range(size.appointments).map(() => anAppointment(made)))
  await createAll(table, clinic, appointmentStore({ table }), appointments)
  invoices.push(...range(size.invoices).map(() => anInvoice(made)))
  await createAll(table, clinic, invoiceStore({ table }), invoices)
  messages.push(...range(size.messages).map(() => aMessage(made)))
  await createAll(table, clinic, messageStore({ table }), messages)
  for (const _ of range(size.payments)) {
    payments.push(await addPayment(table, clinic, aPayment(made)))
  }
  const settled = await invoiceStore({ table }).findMany(
    clinic,
    invoices.map(({ id }) => id),
  )
  made.invoices = [...settled.values()].map(({ record }) => record)
  return made
}

export const pickOne = <T>({ random }: Practice, of: readonly T[]): T =>
  of[Math.floor(random() * of.length)] as T

const lessKnown = ({ indexed }: Size): Partial<Patient> => ({
  emailAddress: null,
  ...(indexed && { isActive: false, nationalId: 'N-1' }),
})

const randomDate = ({ random }: Practice): string =>
  new Date(NOW + Math.floor(random() * 90 - 45) * 86_400_000).toISOString().slice(0, 10)

const patientRef = (patient: Patient) => ({ id: patient.id, fullName: fullName(patient) })

export const aDoctor = (fullName: string): Doctor => ({ ...NEW_DOCTOR, id: newUuid(), fullName })

export function anAppointment(made: Practice): Appointment {
  const doctor = pickOne(made, made.doctors)
  const hour = 8 + Math.floor(made.random() * 10)
  const clock = (minutes: string) => `${String(hour).padStart(2, '0')}:${minutes}`
  return {
    id: newUuid(),
    ...NEW_APPOINTMENT,
    patient: patientRef(pickOne(made, made.patients)),
    doctor: { id: doctor.id, fullName: doctor.fullName },
    date: randomDate(made),
    startTime: clock('00'),
    endTime: clock('30'),
    status: pickOne(made, APPOINTMENT_STATUSES),
    notes: pickOne(made, [null, 'short', 'long '.repeat(200)]),
    room: ROOM,
    createdAt,
  }
}

export function anInvoice(made: Practice): Invoice {
  const patient = pickOne(made, made.patients)
  const status = pickOne(
    made,
    INVOICE_STATUSES.filter((it) => !['paid', 'partially_paid', 'refunded'].includes(it)),
  )
  return sample.anInvoice({
    id: newUuid(),
    number: String(Math.floor(made.random() * 1e6)),
    clinicStatus: status,
    status,
    issueDate: randomDate(made),
    total: 10_000,
    patient: { ...patientRef(patient), email: patient.emailAddress },
    lineItems: [],
  })
}

export function aPayment(made: Practice): Payment {
  return sample.aPayment(pickOne(made, made.invoices), {
    id: newUuid(),
    amount: 1 + Math.floor(made.random() * 9_000),
    type: pickOne(made, ['payment', 'payment', 'refund'] as const),
    status: pickOne(made, PAYMENT_STATUSES),
    date: randomDate(made),
  })
}

export function aMessage(made: Practice): Message {
  return sample.anEmail({
    id: newUuid(),
    channel: pickOne(made, CHANNELS),
    text: pickOne(made, ['Hello', 'See you. '.repeat(100)]),
    status: 'sent',
    sentAt: createdAt,
    patient: patientRef(pickOne(made, made.patients)),
    acceptedOn: randomDate(made),
  })
}

export async function createAll<R>(
  table: Table,
  clinic: ClinicId,
  list: RecordStore<R>,
  records: readonly R[],
): Promise<void> {
  const build = (record: R): Changeset => {
    const changes = new Changeset(table, clinic)
    list.change(changes, null, record)
    return changes
  }
  function* units() {
    for (const record of records) yield { changes: build(record), rebuild: async () => build(record) }
  }
  await commitPacked(table, clinic, units())
}

/** Adds a payment: a refund of more than was paid becomes one. */
export async function addPayment(table: Table, clinic: ClinicId, payment: Payment): Promise<Payment> {
  let added = payment
  const build = (_: Invoice, __: Payment | null, others: readonly Payment[]) => {
    added = refundable([...others, payment]) < 0 ? { ...payment, type: 'payment' } : payment
    return added
  }
  await commitWithRetry(() => paymentChanges(table, clinic, payment.invoice.id, [{ id: payment.id, build }]))
  return added
}

export const setStatus = (
  table: Table,
  clinic: ClinicId,
  id: string,
  status: AppointmentStatus,
): Promise<void> =>
  commitWithRetry(async () => {
    const list = appointmentStore({ table })
    const stored = await list.find(clinic, id)
    if (!stored) return null
    const changes = new Changeset(table, clinic)
    list.change(changes, stored, { ...stored.record, status })
    return changes
  })

/** The differences of a verification, with pauses that suit a test. */
export async function runVerification(table: Table, clinic: ClinicId, repair = false) {
  const differences: ReportedDifference[] = []
  const result = await verifyClinic(table, clinic, {
    repair,
    onDifference: (difference) => differences.push(difference),
    pauseMs: 2,
    gracePeriodMs: 50,
  })
  return { ...result, found: differences, kinds: differences.map(({ kind }) => kind).sort() }
}
