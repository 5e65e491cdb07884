/** Files that are imported again after their records were changed in the clinic. */
import { describe, expect, it } from 'vitest'
import { messageColumns } from '../../../../bin/clinic/export/sources.ts'
import type { Appointment } from '../../../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import type { RecordStore } from '../../../../shared/store/calendar/calendar-list.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import {
  departmentStore,
  priceListStore,
  roomStore,
  treatmentStore,
} from '../../../../shared/store/catalogue.ts'
import { copiedNames } from '../../../../shared/store/copies/copied-names.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { holidayStore } from '../../../../shared/store/holidays.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { allItems } from '../../../support/all-items.ts'
import { changeRecord } from '../../../support/records.ts'
import { claimedDispatch, MINUTE, storeMessage, waitingDispatch } from '../messages/message-fixtures.ts'
import { appointment, importedClinic, invoice, message, payment } from './calendar-fixtures.ts'

const imported = importedClinic()
const { idOf, load } = imported

const change = <R extends object>(list: RecordStore<R>, id: string, facts: Partial<R>) =>
  changeRecord(imported.db.table, imported.clinic.id, list, id, facts)

/** Changes the only record of a small list. */
async function changeOnly<R extends object>(
  store: {
    list: (clinic: ClinicId) => Promise<readonly R[]>
    save: (clinic: ClinicId, changes: { before: R; after: R }[]) => Promise<void>
  },
  facts: Partial<R>,
) {
  const [before] = await store.list(imported.clinic.id)
  if (before) await store.save(imported.clinic.id, [{ before, after: { ...before, ...facts } }])
}

async function changePatient(facts: Parameters<ReturnType<typeof patientChanges>['update']>[2]) {
  await patientChanges(imported.db.table).update(imported.clinic.id, await idOf('patient', 1), facts)
}

const changeAppointment = async (facts: Partial<Appointment>) =>
  change(appointmentStore(imported.db), await idOf('appointment', 'a'), facts)

const bill = { ...invoice, subtotal: 100 }
const treatment = { external_id: 't', name: 'Consultation', duration_minutes: 30, price: '80.00' }
const priceList = {
  external_id: 'l',
  name: 'Standard',
  items: [{ treatment_external_id: 't', price: '70.00' }],
}

/** One row of each entity, a changed one, a change of the record in the clinic, and the fields that differ then. */
const ENTITIES: [string, object, object, () => Promise<unknown>, string][] = [
  [
    'departments',
    { external_id: 'd', name: 'Surgery' },
    { name: 'Surgery 2' },
    () => changeOnly(departmentStore(imported.db), { name: 'Ward' }),
    'name differs',
  ],
  [
    'holidays',
    { external_id: 'h', from: '2026-12-25', name: 'Christmas' },
    { name: 'Noel' },
    async () => {
      const store = holidayStore(imported.db)
      await store.set(imported.clinic.id, (days) => days.map((day) => ({ ...day, reason: 'Closed' })))
      await copiedNames(imported.db.table).refreshHolidays(imported.clinic.id)
    },
    'name differs',
  ],
  [
    'rooms',
    { external_id: 'r', name: 'R1', is_active: true },
    { name: 'R2' },
    () => changeOnly(roomStore(imported.db), { isActive: false }),
    'name, is_active differ',
  ],
  [
    'treatments',
    treatment,
    { price: '90.00' },
    () => changeOnly(treatmentStore(imported.db), { price: 8500 }),
    'price differs',
  ],
  [
    'price-lists',
    priceList,
    { items: [] },
    () => changeOnly(priceListStore(imported.db), { name: 'Old' }),
    'name, items differ',
  ],
  [
    'doctors',
    { external_id: 1, full_name: 'Dr. Eva Noll', hours: 'mon 09:00-12:00', is_active: true },
    { hours: 'tue 09:00-12:00' },
    () => changeOnly(doctorStore(imported.db), { isActive: false }),
    'is_active, hours differ',
  ],
  [
    'patients',
    { external_id: 1, first_name: 'Ada', last_name: 'Kaya', phone_number: '+905321234567' },
    { phone_number: '+905321234569' },
    () => changePatient({ phoneNumber: '+905321234568' }),
    'phone_number differs',
  ],
  [
    'appointments',
    { ...appointment, status: 'scheduled', notes: 'Old' },
    { notes: 'New' },
    () => changeAppointment({ status: 'no_show' }),
    'status, notes differ',
  ],
  [
    'invoices',
    { ...bill, status: 'sent', due_date: '2026-05-01' },
    { due_date: '2026-06-01' },
    async () => change(invoiceStore(imported.db), await idOf('invoice', 'i'), { clinicStatus: 'cancelled' }),
    'status, due_date differ',
  ],
  [
    'payments',
    { ...payment, status: 'completed' },
    { amount: '30.00' },
    async () => change(paymentStore(imported.db), await idOf('payment', 'p'), { status: 'failed' }),
    'amount, status differ',
  ],
  [
    'messages',
    { ...message, status: 'sent', subject: 'Ho' },
    { subject: 'Hi' },
    async () => change(messageStore(imported.db), await idOf('message', 'm'), { status: 'failed' }),
    'subject, status differ',
  ],
]

