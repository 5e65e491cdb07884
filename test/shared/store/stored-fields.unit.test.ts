import { describe, expect, it } from 'vitest'
import { APPOINTMENTS } from '../../../shared/store/calendar/appointments.ts'
import { INVOICES } from '../../../shared/store/calendar/invoices.ts'
import { PAYMENTS } from '../../../shared/store/calendar/payments.ts'
import { MESSAGES } from '../../../shared/store/messages/messages.ts'
import { recordItem, rowItem, toPatient } from '../../../shared/store/patients/patients.ts'
import { UnreadableRecord } from '../../../shared/store/table/unreadable-record.ts'
import { filledPatient, filledRecords } from '../../support/filled-records.ts'

const key = { pk: 'partition', sk: 'sort' }
const patient = filledPatient()
const records = filledRecords(patient)
const at = Date.parse(patient.createdAt)

it('a record with a value in every field is decoded as it was encoded', () => {
  const { appointment, invoice, payment, message } = records
  expect([
    toPatient(recordItem({ ...key, sk: patient.id }, { ...patient, ordinal: 0, version: 1, events: 1 })),
    APPOINTMENTS.decode({ ...key, ...APPOINTMENTS.encode(appointment) }, appointment.id),
    INVOICES.decode({ ...key, ...INVOICES.encode(invoice) }, invoice.id),
    PAYMENTS.decode({ ...key, ...PAYMENTS.encode(payment) }, payment.id),
    MESSAGES.decode({ ...key, ...MESSAGES.encode(message) }, message.id),
  ]).toEqual([patient, appointment, invoice, payment, message])
})

describe('the stored format', () => {
  it('is that of every item written so far', () => {
    const { appointment, invoice, payment, message } = records
    expect(rowItem(key, { ...patient, acceptsSms: false })).toMatchObject({
      ...key,
      i: patient.id,
      f: patient.firstName,
      l: patient.lastName,
      d: patient.dateOfBirth,
      g: patient.gender,
      p: patient.phoneNumber,
      e: patient.emailAddress,
      ns: 1,
      ne: 1,
      la: patient.language,
      xi: patient.externalId,
      c: at,
    })
    const [treatment] = appointment.treatments
    expect(APPOINTMENTS.encode({ ...appointment, notes: null })).toEqual({
      p: patient.id,
      pn: 'Canarella Canarowitz',
      d: appointment.doctor.id,
      dn: 'Dr. Bo Lind',
      on: '2026-05-04',
      b: '09:00',
      e: '09:30',
      s: 's',
      n: null,
      tr: [{ i: treatment?.id, n: 'Check-up' }],
      rm: { i: appointment.room.id, n: 'Room 2' },
      cf: at,
      ci: at,
      xa: at,
      xr: 'Canary reason of the cancellation',
      xi: 'CANARY-APPOINTMENT-1',
      c: at,
    })
    expect(INVOICES.encode({ ...invoice, dueDate: null, paidAt: null })).toEqual({
      no: invoice.number,
      s: 'p',
      set: 's',
      on: '2026-05-04',
      due: null,
      at: null,
      sat: at,
      cur: 'EUR',
      dec: 2,
      sub: 10_000,
      tax: 100,
      dis: 50,
      tot: 10_050,
      paid: 10_050,
      p: patient.id,
      pn: 'Canarella Canarowitz',
      pe: patient.emailAddress,
      a: invoice.appointmentId,
      d: { i: invoice.doctor.id, n: 'Dr. Bo Lind' },
      li: invoice.lineItems.map(({ doctor, hasOwnDoctor: _, treatment, ...item }) => ({
        ...item,
        doctor: { i: doctor.id, n: 'Dr. Bo Lind' },
        ownDoctor: 1,
        treatment: { i: treatment.id, n: 'Check-up' },
      })),
      c: at,
    })
    expect(PAYMENTS.encode(payment)).toEqual({
      i: invoice.id,
      no: invoice.number,
      p: patient.id,
      pn: 'Canarella Canarowitz',
      a: 10_050,
      cur: 'EUR',
      dec: 2,
      ty: 'payment',
      me: 'card',
      s: 'c',
      de: payment.description,
      on: '2026-05-04',
      va: at,
      vr: payment.voidReason,
      c: at,
    })
    const sent = {
      ch: 'email',
      ty: 'manual',
      to: message.recipient,
      su: message.subject,
      tx: message.text,
      s: 'queued',
      pm: message.providerMessageId,
      er: message.errorMessage,
      at,
      p: patient.id,
      pn: 'Canarella Canarowitz',
      on: '2026-05-01',
      c: at,
      te: 1,
    }
    expect(MESSAGES.encode(message)).toEqual({ ...sent, di: { u: at, k: 'token', l: at + 60_000, x: 1 } })
    expect(MESSAGES.encode({ ...message, dispatch: null })).toStrictEqual(sent)
  })

  it('leaves long texts out of large rows, and what only sending needs out of all', () => {
    expect([APPOINTMENTS.large, INVOICES.large, PAYMENTS.large]).toEqual([['n', 'tr', 'xr'], ['li'], ['de']])
    expect([MESSAGES.large.toSorted(), MESSAGES.unlisted]).toEqual([
      ['er', 'su', 'tx'],
      ['di', 'te'],
    ])
  })
})

describe('the amounts of an item', () => {
  const { invoice, payment } = records
  const { dec: _, ...before } = INVOICES.encode(invoice) as Record<string, unknown>

  it('have the decimals of the table of currencies if the item has none', () => {
    expect(INVOICES.decode({ ...key, ...before }, invoice.id)).toEqual(invoice)
  })

  it('are converted exactly when the item was written with other decimals than the currency has now', () => {
    const item = { ...key, ...INVOICES.encode(invoice), dec: 1 }
    const [line] = invoice.lineItems
    expect(INVOICES.decode(item, invoice.id)).toEqual({
      ...invoice,
      subtotal: 100_000,
      tax: 1000,
      discount: 500,
      total: 100_500,
      paid: 100_500,
      lineItems: [
        {
          ...line,
          unitPrice: 100_000,
          discount: 500,
          tax: 1000,
          total: 100_500,
          quantity: 10_000,
          taxRate: 10_000,
        },
      ],
    })
    const paid = { ...key, ...PAYMENTS.encode(payment), dec: 3 }
    expect(PAYMENTS.decode(paid, payment.id)).toEqual({ ...payment, amount: 1005 })
    expect(PAYMENTS.decode({ ...paid, de: undefined, t: 1 }, payment.id)).toMatchObject({ amount: 1005 })
  })

  it('cannot be read if they are not exact with the decimals that the currency has now, or its decimals are no number', () => {
    const item = { ...key, ...PAYMENTS.encode({ ...payment, amount: 10_055 }), dec: 3 }
    expect(() => PAYMENTS.decode(item, payment.id)).toThrow(UnreadableRecord)
    expect(() => PAYMENTS.decode({ ...item, dec: true }, payment.id)).toThrow(UnreadableRecord)
    expect(() => INVOICES.decode({ ...key, ...before, tot: 2 ** 50, dec: 0 }, invoice.id)).toThrow(
      UnreadableRecord,
    )
  })
})
