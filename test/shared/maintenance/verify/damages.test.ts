/** Every kind of damage, planted in a clinic that has records of every kind: what a verification reports, and whether it repairs it. */
import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { emptyPart, withMember } from '../../../../shared/domain/lists/ordinal-set.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { APPOINTMENTS } from '../../../../shared/store/calendar/appointments.ts'
import type { CalendarEntity } from '../../../../shared/store/calendar/calendar-entity.ts'
import { rowKeys } from '../../../../shared/store/calendar/calendar-row.ts'
import { INVOICES } from '../../../../shared/store/calendar/invoices.ts'
import { PAYMENTS } from '../../../../shared/store/calendar/payments.ts'
import { tallyAttribute } from '../../../../shared/store/calendar/tally.ts'
import { ACTIVE_VERSION, clinicInfo } from '../../../../shared/store/credentials.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import {
  calendarKey,
  calendarListPartition,
  doctorDayKey,
  type EntityCode,
  invoiceCounterKey,
  invoiceNumberKey,
  ownerPartition,
  roomDayKey,
  takenNumberKey,
  tallyPartition,
} from '../../../../shared/store/keys/calendar.ts'
import {
  departmentKey,
  priceListKey,
  roomKey,
  roomsPartition,
  treatmentKey,
} from '../../../../shared/store/keys/catalogue.ts'
import { changeIndexKey } from '../../../../shared/store/keys/change-index.ts'
import {
  clinicCredentialKey,
  clinicDirectoryKey,
  clinicKey,
  credentialKey,
  doctorKey,
  holidaysKey,
} from '../../../../shared/store/keys/clinics.ts'
import { dueRefreshKey, patientOwner, staleCopiesKey } from '../../../../shared/store/keys/copies.ts'
import { announcedKey, eventHeadKey, eventKey } from '../../../../shared/store/keys/events.ts'
import {
  externalIdLinkKey,
  externalIdLinksPartition,
  externalIdSecretKey,
} from '../../../../shared/store/keys/external-ids.ts'
import { type Key, shortId } from '../../../../shared/store/keys/key.ts'
import { catalogueVersionKey, unlistedCredentialKey } from '../../../../shared/store/keys/operator.ts'
import {
  inactivePatientsKey,
  nationalIdKey,
  nationalIdSecretKey,
  nationalIdsPartition,
  patientChangeKey,
  patientHeadKey,
  patientKey,
  patientRowKey,
  patientSegmentKey,
} from '../../../../shared/store/keys/patients.ts'
import {
  deliveriesPartition,
  dueDeliveryKey,
  webhookCountKey,
  webhookHealthKey,
  webhookKey,
} from '../../../../shared/store/keys/webhooks.ts'
import { MESSAGES } from '../../../../shared/store/messages/messages.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore, toPatient } from '../../../../shared/store/patients/patients.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
import { patientSearchLine } from '../../../../shared/store/patients/search-lines.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { issueCredential } from '../../../support/credentials.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { createDeliveries, createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { property } from '../../../support/scale.ts'
import { aPatient, tableOfFile } from '../../../support/table.ts'
import { faultInjection } from './comparison/fault-injection.ts'
import { createPractice, type Practice, runVerification } from './practice.ts'

const db = tableOfFile()
let made: Practice
let mine: PopulatedClinic
let raw: ReturnType<typeof faultInjection>
let sound: Item[]
let webhook: Key

/** The patients at these positions. The third is inactive, and all but the first have a national id. */
const patients = [0, 1, 2, 3].map((at) =>
  aPatient({ ...(at > 0 && { nationalId: 'AB-1' }), ...(at === 2 && { isActive: false }) }),
)

beforeAll(async () => {
  raw = faultInjection(db)
  made = await createPractice(db.table, {
    patients: 2,
    doctors: 1,
    appointments: 10,
    invoices: 2,
    payments: 3,
    messages: 2,
  })
  mine = await createPopulatedClinic(db.table, aPatient(), { ...(await settings()), id: made.clinic })
  await patientWriter(db).createMany(made.clinic, patients)
  await patientWriter(db).snapshot(made.clinic)
  // Updates that the segments do not contain yet.
  for (const [n, at] of [2, 3, 2].entries()) await change(at, { phoneNumber: `+90555000000${n}` })
  await change(0, { externalId: 'X' })
  const { key: createdBy } = await issueCredential(db.table, await settings())
  const { id } = await createWebhook(db.table, made.clinic, { createdBy })
  await createDeliveries(db.table, await settings(), { id })
  webhook = webhookKey(made.clinic, id)
  sound = await raw.scanAll()
})
beforeEach(() => raw.restore(sound))

const settings = async () => (await raw.read(clinicKey(made.clinic))) as unknown as Clinic
const first = <T>(list: readonly T[]): T => list[0] as T
const appointment = () => first(made.appointments)
const invoice = () => first(made.invoices)
const payment = () => first(made.payments)
const message = () => first(made.messages)
const ofStatus = (status: string) => first(made.appointments.filter((one) => one.status === status))
const busy = () => ofStatus('scheduled')
const free = () => ofStatus('cancelled')
const AT = '2026-05-01T07:00:00.000Z'

/** The rows of a record: of clinic and doctor, of patient, of invoice. */
const rowsOf = <R>(entity: CalendarEntity<R, never>, record: R) =>
  rowKeys(made.clinic, entity.entityCode, entity.position(record)) as [Key, Key, Key]
const recordKey = (entityCode: EntityCode, { id }: { id: string }) => calendarKey(made.clinic, entityCode, id)
const placesOf = <R extends { id: string }>(entity: CalendarEntity<R, never>, one: R) => [
  recordKey(entity.entityCode, one),
  ...rowsOf(entity, one),
]

/** The item that lists a record in the index of changes. */
const indexItem = async <R extends { id: string }>(
  { entityCode, decode }: CalendarEntity<R, never>,
  { id }: R,
) => changeIndexKey(made.clinic, entityCode, decode(await raw.read(recordKey(entityCode, { id })), id))

const tally = (doctor: string | null) => ({
  pk: tallyPartition(made.clinic, 'A', doctor),
  sk: appointment().date.slice(0, 7),
})
const counter = () => tallyAttribute(appointment().date, APPOINTMENTS.position(appointment()).facet)

type Appointment = Practice['appointments'][0]
const day = ({ doctor, date }: Appointment) => doctorDayKey(made.clinic, doctor.id, date)
const roomDay = ({ room, date }: Appointment) => roomDayKey(made.clinic, room?.id ?? '', date)

const alterAll = async (places: readonly Key[], change: object) => {
  for (const key of places) await raw.alter(key, () => change)
}

/** Copies an appointment's row to another day, under this id. */
async function strayRow(id: string) {
  const [key] = rowsOf(APPOINTMENTS, appointment())
  await raw.put({ ...(await raw.read(key)), sk: `s#2020-01-01#09:00#${shortId(id)}` })
}

/** Copies a row into another owner's list. */
async function misplacedRow(key: Key, entityCode: EntityCode, owner: 'patient' | 'invoice') {
  const others = owner === 'patient' ? made.patients : made.invoices
  const partitions = others.map(({ id }) => ownerPartition(made.clinic, entityCode, owner, id))
  const pk = first(partitions.filter((one) => one !== key.pk))
  await raw.put({ ...(await raw.read(key)), pk })
}

/** A record whose rows have all its attributes, or none of whose rows have. */
const full = async <R extends { id: string }>(
  entity: CalendarEntity<R, never>,
  records: readonly R[],
  isFull = true,
) => {
  for (const record of records)
    if (((await raw.read(rowsOf(entity, record)[0])).t === undefined) === isFull) return record
  throw new Error('no record has such rows')
}

/** Removes the record and leaves its rows. */
const lose = async <R extends { id: string }>(
  entity: CalendarEntity<R, never>,
  records: readonly R[],
  isFull = true,
) => raw.remove(recordKey(entity.entityCode, await full(entity, records, isFull)))

async function renameDoctor() {
  const store = doctorStore(db)
  const before = await store.find(made.clinic, appointment().doctor.id)
  if (before) await store.save(made.clinic, [{ before, after: { ...before, fullName: 'Dr. New' } }])
}

/** Deletes an invoice so that only a payment still refers to it. */
async function loneInvoice() {
  const paymentsOf = ({ id }: { id: string }) => made.payments.filter((one) => one.invoice.id === id)
  const lone = first(made.invoices.filter((one) => paymentsOf(one).length === 1))
  for (const key of [await indexItem(INVOICES, lone), ...placesOf(INVOICES, lone)]) await raw.remove(key)
  const { date, facet } = INVOICES.position(lone)
  const name = tallyAttribute(date, facet)
  const counted = { pk: tallyPartition(made.clinic, 'I', null), sk: date.slice(0, 7) }
  await raw.alter(counted, (item) => ({ [name]: Number(item[name]) - 1 }))
  return first(paymentsOf(lone))
}

/** An invoice with line items, and its payment, which is completed. */
const itemized = () => mine.invoice
const completed = () => mine.payment

// Patients. The position of the first of `patients` is 3.
const idOf = (at: number) => patients[at]?.id ?? ''
const change = async (at: number, fields: object) => {
  const before = (await patientStore(db).findMany(made.clinic, [idOf(at)])).get(idOf(at))
  if (before) await patientWriter(db).update(made.clinic, [{ before, after: { ...before, ...fields } }])
}
const record = (at: number) => patientKey(made.clinic, idOf(at))
const row = (at: number) => patientRowKey(made.clinic, at + 3)
const head = () => patientHeadKey(made.clinic)
const segment = () => patientSegmentKey(made.clinic, 0, 0)
const entry = (update: number) => patientChangeKey(made.clinic, update)
const add = (counter: string, by: number) =>
  raw.alter(head(), (item) => ({ [counter]: Number(item[counter]) + by }))
const bytes = (change: (data: Uint8Array) => Uint8Array) =>
  raw.alter(segment(), ({ data }) => ({ data: change(data as Uint8Array) }))
const patientIndexItem = async (at: number) =>
  changeIndexKey(made.clinic, 'P', toPatient(await raw.read(record(at))))
const dueRefresh = (at: number) => dueRefreshKey({ clinic: made.clinic, owner: patientOwner(idOf(1)), at })

/** Changes a name, and loses the item by which the sweep finds its copies. */
async function unscheduledRefresh() {
  await change(1, { lastName: 'New' })
  const { at } = await raw.read(staleCopiesKey(made.clinic, patientOwner(idOf(1))))
  await raw.remove(dueRefresh(at as number))
}

/** Replaces the log entry of an update with another patient's, so that the update is in neither log nor segment. */
async function forgottenUpdate() {
  await change(1, { phoneNumber: '+905557777777' })
  const line = patientSearchLine(toPatient(await raw.read(row(2))))
  await raw.alter(entry(4), () => ({ o: 5, line }))
}

const inactive = (part = 0) => inactivePatientsKey(made.clinic, part)
const underHash = (patient: string) => nationalIdKey(made.clinic, 'hash', patient)
const nationalIdItem = (at: number): Item =>
  sound.find(
    ({ pk, sk }) => pk === nationalIdsPartition(made.clinic) && sk.endsWith(shortId(idOf(at))),
  ) as Item
const link = (): Item => sound.find(({ pk }) => pk === externalIdLinksPartition(made.clinic)) as Item
const otherLink = () => externalIdLinkKey(made.clinic, newUuid())

const delivery = () => sound.find(({ pk }) => pk === deliveriesPartition(made.clinic, webhook.sk)) as Item
const dueDelivery = () =>
  dueDeliveryKey({
    clinic: made.clinic,
    webhook: webhook.sk,
    id: delivery().sk,
    at: delivery().dueAt as number,
  })

// Settings, credentials and the catalogue.
const catalogue = () => ({
  department: departmentKey(made.clinic, mine.department.id),
  room: roomKey(made.clinic, mine.room.id),
  treatment: treatmentKey(made.clinic, mine.treatment.id),
  priceList: priceListKey(made.clinic, mine.priceList.id),
  doctor: doctorKey(made.clinic, mine.doctor.id),
})
/** A credential with the clinic's settings, and its row with this version. */
async function credential(facts: object, v: number | null = ACTIVE_VERSION) {
  await raw.put({ ...clinicCredentialKey(made.clinic, 'ck_1'), ...(v !== null && { v }) })
  const issued = {
    key: 'ck_1',
    name: 'X',
    scopes: [],
    createdAt: AT,
    expiresAt: null,
    requestsPerMinute: null,
    revokedAt: null,
  }
  const secret = { salt: new Uint8Array(1), hash: new Uint8Array(1) }
  await raw.put({
    ...credentialKey('ck_1'),
    clinic: clinicInfo(await settings()),
    ...issued,
    ...secret,
    ...facts,
  })
}
const outdated = async (version: object) => {
  const { id, name, currency } = await settings()
  await credential({ clinic: { id, name, currency, timezone: 'Asia/Tokyo' }, ...version })
}

/** The differences that a verification reports, and the damages with how each is planted. */
type Damages = Readonly<Record<string, Readonly<Record<string, () => Promise<unknown>>>>>

const eachOf = (damages: Damages) =>
  Object.entries(damages).flatMap(([kinds, named]) =>
    Object.entries(named).map(([name, plant]) => ({ kinds: kinds.split(' '), name, plant })),
  )

const REPAIRED: Damages = {
  change_missing: {
    'an appointment is not in the index of changes': async () =>
      raw.remove(await indexItem(APPOINTMENTS, appointment())),
    'a patient is not in the index of changes': async () => raw.remove(await patientIndexItem(1)),
  },
  change_extra: {
    'the index of changes has a payment at an earlier time too': () =>
      raw.put(changeIndexKey(made.clinic, 'Y', { ...payment(), updatedAt: '2020-01-01T00:00:00Z' })),
    'the index of changes has a patient twice': () =>
      raw.put(changeIndexKey(made.clinic, 'P', { id: idOf(3), updatedAt: '2020-01-01T00:00:00Z' })),
    'the index of changes has an unknown patient': () =>
      raw.put(changeIndexKey(made.clinic, 'P', { id: newUuid(), updatedAt: AT })),
  },
  row_missing: {
    'an appointment is not in the clinic’s list': () => raw.remove(rowsOf(APPOINTMENTS, appointment())[0]),
    'an invoice is not listed': () => raw.remove(rowsOf(INVOICES, invoice())[0]),
    'a payment is not in its invoice’s list': () => raw.remove(rowsOf(PAYMENTS, payment())[2]),
  },
  'row_missing row_missing row_missing': {
    'an appointment is listed nowhere': () =>
      Promise.all(rowsOf(APPOINTMENTS, appointment()).map(raw.remove)),
  },
  row_differs: {
    'a row differs from its record': () => raw.alter(rowsOf(INVOICES, invoice())[0], () => ({ tot: 1 })),
    'a row has an unknown attribute': () => raw.alter(rowsOf(MESSAGES, message())[1], () => ({ zz: 1 })),
  },
  row_extra: {
    'a row is not where its record belongs': () => strayRow(appointment().id),
    'a row has a malformed key': () =>
      raw.put({ pk: calendarListPartition(made.clinic, 'I', null), sk: 'junk' }),
    'a row of an unknown record has only a key': () =>
      raw.put({
        pk: calendarListPartition(made.clinic, 'I', null),
        sk: `s#2020-01-01##${shortId(newUuid())}`,
      }),
    'a patient’s list has another patient’s appointment': () =>
      misplacedRow(rowsOf(APPOINTMENTS, appointment())[2], 'A', 'patient'),
  },
  tally_wrong: {
    'a counter is too high': () =>
      raw.alter(tally(null), (item) => ({ [counter()]: Number(item[counter()]) + 2 })),
    'a counter is negative': () => raw.alter(tally(appointment().doctor.id), () => ({ [counter()]: -1 })),
    'a counter is the text of its number': () =>
      raw.alter(tally(null), (item) => ({ [counter()]: String(item[counter()]) })),
    'a counter has an unknown facet': () => raw.alter(tally(null), () => ({ '1z': 3 })),
    'a month has no tally': () => raw.remove(tally(null)),
    'a month has a tally but no rows': () => raw.put({ pk: tally(null).pk, sk: '1999-01', '1s': 2, v: 1 }),
  },
  busy_missing: {
    'a doctor’s day lacks an appointment': () =>
      raw.alter(day(busy()), () => ({ [shortId(busy().id)]: undefined })),
  },
  busy_differs: {
    'a doctor’s day has the wrong time': () =>
      raw.alter(day(busy()), () => ({ [shortId(busy().id)]: '01:00-02:00' })),
  },
  busy_extra: {
    'a doctor’s day has a cancelled appointment': () =>
      raw.put({ ...day(free()), [shortId(free().id)]: '09:00-09:30', v: 9 }),
    'a room’s day has a cancelled appointment': () =>
      raw.put({ ...roomDay(free()), [shortId(free().id)]: '09:00-09:30', v: 9 }),
  },
  busy_unversioned: {
    'a doctor’s day has no version': () => raw.alter(day(busy()), () => ({ v: undefined })),
    'the holds of a doctor’s day are a text': () => raw.alter(day(busy()), () => ({ holds: 'x' })),
  },
  'busy_missing busy_unversioned': {
    'a doctor’s day has a version that is not a number, and lacks an appointment': () =>
      raw.alter(day(busy()), () => ({ v: 'x', [shortId(busy().id)]: undefined })),
  },
  number_missing: {
    'an invoice is not found by its number': () =>
      raw.remove(invoiceNumberKey(made.clinic, invoice().number, invoice().id)),
  },
  number_stray: {
    'a number is taken by an invoice that does not exist': () =>
      raw.put({ ...takenNumberKey(made.clinic, '1'), i: newUuid() }),
    'a number is taken, and it is lost by which invoice': () => raw.put(takenNumberKey(made.clinic, '1')),
    'a number is taken by an invoice with another one': () =>
      raw.put({ ...takenNumberKey(made.clinic, '1'), i: invoice().id }),
  },
  counter_unreadable: {
    'the next number of a year is no number': () =>
      raw.put({ ...invoiceCounterKey(made.clinic, '2026'), n: 'x', v: 1 }),
  },
  invoice_unsettled: {
    'an invoice has the wrong paid amount': () => alterAll(placesOf(INVOICES, invoice()), { paid: 123_456 }),
  },
  stale_copy: {
    'an appointment shows an old name': () =>
      alterAll(placesOf(APPOINTMENTS, appointment()), { pn: 'Old Name' }),
    'an appointment shows a doctor’s old name': () =>
      alterAll(placesOf(APPOINTMENTS, appointment()), { dn: 'Old Name' }),
    'an invoice shows an old address': () =>
      alterAll(placesOf(INVOICES, invoice()), { pe: 'old@example.com' }),
    'a payment shows an old number of its invoice': () =>
      alterAll(placesOf(PAYMENTS, payment()), { no: 'old' }),
  },
  refresh_interrupted: {
    'a doctor’s new name was not copied': renameDoctor,
    'a patient’s new name was not copied': () => change(1, { lastName: 'New' }),
  },
  patient_row_missing: { 'the last patient’s row is missing': () => raw.remove(row(3)) },
  patient_row_differs: {
    'a patient’s row differs from its record': () => raw.alter(row(1), () => ({ l: 'Other' })),
    'a patient’s row has an unknown patient': () => raw.alter(row(1), () => ({ i: newUuid() })),
    'a patient’s row has the patient of another ordinal': () => raw.alter(row(1), () => ({ i: idOf(3) })),
  },
  'change_extra change_missing': {
    'a patient is in the index of changes at another time': async () => {
      await raw.remove(await patientIndexItem(2))
      await raw.put(changeIndexKey(made.clinic, 'P', { id: idOf(2), updatedAt: AT }))
    },
  },
  patient_row_stray: {
    'a row is past the last patient': () => raw.put({ ...row(40), i: newUuid() }),
    'a row has a malformed ordinal': () => raw.put({ pk: row(0).pk, sk: 'x', i: idOf(1) }),
  },
  patient_head_wrong: {
    'the head counts one patient too few': () => add('n', -1),
    'the head counts one update too few': () => add('u', -1),
    'there is no head': () => raw.remove(head()),
    'the head has no list of segments': () => raw.alter(head(), () => ({ sv: 'x' })),
  },
  search_index_wrong: {
    'the head counts too many updates': () => add('u', 5),
    'the change log lacks an entry': () => raw.remove(entry(2)),
    'the change log has the wrong line': () => raw.alter(entry(3), () => ({ line: 'stranger\t\t' })),
    'the change log has an ordinal that is not a number': () => raw.alter(entry(2), () => ({ o: 'x' })),
    'the head lacks the versions of segments': () => raw.alter(head(), () => ({ sv: [] })),
    'the head claims more indexed patients than exist': () => add('sn', 9),
    'a segment is missing': () => raw.remove(segment()),
    'a segment is of an older version': () => raw.alter(segment(), () => ({ version: 0 })),
    'a segment claims more updates than exist': () => raw.alter(segment(), () => ({ state: 999 })),
    'a segment is truncated': () => bytes((data) => data.slice(0, 20)),
    'a segment is not compressed text': () => bytes((data) => data.map((byte) => byte ^ 255)),
    'an update is in neither log nor segment': forgottenUpdate,
  },
  refresh_unscheduled: { 'stale copies are not due for the sweep': unscheduledRefresh },
  refresh_stray: {
    'copies that are not stale are due for the sweep': () => raw.put(dueRefresh(Date.now() - 3_600_000)),
  },
  patient_activity_wrong: {
    'inactive patients are not in the index': () => raw.remove(inactive()),
    'an active patient is in the index': () =>
      raw.alter(inactive(), ({ b }) => ({ b: withMember(b as Uint8Array, 1, true) })),
    'the index of inactive patients is unreadable': () => raw.alter(inactive(), () => ({ b: 'x' })),
    'a part of the index of inactive patients has no patients': () =>
      raw.put({ ...inactive(7), b: withMember(emptyPart(), 0, true), v: 1 }),
    'an item of the index of inactive patients is no part': () =>
      raw.put({ ...inactive(), sk: 'x', b: emptyPart(), v: 1 }),
  },
  national_id_missing: {
    'a patient is not found by national id': () => raw.remove(nationalIdItem(1)),
    'a national id finds a patient at another position': () => raw.alter(nationalIdItem(1), () => ({ o: 2 })),
  },
  national_id_stray: {
    'a national id finds a patient who has none': () =>
      raw.put({ ...nationalIdItem(1), ...underHash(idOf(0)) }),
    'a national id finds an unknown patient': () =>
      raw.put({ ...nationalIdItem(1), ...underHash(newUuid()) }),
  },
  external_id_missing: { 'a patient is not found by external id': () => raw.remove(link()) },
  credential_outdated: {
    'a credential has an earlier time zone': () => outdated({ cv: 0 }),
    'a credential from before versions has an earlier time zone': () => outdated({}),
    'the version of a credential’s settings is a text': () => credential({ cv: 'x' }),
  },
  credential_state_wrong: {
    'a revoked credential is listed as active': () => credential({ revokedAt: AT }),
    'an active credential is listed as revoked': () => credential({ revokedAt: null }, ACTIVE_VERSION + 1),
    'the list does not say whether a credential is revoked': () => credential({ revokedAt: null }, null),
  },
  clinic_unlisted: { 'the directory lacks the clinic': () => raw.remove(clinicDirectoryKey(made.clinic)) },
  settings_incomplete: {
    'the clinic’s secret for recipients is missing': () =>
      raw.alter(clinicKey(made.clinic), () => ({ recipientSecret: undefined })),
    'the settings lack the id of the clinic': () =>
      raw.alter(clinicKey(made.clinic), () => ({ id: undefined })),
    'the settings have no version': () => raw.alter(clinicKey(made.clinic), () => ({ v: undefined })),
  },
  count_wrong: {
    'a room that nothing refers to is lost': () => raw.remove(catalogue().room),
    'a price list that nothing refers to is lost': () => raw.remove(catalogue().priceList),
    'a webhook is lost': () => raw.remove(webhook),
    'the version of the count of webhooks is a text': () =>
      raw.alter(webhookCountKey(made.clinic), () => ({ v: 'x' })),
    'the number of changes of rooms is a text': () =>
      raw.alter(catalogueVersionKey(made.clinic, roomsPartition(made.clinic)), () => ({ n: 'x' })),
    'the count of webhooks is lost': () => raw.remove(webhookCountKey(made.clinic)),
  },
  credential_unlisted: {
    'the list lacks a credential that was noted': async () => {
      await credential({})
      await raw.remove(clinicCredentialKey(made.clinic, 'ck_1'))
      await raw.put(unlistedCredentialKey(made.clinic, 'ck_1'))
    },
  },
  event_head_wrong: {
    'the next event would get a position that is taken': () =>
      raw.alter(eventHeadKey(made.clinic), () => ({ n: 1 })),
    'the version of the next event is a text': () => raw.alter(eventHeadKey(made.clinic), () => ({ v: 'x' })),
    'the position of the next event is lost': () => raw.remove(eventHeadKey(made.clinic)),
  },
  event_count_wrong: {
    'a patient has lost the number of its events': () => raw.alter(record(1), () => ({ ev: undefined })),
    'an invoice has an earlier number of its events': () =>
      raw.alter(recordKey('I', itemized()), ({ ev }) => ({ ev: Number(ev) - 1 })),
    'a message has lost the number of its events': () =>
      raw.alter(recordKey('M', mine.message), () => ({ ev: undefined })),
  },
  record_unreadable: {
    'an event without a position has data that are a list': () =>
      raw.put({ ...announcedKey(made.clinic, idOf(0), 9), i: 'x', e: 'patient.updated', c: 1, d: [] }),
  },
  delivery_unscheduled: { 'the sweep does not know a delivery': () => raw.remove(dueDelivery()) },
  health_missing: {
    'the health of a webhook is a text': () =>
      raw.alter(webhookHealthKey(made.clinic, webhook.sk), () => ({ isSlow: 'x' })),
    'the health of a webhook is lost': () => raw.remove(webhookHealthKey(made.clinic, webhook.sk)),
  },
}

const REPORTED: Damages = {
  record_missing: {
    'the record of an appointment is missing': () => lose(APPOINTMENTS, made.appointments),
    'the record of a payment is missing, and its rows differ': async () => {
      await raw.remove(recordKey('Y', payment()))
      await raw.alter(rowsOf(PAYMENTS, payment())[1], () => ({ a: 1 }))
    },
  },
  patient_ordinal_wrong: {
    'a patient has the ordinal of another patient': () => raw.alter(record(0), () => ({ o: 6 })),
    'a patient has an ordinal past the last': () => raw.alter(record(0), () => ({ o: 77 })),
    'a patient has no ordinal': () => raw.alter(record(1), () => ({ o: undefined })),
    'two patients have the same ordinal': async () =>
      raw.put({ ...(await raw.read(record(1))), sk: newUuid(), ni: undefined }),
  },
  patient_row_without_record: {
    'the record of a patient is missing': () => raw.remove(record(1)),
    'the record of the last patient is missing': () => raw.remove(record(3)),
    'the record of the last patient is missing, and the row is unreadable': async () => {
      await raw.remove(record(3))
      await raw.alter(row(3), () => ({ c: undefined }))
    },
  },
  patient_ordinal_missing: {
    'an ordinal has neither row nor record': async () =>
      Promise.all([
        raw.remove(await patientIndexItem(0)),
        raw.remove(row(0)),
        raw.remove(record(0)),
        raw.remove(link()),
      ]),
  },
  amounts_wrong: {
    'an invoice and its rows have a total that its line items contradict': () =>
      alterAll(placesOf(INVOICES, itemized()), { tot: 1 }),
  },
  record_contradicted: {
    'a payment has another amount than all its rows': () =>
      raw.alter(recordKey('Y', completed()), () => ({ a: 99 })),
    'a payment has another invoice than all its rows': () =>
      raw.alter(recordKey('Y', completed()), () => ({ i: invoice().id })),
    'a payment has another patient than all its rows': () =>
      raw.alter(recordKey('Y', completed()), () => ({ p: idOf(1) })),
    'an appointment has another patient than all its rows': () =>
      raw.alter(recordKey('A', appointment()), () => ({ p: idOf(1) })),
    'an appointment has another status than all its rows': () =>
      raw.alter(recordKey('A', busy()), () => ({ s: 'x' })),
    'an appointment has lost its room': () =>
      raw.alter(recordKey('A', appointment()), () => ({ rm: undefined })),
    'an invoice has another number than all its rows': () =>
      raw.alter(recordKey('I', itemized()), () => ({ no: 'other' })),
    'an invoice has lost its line items': () =>
      raw.alter(recordKey('I', itemized()), () => ({ li: undefined })),
    'a message has another channel than all its rows': () =>
      raw.alter(recordKey('M', message()), ({ ch }) => ({ ch: ch === 'sms' ? 'email' : 'sms' })),
    'a message has lost its text, which is not in its rows': async () =>
      raw.alter(recordKey('M', await full(MESSAGES, [mine.message], false)), () => ({ tx: 'short' })),
  },
  record_unreadable: {
    'an appointment cannot be read': () => raw.alter(recordKey('A', appointment()), () => ({ s: '?' })),
    'a patient cannot be read': () => raw.alter(record(1), () => ({ c: undefined })),
    'a webhook cannot be read': () => raw.alter(webhook, () => ({ events: undefined })),
    'a patient has a malformed id': async () =>
      raw.put({ ...(await raw.read(record(1))), sk: `${idOf(1)}~` }),
    'a doctor has no hours': () => raw.alter(catalogue().doctor, () => ({ hours: undefined })),
    'the settings of the clinic have no currency': () =>
      raw.alter(clinicKey(made.clinic), () => ({ currency: undefined })),
    'the clinic is in an unknown time zone': () =>
      raw.alter(clinicKey(made.clinic), () => ({ timezone: 'Mars/Base' })),
    'a credential has a hash that is text': () => credential({ hash: 'x' }),
    'a payment has a fraction of a cent': () =>
      raw.alter(recordKey('Y', payment()), ({ a }) => ({ a: Number(a) + 0.5 })),
    'a doctor has a specialty that is a number': () =>
      raw.alter(catalogue().doctor, () => ({ specialty: 7 })),
    'a doctor has hours that are a list': () => raw.alter(catalogue().doctor, () => ({ hours: [] })),
    'the exceptions of a doctor are a boolean': () =>
      raw.alter(catalogue().doctor, () => ({ exceptions: true })),
    'the reason of a day off is a number': () =>
      raw.alter(catalogue().doctor, () => ({
        timeOff: [{ from: '2099-01-01', to: '2099-01-01', reason: 7 }],
      })),
    'the holidays are a text': () => raw.put({ ...holidaysKey(made.clinic), days: 'x', v: 1 }),
    'the imports of holidays are a list': () =>
      raw.put({ ...holidaysKey(made.clinic), days: [], imports: [{ from: AT, to: AT }], v: 1 }),
    'the origin of a holiday is a number': () =>
      raw.put({
        ...holidaysKey(made.clinic),
        ...{ days: [], imports: { [newUuid()]: { from: AT, to: AT, externalId: 7 } }, v: 1 },
      }),
    'the restores of the clinic are a text': () =>
      raw.alter(clinicKey(made.clinic), () => ({ restores: 'x' })),
    'the restore of the clinic in progress is a text': () =>
      raw.alter(clinicKey(made.clinic), () => ({ restoring: 'x' })),
    'the end of a former secret is a number': () =>
      credential({ previous: { salt: new Uint8Array(1), hash: new Uint8Array(1), until: 7 } }),
    'the address of the clinic is a number': () => raw.alter(clinicKey(made.clinic), () => ({ address: 7 })),
    'a credential has a limit that is a text': () => credential({ requestsPerMinute: 'x' }),
    'a credential has a scope that is a number': () => credential({ scopes: [7] }),
    'the former secret of a credential is a text': () => credential({ previous: 'x' }),
    'the digest of a room’s import is a number': () => raw.alter(catalogue().room, () => ({ im: 7 })),
    'the number of a treatment’s events is a text': () =>
      raw.alter(catalogue().treatment, () => ({ ev: 'x' })),
    'whether a patient is active is a text': () => raw.alter(record(0), () => ({ n: 'x' })),
    'the doctor of an invoice is a list': () => raw.alter(recordKey('I', invoice()), () => ({ d: [] })),
    'when a message is due is a text': () => raw.alter(recordKey('M', message()), () => ({ di: { u: 'x' } })),
    'a treatment has no price': () => raw.alter(catalogue().treatment, () => ({ pr: undefined })),
  },
  dangling_reference: { 'a payment’s invoice does not exist': loneInvoice },
  'catalogue_wrong catalogue_wrong': {
    'the department of a room and a doctor is missing': () => raw.remove(catalogue().department),
    'two treatments have one code': async () =>
      raw.put({ ...(await raw.read(catalogue().treatment)), sk: newUuid() }),
  },
  catalogue_wrong: {
    'a treatment with a price is missing': () => raw.remove(catalogue().treatment),
    'a doctor of a treatment is missing': () =>
      raw.alter(catalogue().treatment, () => ({ dr: [mine.doctor.id, newUuid()] })),
  },
  event_missing: { 'an event is lost': () => raw.remove(eventKey(made.clinic, 2)) },
  credential_missing: {
    'a credential does not exist': () =>
      raw.put({ ...clinicCredentialKey(made.clinic, 'ck_none'), v: ACTIVE_VERSION }),
  },
  credential_foreign: { 'a credential is another clinic’s': () => credential({ clinic: { id: newUuid() } }) },
  external_id_stray: {
    'an external id finds an unknown record': () => raw.put({ ...otherLink(), r: newUuid() }),
    'an external id finds a patient who does not have it': () => raw.put({ ...otherLink(), r: idOf(1) }),
    'a patient and its row have lost the external id': () => alterAll([record(0), row(0)], { xi: undefined }),
  },
  external_id_wrong: {
    'the id of a payment does not follow from its external id': () =>
      raw.alter(recordKey('Y', payment()), () => ({ xi: 'Z' })),
    'two patients have one external id': async () => alterAll([record(1), row(1)], { xi: 'X' }),
  },
  secret_missing: {
    'the secret of external ids is missing': () => raw.remove(externalIdSecretKey(made.clinic)),
    'the secret of external ids is a text': () =>
      raw.alter(externalIdSecretKey(made.clinic), () => ({ secret: 'x' })),
  },
}

const run = (repair = false) => runVerification(db.table, made.clinic, repair)

describe('verifying a clinic', () => {
  it('reports no difference in what the stores wrote', async () => {
    const { found, checked } = await run()
    expect([found, checked]).toMatchObject([[], { departments: 1, rooms: 1, treatments: 1, price_lists: 1 }])
  })

  it.each(eachOf(REPAIRED))('reports and repairs $kinds: $name', async ({ kinds: expected, plant }) => {
    await plant()
    expect((await run()).kinds).toEqual(expected)
    expect(await run(true)).toMatchObject({ kinds: expected, repaired: expected.length })
    expect((await run()).found).toEqual([])
  })

  it.each(eachOf(REPORTED))('reports $kinds, and changes nothing: $name', async ({ kinds, plant }) => {
    await plant()
    const before = await raw.scanAll()
    expect(await run(true)).toMatchObject({ kinds, repaired: 0 })
    expect(await raw.scanAll()).toEqual(before)
  })

  it('repairs in one run whatever it can repair of several damages', async () => {
    const all = fc.constantFrom(...[REPAIRED, REPORTED].flatMap(eachOf))
    const kindsOf = (damages: ReturnType<typeof eachOf>) => damages.flatMap(({ kinds }) => kinds).join()
    const several = fc
      .uniqueArray(all, { minLength: 2, maxLength: 4 })
      // A refresh, as the sweep makes it too, rewrites the rows that say what a record has lost.
      .filter((damages) => !/refresh_.*contradicted|contradicted.*refresh_/.test(kindsOf(damages)))
    const check = async (damages: ReturnType<typeof eachOf>) => {
      await raw.restore(sound)
      // Some need what others have removed.
      for (const { plant } of damages) await plant().catch(() => {})
      const { found } = await run(true)
      const left = found.filter(({ repaired }) => !repaired).map(({ kind }) => kind)
      expect(await run(true)).toMatchObject({ kinds: left.toSorted(), repaired: 0 })
    }
    await fc.assert(fc.asyncProperty(several, check), { seed: 1, ...property(3, 500) })
  })

  it('keeps the rows of all patients if all their records are missing', async () => {
    for (const item of sound.filter(({ pk }) => pk === record(0).pk)) await raw.remove(item)
    const { found } = await run(true)
    expect(found.filter(({ kind }) => kind === 'patient_row_without_record')).toHaveLength(7)
    expect(found.filter(({ repaired }) => repaired)).toEqual([])
    expect((await raw.scanAll()).filter(({ pk }) => pk === row(0).pk)).toHaveLength(7)
    expect(await raw.read(head())).toMatchObject({ n: 7 })
  })

  it.each([
    ['is missing', () => raw.remove(head())],
    ['counts one patient too few', () => add('n', -1)],
  ])('keeps the row of the last patient, whose record is missing, if the head %s', async (_, plant) => {
    await raw.remove(record(3))
    await plant()
    expect(await run(true)).toMatchObject({
      kinds: ['patient_head_wrong', 'patient_row_without_record'],
      repaired: 1,
    })
    expect(await raw.read(head())).toMatchObject({ n: 7 })
    expect((await run()).kinds).toEqual(['patient_row_without_record'])
  })

  it('keeps a row that is all that is left of a record, and counts it', async () => {
    await strayRow(newUuid())
    const { found } = await run(true)
    expect(found).toMatchObject([
      { kind: 'tally_wrong', repaired: true },
      { kind: 'record_missing', repaired: false },
    ])
    expect((await run()).kinds).toEqual(['record_missing'])
  })

  it.each([
    ['is missing', () => raw.remove(nationalIdSecretKey(made.clinic))],
    ['has no value', () => raw.alter(nationalIdSecretKey(made.clinic), () => ({ secret: undefined }))],
    ['is a boolean', () => raw.alter(nationalIdSecretKey(made.clinic), () => ({ secret: true }))],
  ])('hashes national ids with a new secret if the secret %s', async (_, plant) => {
    await plant()
    const { kinds, repaired } = await run(true)
    expect([new Set(kinds), repaired]).toEqual([
      new Set(['national_id_missing', 'national_id_stray', 'secret_missing']),
      kinds.length,
    ])
    expect((await run()).found).toEqual([])
  })

  it('copies the holidays of the clinic to a doctor who lacks them', async () => {
    const days = [{ from: '2099-01-01', to: '2099-01-01', reason: null }]
    await raw.put({ ...holidaysKey(made.clinic), days, v: 1 })
    expect(await run(true)).toMatchObject({ kinds: ['holidays_outdated', 'holidays_outdated'], repaired: 2 })
    expect(await raw.read(catalogue().doctor)).toMatchObject({ holidays: days })
    expect((await run()).found).toEqual([])
  })

  it('continues the numbers of a year behind those of its invoices, imported ones included', async () => {
    await raw.alter(recordKey('I', invoice()), () => ({ no: '2026-000041' }))
    await raw.put({ ...invoiceCounterKey(made.clinic, '2026'), n: 'x', v: 1 })
    await run(true)
    expect(await raw.read(invoiceCounterKey(made.clinic, '2026'))).toMatchObject({ n: 42 })
  })

  it('deletes an extra row of a payment whose invoice does not exist', async () => {
    const unsettled = await loneInvoice()
    const [key] = rowsOf(PAYMENTS, unsettled)
    await raw.put({ ...(await raw.read(key)), sk: `c#2020-01-01#09:00#${shortId(unsettled.id)}` })
    expect(await run(true)).toMatchObject({ kinds: ['dangling_reference', 'row_extra'], repaired: 1 })
    expect((await run()).kinds).toEqual(['dangling_reference'])
  })

  it('reports no difference for an invoice from before amounts were stored with their decimals', async () => {
    await alterAll(placesOf(INVOICES, invoice()), { dec: undefined })
    expect((await run()).found).toEqual([])
  })

  it('updates lists, tallies and days to a record that one of its rows confirms', async () => {
    const [, , confirming] = rowsOf(APPOINTMENTS, busy())
    await alterAll([recordKey('A', busy()), confirming], { s: 'x' })
    const { differences, repaired } = await run(true)
    expect(repaired).toBe(differences)
    expect((await run()).found).toEqual([])
    const [own] = rowsOf(APPOINTMENTS, { ...busy(), status: 'cancelled' as const })
    expect(await db.table.get(own)).toBeDefined()
    expect((await db.table.get(day(busy())))?.[shortId(busy().id)]).toBeUndefined()
  })

  it('makes functions reload the segments in their memory', async () => {
    await forgottenUpdate()
    const warm = patientSearch(db)
    const totalOf = async (query: string) =>
      (await warm.search(made.clinic, query, { page: 1, limit: 1 })).total
    expect(await totalOf('905557777777')).toBe(0)
    await run(true)
    expect(await totalOf('905557777777')).toBe(1)
  })
})
