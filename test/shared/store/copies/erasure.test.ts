import { createHash, createHmac } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { renderAppointment } from '../../../../shared/api/appointments.ts'
import { renderAcceptedMessage } from '../../../../shared/api/new-message.ts'
import { renderPatient } from '../../../../shared/api/patients.ts'
import { APPOINTMENT_FIELDS, type Appointment } from '../../../../shared/domain/booking/appointment.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { eraseFields } from '../../../../shared/domain/field-policy.ts'
import { type Channel, MESSAGE_FIELDS, type Message } from '../../../../shared/domain/messages/message.ts'
import { INVOICE_FIELDS, type Invoice } from '../../../../shared/domain/money/invoice.ts'
import { PAYMENT_FIELDS, type Payment } from '../../../../shared/domain/money/payment.ts'
import { PATIENT_FIELDS, type Patient } from '../../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { requestedWrite } from '../../../../shared/requests/requested-write.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { storedResponsesPartition } from '../../../../shared/store/keys/idempotency.ts'
import { messageAcceptance } from '../../../../shared/store/messages/acceptance.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { IdempotencyKeyReused, idempotencyGuard } from '../../../../shared/store/table/idempotency.ts'
import { allItems } from '../../../support/all-items.ts'
import { filledPatient, filledRecords } from '../../../support/filled-records.ts'
import {
  createPopulatedClinic,
  createRecord,
  createWebhookWithDeliveries,
  type PopulatedClinic,
} from '../../../support/records.ts'
import { aPatient, NOW, newClinic, tableOfFile } from '../../../support/table.ts'
import { tableText } from '../../../support/table-text.ts'
import { withoutUpdatedAt } from '../../../support/without-updated-at.ts'

/** All texts of a record. */
const textsOf = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : Object.values(value ?? {}).flatMap(textsOf)

const db = tableOfFile()
let clinic: Clinic
let neighbor: PopulatedClinic
const patient = filledPatient()
const records = filledRecords(patient)
const formerName = 'Formerowitz'
const origins = ['patient', 'appointment', 'invoice', 'payment', 'message'].map((of) => ({
  externalId: `external-${of}-7`,
  imported: `imported-${of}-7`,
}))
/** By the texts, not by the policies of the fields: a wrong policy must be found. */
const personalTexts = [
  patient.dateOfBirth,
  patient.phoneNumber,
  ...new Set(textsOf({ patient, records }).filter((text) => /canar/i.test(text))),
]
const canaries = [
  formerName,
  ...origins.flatMap((origin) => Object.values(origin)),
  ...personalTexts,
  patient.phoneNumber.slice(1),
].map((text) => text.toLowerCase())

const found = async (): Promise<string[]> => {
  const text = await tableText(db)
  return canaries.filter((canary) => text.includes(canary))
}

const guard = (key: string, body = '{}') =>
  idempotencyGuard(
    { table: db.table, now: () => NOW },
    { clinic: clinic.id, credential: 'ck_test', route: key, key, body },
  )

/** The request that created the patient. With all fields but one, the body can be guessed. */
const requestBody = JSON.stringify(patient)

/** What is stored as the digest of a file with one row. */

/**
 * The erased values, and what is made of them, that a reader of the whole table can confirm: a hash of the value is stored, with or without a key, whole
 * or in part. The key may be any value of the table.
 */
async function confirmedGuesses(): Promise<string[]> {
  const items = await allItems(db)
  const dump = JSON.stringify(items, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
  )
  const values = items.flatMap((item) => Object.values(item))
  const keys = new Set(values.filter((value) => typeof value === 'string' || value instanceof Uint8Array))
  const isStored = (guess: string) =>
    [createHash('sha256'), ...[...keys].map((key) => createHmac('sha256', key as string | Uint8Array))]
      .map((hash) => hash.update(guess).digest())
      .some((digest) =>
        (['base64url', 'base64', 'hex'] as const).some((encoding) =>
          dump.includes(digest.toString(encoding).slice(0, 16)),
        ),
      )
  return [...new Set([...personalTexts, ...canaries, requestBody])].filter(isStored)
}

/** Sends a message to the patient, which counts it for its recipient. */
async function acceptMessage(channel: Channel, recipient: string): Promise<void> {
  const message = { ...records.message, id: newUuid(), channel, recipient, dispatch: null }
  const decide = () => ({ kind: 'accepted', message, dailyLimit: 10, recipientLimit: 10 }) as const
  const request = { id: message.id, patient: patient.id, channel, date: message.acceptedOn }
  const write = requestedWrite(
    { checkIfMatch: () => {} },
    { status: 202 },
    guard(channel),
    renderAcceptedMessage,
  )
  await messageAcceptance(db).accept(clinic.id, request, decide, write)
}

async function storeResponse(key: string, response: unknown, body?: string): Promise<void> {
  const changes = new Changeset(db.table, clinic.id)
  guard(key, body).store(changes, 201, response, patient.id)
  await changes.commit()
}