/** Everything that is stored, except the search segments: each import brings them up to date. */
const stored = async () => (await allItems(imported.db)).filter(({ pk }) => !/#P[HSC]/.test(pk))

const needs = async (name: string) => {
  if (name === 'payments') await load('invoices', [bill])
  if (name === 'price-lists') await load('treatments', [treatment])
}

describe.each(ENTITIES)('an import of %s that is repeated', (name, row, changes, changeRecord, differing) => {
  it('changes nothing after a change in the clinic, and rejects a changed row unless it overwrites', async () => {
    await needs(name)
    await load(name, [row])
    await changeRecord()
    const before = await stored()
    expect(await load(name, [row])).toMatchObject({ unchanged: 1, rejected: 0 })
    expect(await load(name, [row], undefined, { overwrite: true })).toMatchObject({ unchanged: 1 })
    const changed = { ...row, ...changes }
    const rejected = await load(name, [changed])
    expect(rejected).toMatchObject({ updated: 0, rejected: 1 })
    expect(rejected.reasons[0]).toContain(differing)
    expect(rejected.reasons[0]).toContain('was changed after its last import')
    expect(new Set(await stored())).toEqual(new Set(before))
    expect(await load(name, [changed], undefined, { overwrite: true })).toMatchObject({ updated: 1 })
    expect(await load(name, [changed])).toMatchObject({ unchanged: 1 })
    // Since then nobody has changed the record.
    expect(await load(name, [row])).toMatchObject({ updated: 1, rejected: 0 })
  })

  it('reads cells with spaces around them, and booleans in capitals, as it reads them without', async () => {
    await needs(name)
    await load(name, [row])
    const spacesAround = ([column, value]: [string, unknown]) => [
      column,
      value === true
        ? ' TRUE'
        : typeof value === 'string' && !/message|notes/.test(column)
          ? `  ${value}\t`
          : value,
    ]
    const spaced = Object.fromEntries(Object.entries(row).map(spacesAround))
    expect(await load(name, [spaced])).toMatchObject({ unchanged: 1, reasons: [] })
  })
})

it('keeps what a patient has said of messages since, until the cell in the file changes', async () => {
  const row = { external_id: 1, first_name: 'Ada', last_name: 'Kaya', accepts_sms: true }
  const accepts = async (facts: object, overwrite = false) => {
    expect(await load('patients', [{ ...row, ...facts }], undefined, { overwrite })).toMatchObject({
      updated: 1,
      reasons: [],
    })
    const id = await idOf('patient', 1)
    return (await patientStore(imported.db).find(imported.clinic.id, id))?.acceptsSms
  }
  await load('patients', [row])
  await changePatient({ acceptsSms: false })
  for (const [n, overwrite] of [true, false, true].entries())
    expect(await accepts({ notes: `${n}` }, overwrite)).toBe(false)
  expect(await load('patients', [{ ...row, accepts_sms: false }])).toMatchObject({ unchanged: 1 })
  expect(await accepts({ accepts_sms: true })).toBe(true)
})

describe('an invoice that was imported', () => {
  it('is not changed in the clinic by its payments', async () => {
    await load('invoices', [bill])
    await load('payments', [{ ...payment, amount: '100.00' }])
    expect(await load('invoices', [{ ...bill, due_date: '2026-06-01' }])).toMatchObject({ updated: 1 })
    expect(await imported.invoices()).toMatchObject([{ status: 'paid', dueDate: '2026-06-01' }])
  })

  it('keeps its currency and line items if the file has no such columns, whatever the clinic has now', async () => {
    const { currency: _, ...row } = {
      ...bill,
      line_items: [{ description: 'Consultation', unit_price: 100 }],
    }
    await load('invoices', [row])
    await load('payments', [payment])
    const [before] = await imported.invoices()
    const changed = { ...bill, currency: undefined, due_date: '2026-06-01' }
    const settings = { currency: 'JPY' }
    expect(await load('invoices', [changed], undefined, { settings })).toMatchObject({ updated: 1 })
    const { currency, lineItems } = before ?? {}
    expect(await imported.invoices()).toMatchObject([{ currency, lineItems, dueDate: '2026-06-01' }])
  })
})

it('makes no price list again that was removed in the clinic, unless the row changed and overwrites', async () => {
  await needs('price-lists')
  await load('price-lists', [priceList])
  const store = priceListStore(imported.db)
  const [list] = await store.list(imported.clinic.id)
  if (list) await store.remove(imported.clinic.id, list)
  expect(await load('price-lists', [priceList])).toMatchObject({ imported: 0, unchanged: 1 })
  const changed = { ...priceList, name: 'New' }
  expect(await load('price-lists', [changed])).toMatchObject({
    reasons: [expect.stringContaining('the price list was removed after its last import')],
  })
  expect(await load('price-lists', [changed], undefined, { overwrite: true })).toMatchObject({ imported: 1 })
})

it.each([
  ['waits to be sent', { dispatch: waitingDispatch() }],
  ['is being sent', { dispatch: claimedDispatch(Date.now() + MINUTE) }],
  ['may have been sent', { dispatch: claimedDispatch(Date.now() - MINUTE), isUnresolved: true }],
])('rejects a row that changes a message of the API that %s, and no other row of it', async (_, facts) => {
  const { db, clinic } = imported
  const patient = { id: await idOf('patient', 1), fullName: 'Ada Kaya' }
  const acceptedAt = '2026-04-30T10:00:00.000Z'
  const stored = await storeMessage(db.table, clinic, { ...facts, patient, acceptedAt })
  const same = { ...messageColumns(stored), external_id: stored.id, patient_external_id: 1 }
  expect(await load('messages', [same])).toMatchObject({ unchanged: 1, rejected: 0 })
  const options = { overwrite: true }
  expect(await load('messages', [{ ...same, status: 'failed' }], undefined, options)).toMatchObject({
    reasons: ['the message is still being sent; import the row once it is sent, or has failed'],
  })
  const { record } = (await messageStore(db).find(clinic.id, stored.id)) ?? {}
  expect(record).toMatchObject({ status: 'queued', dispatch: stored.dispatch })
})
