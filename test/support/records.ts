import type { Appointment } from '../../shared/domain/booking/appointment.ts'
import type { Department, PriceList, Room, Treatment } from '../../shared/domain/booking/catalogue.ts'
import { NEW_DOCTOR } from '../../shared/domain/booking/doctor.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import type { Message } from '../../shared/domain/messages/message.ts'
import type { Invoice } from '../../shared/domain/money/invoice.ts'
import type { Payment } from '../../shared/domain/money/payment.ts'
import { fullName, type Patient } from '../../shared/domain/patients/patient.ts'
import { lineItemId, newUuid } from '../../shared/domain/uuid.ts'
import type { Delivery } from '../../shared/domain/webhooks/delivery.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import type { RecordStore } from '../../shared/store/calendar/calendar-list.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { departmentStore, priceListStore, roomStore, treatmentStore } from '../../shared/store/catalogue.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { deliveryStore } from '../../shared/store/events/deliveries.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import type { Provenance } from '../../shared/store/external-ids/provenance.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { type Table, withoutEvents } from '../../shared/store/table/table.ts'
import { aPriceList, aRoom, aTreatment } from './catalogue.ts'
import { createWebhook } from './deliveries.ts'
import { paymentChanges } from './payment-changes.ts'
import { anAppointment, anEmail, anInvoice, aPayment } from './sample-records.ts'
import { aPatient, NOW, newClinic } from './table.ts'

const createdAt = new Date(NOW).toISOString()

export type PopulatedClinic = {
  clinic: Clinic
  patient: Patient
  doctor: { id: string; fullName: string }
  department: Department
  room: Room
  treatment: Treatment
  priceList: PriceList
  appointment: Appointment
  invoice: Invoice
  payment: Payment
  message: Message
}

/** Creates one record of every kind in a clinic, by default a new one. The message is so long that its list rows omit the text. */
export async function createPopulatedClinic(
  table: Table,
  patient = aPatient(),
  existingClinic?: Clinic,
): Promise<PopulatedClinic> {
  const clinic = existingClinic ?? (await newClinic(table))
  await patientWriter({ table }).createMany(clinic.id, [patient])
  const hours = parseWeeklyHours('mon-fri 09:00-17:00')
  const department = { id: newUuid(), name: 'General practice', isActive: true }
  const doctor = { ...NEW_DOCTOR, id: newUuid(), fullName: 'Dr. Bo Lind', departmentId: department.id, hours }
  // The events of these clinics are of patients and their records alone.
  await doctorStore({ table: withoutEvents(table) }).save(clinic.id, [{ before: null, after: doctor }])
  const catalogue = await createCatalogue(withoutEvents(table), clinic, department, doctor.id)
  const named = { id: patient.id, fullName: fullName(patient) }
  const bookedWith = { id: doctor.id, fullName: doctor.fullName }
  const appointment = anAppointment({ id: newUuid(), patient: named, doctor: bookedWith, createdAt })
  const invoiceId = newUuid()
  const sample = anInvoice({ total: 10_010 })
  const invoice: Invoice = {
    ...sample,
    id: invoiceId,
    status: 'partially_paid',
    paid: 10,
    patient: { ...named, email: patient.emailAddress },
    // The id is the one that an import makes.
    lineItems: sample.lineItems.map((item) => ({ ...item, id: lineItemId(invoiceId, 0) })),
    createdAt,
  }
  const payment = aPayment(invoice, { id: newUuid(), amount: 10 })
  const message = anEmail({
    id: newUuid(),
    recipient: patient.emailAddress ?? 'unknown@example.com',
    text: 'See you soon. '.repeat(100),
    status: 'delivered',
    providerMessageId: 'ses-1',
    sentAt: createdAt,
    patient: named,
    acceptedAt: createdAt,
  })
  await createRecord(table, clinic, appointmentStore({ table }), appointment)
  await createRecord(table, clinic, invoiceStore({ table }), invoice)
  // With its invoice, as every payment is written.
  await (
    await paymentChanges(table, clinic.id, invoice.id, [{ id: payment.id, build: () => payment }])
  )?.commit()
  await createRecord(table, clinic, messageStore({ table }), message)
  return { clinic, patient, doctor, ...catalogue, appointment, invoice, payment, message }
}

/** Creates the department, with a room, a treatment of the doctor, and its price. */
async function createCatalogue(table: Table, { id }: Clinic, department: Department, doctor: string) {
  const room = aRoom({ departmentId: department.id })
  const treatment = aTreatment({ code: 'T1', doctorIds: [doctor] })
  const priceList = aPriceList({ items: [{ treatmentId: treatment.id, price: 9_950 }] })
  await departmentStore({ table }).save(id, [{ before: null, after: department }])
  await roomStore({ table }).save(id, [{ before: null, after: room }])
  await treatmentStore({ table }).save(id, [{ before: null, after: treatment }])
  await priceListStore({ table }).save(id, [{ before: null, after: priceList }])
  return { department, room, treatment, priceList }
}

export type WebhookWithDeliveries = {
  webhook: Webhook
  /** One for each event so far, newest first; none was attempted. */
  deliveries: readonly [Delivery, ...Delivery[]]
}

/** Creates an endpoint that is subscribed to everything, and deliveries of all events of the clinic. */
export async function createWebhookWithDeliveries(
  table: Table,
  clinic: Clinic,
): Promise<WebhookWithDeliveries> {
  const webhook = await createWebhook(table, clinic.id)
  return { webhook, deliveries: await createDeliveries(table, clinic, webhook) }
}

/** Creates the deliveries of all events of the clinic, without messages; returns those to a webhook. */
export async function createDeliveries(
  table: Table,
  clinic: Clinic,
  webhook: Pick<Webhook, 'id'>,
): Promise<WebhookWithDeliveries['deliveries']> {
  await eventFanOut({ table, now: Date.now, newId: newUuid }).fanOut(clinic.id, async () => {})
  const page = await deliveryStore({ table }).page(clinic.id, webhook.id, { limit: 100 }, Date.now())
  const [first, ...more] = page?.items ?? []
  if (!first) throw new Error('The clinic has no events')
  return [first, ...more]
}

/** Stores a new record, with the provenance of an imported one. */
export async function createRecord<R>(
  table: Table,
  clinic: Clinic,
  list: RecordStore<R>,
  record: R,
  provenance?: Provenance,
): Promise<void> {
  const changes = new Changeset(table, clinic.id)
  list.change(changes, null, record, provenance)
  await changes.commit()
}

/** Changes a record as a command or the API does. */
export async function changeRecord<R extends object>(
  table: Table,
  clinic: ClinicId,
  list: RecordStore<R>,
  id: string,
  facts: Partial<R>,
): Promise<void> {
  const stored = await list.find(clinic, id)
  if (!stored) throw new Error(`no record ${id}`)
  const changes = new Changeset(table, clinic)
  list.change(changes, stored, { ...stored.record, ...facts })
  await changes.commit()
}

/** Creates an appointment like that of the clinic, with other facts. Returns its id. */
export async function createAppointment(
  table: Table,
  { clinic, appointment }: PopulatedClinic,
  facts: Partial<Appointment>,
): Promise<string> {
  const id = newUuid()
  await createRecord(table, clinic, appointmentStore({ table }), { ...appointment, id, ...facts })
  return id
}
