import type { Doctor } from '../../shared/domain/booking/doctor.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import type { Message } from '../../shared/domain/messages/message.ts'
import { applyPayments, type Invoice } from '../../shared/domain/money/invoice.ts'
import { NEW_PAYMENT, type Payment } from '../../shared/domain/money/payment.ts'
import type { Patient } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import type { Key } from '../../shared/store/keys/key.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { MAX_CREATED, patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { chunked } from '../../shared/store/table/chunked.ts'
import { mapConcurrent } from '../../shared/store/table/map-concurrent.ts'
import { type Table, withoutEvents } from '../../shared/store/table/table.ts'
import type { Item } from '../../shared/store/table/write-requests.ts'
import { type SeededRandom, seeded } from './random.ts'
import { createClinic, createDoctors, createdAt, newAppointment, newPatient, referenceTo } from './records.ts'

/** Records of a patient, itself included. */
export const RECORDS_PER_PATIENT = 11

const APPOINTMENTS = 5
const INVOICES = 2
const DOCTORS = 10
const DAY_MS = 86_400_000
const LAST_DAY = Date.parse('2026-04-30T00:00:00Z')

/** Patients whose records are written together. */
const BATCH = 500
const CONCURRENCY = 8

/**
 * Writes a clinic without differences: 10 doctors, and patients with 5 appointments, 2 invoices with a payment each, and a message.
 * The items are the ones that the stores write, but without the transactions, which would take many times longer.
 */
export async function buildClinic(plain: Table, patients: number): Promise<ClinicId> {
  const table = withoutEvents(plain)
  const random = seeded(patients)
  const clinic = await createClinic(table)
  const doctors = await createDoctors(table, clinic, DOCTORS)
  const writer = patientWriter({ table })
  for (let done = 0; done < patients; done += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, patients - done) }, (_, at) => patientOf(done + at))
    for (const chunk of chunked(batch, MAX_CREATED)) await writer.createMany(clinic, chunk)
    const changes = new Changeset(table, clinic)
    for (const patient of batch) addRecords(table, changes, random, patient, random.pick(doctors))
    await writeAll(table, changes)
  }
  await writer.snapshot(clinic)
  return clinic
}

const patientOf = (number: number): Patient =>
  newPatient({
    firstName: 'Zeynep',
    lastName: `Öztürk ${number}`,
    phoneNumber: `+9053${String(number).padStart(8, '0')}`,
    emailAddress: `patient${number}@example.com`,
  })

function addRecords(
  table: Table,
  changes: Changeset,
  random: SeededRandom,
  patient: Patient,
  doctor: Doctor,
): void {
  const reference = referenceTo(patient)
  const date = () => new Date(LAST_DAY - random.integer(0, 700) * DAY_MS).toISOString().slice(0, 10)
  for (let at = 0; at < APPOINTMENTS; at++) {
    const hour = String(random.integer(8, 17)).padStart(2, '0')
    const times = { date: date(), startTime: `${hour}:00`, endTime: `${hour}:30` }
    const appointment = newAppointment({
      patient: reference,
      doctor: { id: doctor.id, fullName: doctor.fullName },
      ...times,
      status: 'completed',
      notes: 'Control appointment, no complaints.',
    })
    appointmentStore({ table }).change(changes, null, appointment)
  }
  for (let at = 0; at < INVOICES; at++) {
    const invoice = invoiceOf(patient, date())
    const payment: Payment = {
      ...NEW_PAYMENT,
      id: newUuid(),
      invoice: { id: invoice.id, number: invoice.number },
      patient: reference,
      amount: invoice.total,
      currency: 'TRY',
      type: 'payment',
      method: 'card',
      status: 'completed',
      description: null,
      date: invoice.issueDate,
      createdAt,
    }
    const settled = applyPayments(invoice, [payment])
    invoiceStore({ table }).change(changes, null, settled)
    paymentStore({ table }).change(changes, null, payment)
  }
  const message: Message = {
    id: newUuid(),
    channel: 'sms',
    type: 'reminder',
    recipient: patient.phoneNumber ?? '',
    subject: null,
    text: 'Your appointment is tomorrow at ten.',
    status: 'delivered',
    providerMessageId: newUuid(),
    errorMessage: null,
    sentAt: createdAt,
    patient: reference,
    acceptedAt: createdAt,
    acceptedOn: createdAt.slice(0, 10),
    dispatch: null,
  }
  messageStore({ table }).change(changes, null, message)
}

export const invoiceOf = (patient: Patient, issueDate: string): Invoice => ({
  id: newUuid(),
  number: newUuid().slice(0, 8),
  clinicStatus: 'sent',
  status: 'sent',
  issueDate,
  dueDate: null,
  paidAt: null,
  clinicPaidAt: null,
  currency: 'TRY',
  subtotal: 100_000,
  tax: 20_000,
  discount: 0,
  total: 120_000,
  paid: 0,
  patient: { ...referenceTo(patient), email: patient.emailAddress },
  lineItems: [
    {
      id: newUuid(),
      description: 'Examination',
      quantity: 10_000,
      unitPrice: 100_000,
      discount: 0,
      taxRate: 200_000,
      tax: 20_000,
      total: 120_000,
    },
  ],
  createdAt,
})

/** Writes new items as they are, and adds to counters and days. */
async function writeAll(table: Table, changes: Changeset): Promise<void> {
  const writes = changes.writes()
  await table.putMany(writes.flatMap(({ Put }) => (Put ? [Put.Item as Item] : [])))
  await mapConcurrent(CONCURRENCY, writes, async ({ Update }) => {
    if (!Update) return
    const { Key, TableName: _, ...expressions } = Update
    await table.update(Key as Key, expressions as Parameters<Table['update']>[1])
  })
}