let textBefore: string[]
let confirmedBefore: string[]
beforeAll(async () => {
  clinic = await newClinic(db.table)
  neighbor = await createPopulatedClinic(db.table)
  const writer = patientWriter(db)
  const changes = patientChanges(db.table)
  const imported = { ...patient, lastName: formerName, ...origins[0] }
  await writer.createMany(clinic.id, [aPatient(), imported, aPatient()])
  await writer.snapshotAll(clinic.id)
  await createRecord(db.table, clinic, appointmentStore(db), records.appointment, origins[1])
  await createRecord(db.table, clinic, invoiceStore(db), records.invoice, origins[2])
  await createRecord(db.table, clinic, paymentStore(db), records.payment, origins[3])
  await createRecord(db.table, clinic, messageStore(db), records.message, origins[4])
  await changes.update(clinic.id, patient.id, { lastName: patient.lastName })
  await storeResponse('patient', { data: renderPatient(patient, clinic) }, requestBody)
  await storeResponse('appointment', { data: renderAppointment(records.appointment, clinic) })
  await acceptMessage('email', patient.emailAddress)
  await acceptMessage('sms', patient.phoneNumber)
  await storeResponse('rejection', { error: 'CONFLICT', message: 'errors.developer_api.slot_unavailable' })
  await createWebhookWithDeliveries(db.table, clinic)
  textBefore = await found()
  confirmedBefore = await confirmedGuesses()
  await changes.erase(clinic.id, patient.id)
  await createWebhookWithDeliveries(db.table, clinic)
})

describe('erasing a patient', () => {
  it('starts from a table that contains every canary', () => {
    expect(textBefore).toEqual(canaries)
  })

  it('leaves no personal data anywhere in the table: items, responses, search segments, events and deliveries', async () => {
    expect(await found()).toEqual([])
    expect(await tableText(db)).toContain('patient.erased')
  })

  it('applies the policy of each field to every record of the patient', async () => {
    const stored = (await patientStore(db).findMany(clinic.id, [patient.id])).get(patient.id)
    const erasedAt = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(stored).toMatchObject({
      ...withoutUpdatedAt(eraseFields<Patient>(patient, PATIENT_FIELDS)),
      erasedAt,
    })
    const erasedRecords = await Promise.all([
      appointmentStore(db).find(clinic.id, records.appointment.id),
      invoiceStore(db).find(clinic.id, records.invoice.id),
      paymentStore(db).find(clinic.id, records.payment.id),
      messageStore(db).find(clinic.id, records.message.id),
    ])
    expect(erasedRecords.map((stored) => withoutUpdatedAt(stored?.record))).toEqual([
      withoutUpdatedAt(eraseFields<Appointment>(records.appointment, APPOINTMENT_FIELDS)),
      withoutUpdatedAt(eraseFields<Invoice>(records.invoice, INVOICE_FIELDS)),
      withoutUpdatedAt(eraseFields<Payment>(records.payment, PAYMENT_FIELDS)),
      withoutUpdatedAt(eraseFields<Message>(records.message, MESSAGE_FIELDS)),
    ])
  })

  it('replaces the descriptions of line items', async () => {
    const invoice = await invoiceStore(db).find(clinic.id, records.invoice.id)
    expect(invoice?.record.lineItems).toEqual([{ ...records.invoice.lineItems[0], description: 'Erased' }])
  })

  it('replaces the invoice number, in the invoice and in its payments, by one made from its id', async () => {
    const { id } = records.invoice
    const invoice = await invoiceStore(db).find(clinic.id, id)
    const payment = await paymentStore(db).find(clinic.id, records.payment.id)
    expect(invoice?.record.number).toBe(`ERASED-${id}`)
    expect(payment?.record.invoice).toEqual({ id, number: `ERASED-${id}` })
  })

  it("removes the provider's id of a message, which an import may have filled with any text", async () => {
    const message = await messageStore(db).find(clinic.id, records.message.id)
    expect(message?.record.providerMessageId).toBeNull()
  })

  it('leaves nothing with which a guess of an erased value can be confirmed', async () => {
    const { phoneNumber, emailAddress, nationalId } = patient
    expect(confirmedBefore.sort()).toEqual([phoneNumber, emailAddress, nationalId, requestBody].sort())
    expect(await confirmedGuesses()).toEqual([])
  })

  it('returns 422 for a repetition of a request whose stored response was emptied', async () => {
    await expect(guard('patient', requestBody).find()).rejects.toThrow(IdempotencyKeyReused)
    const all = await db.table.query({ pk: storedResponsesPartition(clinic.id), limit: 100 })
    expect(all.map(({ body, hash }) => ({ body, hash }))).toEqual(
      Array(5).fill({ body: '', hash: undefined }),
    )
  })

  it("changes nothing of another clinic's patient", async () => {
    const invoice = await invoiceStore(db).find(neighbor.clinic.id, neighbor.invoice.id)
    expect(withoutUpdatedAt(invoice?.record)).toEqual(neighbor.invoice)
  })

  it('changes nothing when it is repeated', async () => {
    const before = await tableText(db)
    await patientChanges(db.table).erase(clinic.id, patient.id)
    expect(await tableText(db)).toBe(before)
  })
})
