/** A clinic whose records were changed by mistake is put back to an earlier time, next to other clinics and what integrators did since. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Appointment } from '../../../../../shared/domain/booking/appointment.ts'
import type { Patient } from '../../../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../../../shared/domain/uuid.ts'
import { planRestore } from '../../../../../shared/maintenance/restore/clinic/plan.ts'
import {
  OtherRestore,
  restoreClinic,
} from '../../../../../shared/maintenance/restore/clinic/restore-clinic.ts'
import { WalkTaken } from '../../../../../shared/maintenance/walk/walk.ts'
import { appointmentStore } from '../../../../../shared/store/calendar/appointments.ts'
import type { RecordStore } from '../../../../../shared/store/calendar/calendar-list.ts'
import { invoiceCorrection } from '../../../../../shared/store/calendar/invoice-correction.ts'
import { invoiceStore } from '../../../../../shared/store/calendar/invoices.ts'
import { roomStore, treatmentStore } from '../../../../../shared/store/catalogue.ts'
import { setPaused } from '../../../../../shared/store/clinic-pause.ts'
import { clinicStore } from '../../../../../shared/store/clinics.ts'
import { patientChanges } from '../../../../../shared/store/copies/patient-changes.ts'
import { credentialStore } from '../../../../../shared/store/credentials.ts'
import { doctorStore } from '../../../../../shared/store/doctors.ts'
import { readImportIds } from '../../../../../shared/store/external-ids/derive.ts'
import { externalIds } from '../../../../../shared/store/external-ids/links.ts'
import { holidayStore } from '../../../../../shared/store/holidays.ts'
import { holdListKey } from '../../../../../shared/store/keys/calendar.ts'
import { messageStore } from '../../../../../shared/store/messages/messages.ts'
import { patientWriter } from '../../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../../shared/store/patients/patients.ts'
import { Changeset } from '../../../../../shared/store/table/changeset.ts'
import { idempotencyGuard } from '../../../../../shared/store/table/idempotency.ts'
import type { Table } from '../../../../../shared/store/table/table.ts'
import { announcedEvents } from '../../../../support/all-items.ts'
import { aRoom, aTreatment } from '../../../../support/catalogue.ts'
import { Crashed, crashableTable, TABLE_CALLS } from '../../../../support/crashable-table.ts'
import { issueCredential } from '../../../../support/credentials.ts'
import { changeRecord } from '../../../../support/records.ts'
import { restored as copyOf } from '../../../../support/restored.ts'
import { rounds } from '../../../../support/scale.ts'
import { aPatient, freshTable, newClinic, type TestTable } from '../../../../support/table.ts'
import { tableText } from '../../../../support/table-text.ts'
import {
  aDoctor,
  addPayment,
  aMessage,
  anAppointment,
  anInvoice,
  aPayment,
  createAll,
  createPractice,
  type Practice,
  runVerification,
} from '../../verify/practice.ts'
import { contentOf } from './content.ts'

const SIZE = {
  patients: 6,
  doctors: 2,
  appointments: 8,
  invoices: 4,
  payments: 4,
  messages: 2,
  indexed: true,
}

/** By how many calls each run that crashes comes further than the one before. */
const CALLS_MORE = rounds(12, 1)

let db: TestTable
let copy: TestTable
let made: Practice
let to: string

beforeEach(async () => {
  db = await freshTable()
  made = await createPractice(db.table, SIZE)
})

/** From now on, what is written is written since. */
async function takeCopy(): Promise<void> {
  copy = await copyOf(db)
  to = new Date().toISOString()
}

type Options = Partial<Parameters<typeof restoreClinic>[2]>

const restoreOptions = () => ({
  to,
  from: copy.name,
  removeCreated: false,
  appointments: new Set<string>(),
  removable: { has: () => true } as never,
  sleep: async () => {},
})

const restore = (options: Options = {}, table: Table = db.table) =>
  restoreClinic({ table, copy: copy.table }, made.clinic, { ...restoreOptions(), ...options })

const idOf = (at: number) => (made.patients[at] as Patient).id
const first = <T>(list: readonly T[]): T => list[0] as T

const change = <R extends object>(store: RecordStore<R>, id: string, facts: Partial<R>) =>
  changeRecord(db.table, made.clinic, store, id, facts)

/** Changes records of every kind, as a bad import does. */
async function damage(): Promise<void> {
  const { table } = db
  const { clinic, doctors, patients, appointments, invoices } = made
  for (const [at, { id }] of patients.entries())
    await patientChanges(table).update(clinic, id, {
      firstName: `Wrong${at}`,
      emailAddress: 'wrong@example.com',
      isActive: at % 2 === 0,
      nationalId: `X-${at}`,
    })
  const [doctor] = await doctorStore({ table }).list(clinic)
  if (doctor) {
    const { version: _, ...after } = doctor
    await doctorStore({ table }).save(clinic, [
      { before: doctor, after: { ...after, fullName: 'Dr. Wrong' } },
    ])
  }
  await holidayStore({ table }).set(clinic, () => [
    { from: '2027-01-01', to: '2027-01-02', reason: null } as never,
  ])
  await holidayStore({ table }).refreshCopies(clinic)
  for (const { id, patient } of appointments) {
    const other = patients.find((one) => one.id !== patient.id) as Patient
    await change(appointmentStore({ table }), id, {
      date: '2026-06-01',
      status: 'scheduled',
      notes: 'wrong',
      patient: { id: other.id, fullName: 'Wrong' },
      doctor: { id: first(doctors).id, fullName: 'Wrong' },
    })
  }
  for (const { id } of invoices)
    await change(invoiceStore({ table }), id, { number: 'W', issueDate: '2020-01-01' })
}

const imported = { imported: 'digest' }

/** Creates records of every kind, as a bad import does. */
async function addRecords() {
  const { table } = db
  const { clinic } = made
  const doctor = aDoctor('Dr. Added')
  const room = aRoom()
  const added = aPatient({ isActive: false, nationalId: 'N-1' })
  await doctorStore({ table }).save(clinic, [{ before: null, after: { ...doctor, ...imported } }])
  await roomStore({ table }).save(clinic, [{ before: null, after: { ...room, ...imported } }])
  await treatmentStore({ table }).save(clinic, [{ before: null, after: { ...aTreatment(), ...imported } }])
  await patientWriter({ table }).createMany(clinic, [{ ...added, ...imported }])
  const named = { id: added.id, fullName: `${added.firstName} ${added.lastName}` }
  const externalId = newUuid()
  const id = (await readImportIds(table, clinic))('appointment', externalId)
  const placed = { patient: named, doctor: { id: doctor.id, fullName: doctor.fullName }, room }
  const appointment = { ...anAppointment(made), ...placed, id, externalId }
  const changes = new Changeset(table, clinic)
  appointmentStore({ table }).change(changes, null, appointment, { ...imported, externalId })
  await changes.commit()
  const invoice = { ...anInvoice(made), patient: { ...named, email: added.emailAddress } }
  await createAll(table, clinic, invoiceStore({ table }), [invoice])
  await addPayment(table, clinic, {
    ...aPayment(made),
    invoice: { id: invoice.id, number: invoice.number },
    patient: named,
  })
  // A payment of an invoice that was there.
  await addPayment(table, clinic, aPayment(made))
}

/** A table that waits for `beforeCall` before each call. */
function watchedTable(table: Table, beforeCall: () => Promise<unknown>): Table {
  const watched = Object.entries(table).map(([name, value]) => [
    name,
    typeof value !== 'function' || !WAITING.has(name)
      ? value
      : async (...args: unknown[]) => {
          await beforeCall()
          return (value as (...args: unknown[]) => Promise<unknown>)(...args)
        },
  ])
  return Object.fromEntries(watched)
}

const WAITING = new Set<string>(TABLE_CALLS)

const patientsOf = (table: TestTable) =>
  patientStore(table).findMany(
    made.clinic,
    made.patients.map(({ id }) => id),
  )

it('ends the holds of the clinic', async () => {
  const list = holdListKey(made.clinic, 'key')
  await db.table.putMany([{ ...list, v: 1 }])
  await takeCopy()
  await restore()
  expect(await db.table.get(list)).toBeUndefined()
})

it('puts back the external id of a holiday that an integrator has set since', async () => {
  const holidays = holidayStore({ table: db.table })
  const day = { from: '2027-01-01', to: '2027-01-01', reason: null }
  await holidays.set(made.clinic, () => [day])
  await takeCopy()
  const before = await holidays.read(made.clinic)
  const imports = { [newUuid()]: { externalId: 'x', from: day.from, to: day.to } }
  await holidays.save(made.clinic, before, { holidays: [day], imports })
  await restore()
  const { version: _, ...restored } = await holidays.read(made.clinic)
  expect(restored).toEqual({ holidays: [day], imports: {} })
})

it('leaves messages declined that a patient has declined since', async () => {
  await takeCopy()
  await patientChanges(db.table).update(made.clinic, idOf(0), { firstName: 'Wrong', acceptsSms: false })
  await restore()
  const patient = await patientStore(db).find(made.clinic, idOf(0))
  expect(patient).toMatchObject({
    firstName: first(made.patients).firstName,
    acceptsSms: false,
    acceptsEmail: true,
  })
})

describe('a record that was changed since', () => {
  it('is put back with a new time, its next event, and its copies', async () => {
    const [{ id, firstName }] = made.patients as [Patient]
    await takeCopy()
    await patientChanges(db.table).update(made.clinic, id, { firstName: 'Wrong' })
    const wrong = (await patientsOf(db)).get(id)
    await restore()
    const right = (await patientsOf(db)).get(id)
    expect(right).toMatchObject({ firstName, ordinal: 0, events: (wrong?.events ?? 0) + 1 })
    expect(Date.parse(right?.updatedAt ?? '')).toBeGreaterThan(Date.parse(wrong?.updatedAt ?? ''))
    const names = (await announcedEvents(db, id)).map(([event]) => event)
    expect(names).toEqual(['patient.created', 'patient.updated', 'patient.updated'])
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
  })

  it('gets its external id back from another record that is put back too', async () => {
    const [a, b] = [idOf(0), idOf(1)]
    const link = (id: string, externalId: string | null) =>
      patientChanges(db.table).update(made.clinic, id, { externalId })
    await link(a, 'A')
    await link(b, 'B')
    await takeCopy()
    await link(a, null)
    await link(b, 'A')
    await link(a, 'B')
    await restore()
    const find = (externalId: string) => externalIds(db).find(made.clinic, 'patient', externalId)
    expect([await find('A'), await find('B')]).toEqual([a, b])
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
  })

  it('stays as it is if a record that stays has its external id, its time or its number', async () => {
    const { table } = db
    const [before] = made.appointments.filter(({ status }) => status === 'scheduled')
    if (!before) throw new Error('no appointment is scheduled')
    await patientChanges(table).update(made.clinic, idOf(0), { externalId: 'A' })
    await takeCopy()
    await patientChanges(table).update(made.clinic, idOf(0), { externalId: null })
    const other = aPatient()
    await patientWriter({ table }).createMany(made.clinic, [other])
    await patientChanges(table).update(made.clinic, other.id, { externalId: 'A' })
    await change(appointmentStore({ table }), before.id, { date: '2027-02-01' })
    const booked = { ...before, id: newUuid(), startTime: before.startTime.replace(':00', ':15') }
    await createAll(table, made.clinic, appointmentStore({ table }), [booked])
    const { invoice } = first(made.payments)
    await invoiceCorrection(table).correct(made.clinic, invoice.id, { number: 'NEW' })
    const taker = { ...anInvoice(made), number: invoice.number }
    await createAll(table, made.clinic, invoiceStore({ table }), [taker])
    const { conflicts } = await restore()
    expect(conflicts).toEqual([
      { kind: 'patient', id: idOf(0), reason: 'external_id_taken', by: other.id },
      { kind: 'appointment', id: before.id, reason: 'time_taken', by: booked.id },
      { kind: 'invoice', id: invoice.id, reason: 'number_taken', by: taker.id },
      ...made.payments
        .filter((payment) => payment.invoice.id === invoice.id)
        .map(({ id }) => ({ kind: 'payment', id, reason: 'number_taken', by: invoice.id })),
    ])
    expect((await runVerification(table, made.clinic)).found).toEqual([])
    const placed = async () => (await appointmentStore({ table }).find(made.clinic, before.id))?.record.date
    expect(await placed()).toBe('2027-02-01')
    await restore({ removeCreated: true, appointments: new Set([booked.id]) })
    expect(await placed()).toBe(before.date)
    expect(await externalIds(db).find(made.clinic, 'patient', 'A')).toBe(idOf(0))
  })
})

describe('a record that was created since', () => {
  const created = async (facts: Partial<Patient> = {}) => {
    const patient = aPatient(facts)
    await patientWriter(db).createMany(made.clinic, [{ ...patient, ...imported }])
    return patient
  }
  const exists = async ({ id }: { id: string }) => (await patientStore(db).find(made.clinic, id)) !== null

  it('stays unless its removal is asked for', async () => {
    await takeCopy()
    const patient = await created()
    expect((await restore()).removed).toEqual([])
    expect((await restore({ removeCreated: true, removable: new Set() })).removed).toEqual([])
    expect(await exists(patient)).toBe(true)
  })

  it('is an appointment that is removed only by its id, if no import made it', async () => {
    const store = appointmentStore(db)
    await takeCopy()
    const booked = [anAppointment(made), anAppointment(made)]
    await createAll(db.table, made.clinic, store, booked)
    const [named, unnamed] = booked.map(({ id }) => id) as [string, string]
    await restore({ removeCreated: true, appointments: new Set([named]) })
    expect(await store.find(made.clinic, named)).toBeNull()
    expect(await store.find(made.clinic, unnamed)).not.toBeNull()
  })

  it('is a patient who stays with a message or an appointment that stays, and moves up', async () => {
    await takeCopy()
    const [removed, messaged, visiting, last] = [
      await created(),
      await created(),
      await created(),
      await created(),
    ]
    const named = ({ id, firstName, lastName }: Patient) => ({ id, fullName: `${firstName} ${lastName}` })
    await createAll(db.table, made.clinic, messageStore(db), [
      { ...aMessage(made), patient: named(messaged) },
    ])
    const appointment = { ...anAppointment(made), patient: named(visiting) }
    await createAll(db.table, made.clinic, appointmentStore(db), [appointment])
    const { staying } = await restore({ removeCreated: true })
    expect(staying).toEqual(
      expect.arrayContaining([
        { kind: 'patient', id: messaged.id, reason: 'has_messages' },
        { kind: 'appointment', id: appointment.id, reason: 'not_named' },
        { kind: 'patient', id: visiting.id, reason: 'in_use' },
      ]),
    )
    expect([await exists(removed), await exists(last)]).toEqual([false, false])
    const { items, total } = await patientStore(db).page(made.clinic, { page: 1, limit: 2 })
    expect([items.map(({ id }) => id), total]).toEqual([[visiting.id, messaged.id], SIZE.patients + 2])
    expect((await runVerification(db.table, made.clinic)).kinds).toEqual([])
  })

  it('leaves no stored response with its data', async () => {
    await takeCopy()
    const patient = await created()
    const guard = idempotencyGuard(
      { table: db.table, now: Date.now },
      { clinic: made.clinic, credential: 'ck_a_1', route: 'create-patient', key: 'once', body: 'x' },
    )
    const changes = new Changeset(db.table, made.clinic)
    guard.store(changes, 201, { data: { id: patient.id } }, patient.id)
    await changes.commit()
    await restore({ removeCreated: true })
    await expect(guard.find()).rejects.toThrow('the key was used with another body')
    expect((await announcedEvents(db, patient.id)).map(([event]) => event)).toEqual(['patient.created'])
  })
})

it("leaves patients who were erased since as their erasure left them, also where records were another patient's", async () => {
  const { table } = db
  const [invoice] = made.invoices.filter(({ patient }) => patient.id !== idOf(0))
  if (!invoice) throw new Error('no invoice')
  const erased = invoice.patient.id
  const { id, fullName } = invoice.patient
  const coming = { ...anAppointment(made), status: 'scheduled' as const, date: '2099-05-04' }
  const appointments = appointmentStore({ table })
  await createAll(table, made.clinic, appointments, [{ ...coming, patient: { id, fullName } }])
  await takeCopy()
  await change(appointments, coming.id, { patient: { id: idOf(0), fullName: 'Wrong' } })
  await change(invoiceStore({ table }), invoice.id, {
    patient: { id: idOf(0), fullName: 'Wrong', email: null },
  })
  await patientChanges(table).erase(made.clinic, erased)
  const anonymous = (await patientsOf(db)).get(erased)
  await restore()
  expect((await patientsOf(db)).get(erased)).toEqual(anonymous)
  const put = (await invoiceStore({ table }).find(made.clinic, invoice.id))?.record
  expect(put?.patient).toEqual({ id: erased, fullName: 'Erased Patient', email: null })
  expect(put?.number).not.toBe(invoice.number)
  const appointment = (await appointments.find(made.clinic, coming.id))?.record
  expect(appointment).toMatchObject({ status: 'cancelled', notes: null, patient: { id: erased } })
  expect((await runVerification(table, made.clinic)).found).toEqual([])
})

describe('a patient who was erased since', () => {
  const created = { imported: 'digest' }
  const named = ({ id, firstName, lastName }: Patient) => ({ id, fullName: `${firstName} ${lastName}` })

  /** An appointment that was, and that an import has since moved to a doctor or a room that it created. */
  async function movedAppointment(place: 'doctor' | 'room') {
    const { table } = db
    const appointments = appointmentStore({ table })
    const patient = made.patients[0] as Patient
    const past = { ...anAppointment(made), status: 'completed' as const, date: '2026-04-01' }
    const appointment = { ...past, patient: named(patient) }
    await createAll(table, made.clinic, appointments, [appointment])
    await takeCopy()
    const [doctor, room] = [aDoctor('Dr. Imported'), aRoom()]
    await doctorStore({ table }).save(made.clinic, [{ before: null, after: { ...doctor, ...created } }])
    await roomStore({ table }).save(made.clinic, [{ before: null, after: { ...room, ...created } }])
    await change<Appointment>(
      appointments,
      appointment.id,
      place === 'doctor'
        ? { doctor: { id: doctor.id, fullName: doctor.fullName } }
        : { room: { id: room.id, name: room.name } },
    )
    await patientChanges(table).erase(made.clinic, patient.id)
    const placesOf = async () => {
      const record = (await appointments.find(made.clinic, appointment.id))?.record
      return [record?.doctor.id, record?.room?.id, record?.patient.fullName]
    }
    return { doctor, room, former: [appointment.doctor.id, appointment.room?.id, 'Erased Patient'], placesOf }
  }

  it.each(['doctor', 'room'] as const)(
    'has appointments back in their places, so that the %s that an import created can be removed',
    async (place) => {
      const { doctor, room, former, placesOf } = await movedAppointment(place)
      const { removed } = await restore({ removeCreated: true })
      expect(removed.map(({ id }) => id).sort()).toEqual([doctor.id, room.id].sort())
      expect(await placesOf()).toEqual(former)
      expect((await runVerification(db.table, made.clinic)).found).toEqual([])
      expect((await restore({ removeCreated: true })).changed).toEqual([])
    },
  )

  it('has amounts and dates back, and no personal data', async () => {
    const { table } = db
    const [invoice] = made.invoices as [(typeof made.invoices)[0]]
    const { id: erased } = invoice.patient
    await patientChanges(table).update(made.clinic, erased, { isActive: true })
    const appointments = appointmentStore({ table })
    const coming = { ...anAppointment(made), status: 'scheduled' as const, date: '2099-05-04' }
    const [kept, moved] = [coming, { ...coming, id: newUuid(), date: '2099-05-05' }]
    for (const one of [kept, moved])
      await createAll(table, made.clinic, appointments, [{ ...one, patient: invoice.patient }])
    await takeCopy()
    await change(invoiceStore(db), invoice.id, { total: 1, subtotal: 1, issueDate: '2020-01-01' })
    await change(appointments, moved.id, { date: '2020-01-01' })
    await patientChanges(table).update(made.clinic, erased, { isActive: false })
    await patientChanges(table).erase(made.clinic, erased)
    const cancelledAt = (await appointments.find(made.clinic, kept.id))?.record.cancelledAt
    const { changed } = await restore()
    expect(changed.map(({ id }) => id).sort()).toEqual([erased, invoice.id, moved.id].sort())
    expect((await invoiceStore(db).find(made.clinic, invoice.id))?.record).toMatchObject({
      total: invoice.total,
      subtotal: invoice.subtotal,
      issueDate: invoice.issueDate,
      number: expect.not.stringMatching(`^${invoice.number}$`),
      patient: { id: erased, fullName: 'Erased Patient', email: null },
    })
    const statusOf = async (id: string) => (await appointments.find(made.clinic, id))?.record
    expect(await statusOf(kept.id)).toMatchObject({ status: 'cancelled', cancelledAt })
    expect(await statusOf(moved.id)).toMatchObject({ status: 'cancelled', date: moved.date, notes: null })
    const patient = (await patientsOf(db)).get(erased)
    expect(patient).toMatchObject({ firstName: 'Erased', isActive: true, erasedAt: expect.any(String) })
    expect((await runVerification(table, made.clinic)).found).toEqual([])
    expect((await restore()).changed).toEqual([])
  })

  it('stays erased if the erasure happens during any call of the restore', async () => {
    const { table } = db
    made = await createPractice(table, { ...SIZE, patients: rounds(6, 20) })
    for (const [at, { id }] of made.patients.entries())
      await patientChanges(table).update(made.clinic, id, { lastName: `Canary${at}x` })
    await takeCopy()
    /** Restores after changes of all patients and invoices. Returns the number of calls. */
    async function restoreDamage(beforeCall: (call: number) => Promise<unknown> = async () => {}) {
      for (const { id } of made.patients)
        await patientChanges(table).update(made.clinic, id, { firstName: 'Wrong', isActive: false })
      for (const { id } of made.invoices) await change(invoiceStore(db), id, { total: 1, subtotal: 1 })
      let calls = 0
      const watched = watchedTable(table, () => beforeCall(++calls))
      await restore({}, watched)
      return calls
    }
    let calls = await restoreDamage()
    const victims = [...made.patients.entries()].slice(0, rounds(3, 19))
    for (const [at, { id, isActive }] of victims) {
      // The restore makes fewer calls with each patient who is erased.
      const erasedAt = Math.ceil((0.9 * calls * (at + 1)) / victims.length)
      calls = await restoreDamage(async (call) => {
        if (call === erasedAt) await patientChanges(table).erase(made.clinic, id)
      })
      expect(calls).toBeGreaterThan(erasedAt)
      expect((await patientsOf(db)).get(id)).toMatchObject({ firstName: 'Erased', isActive })
      expect(await tableText(db)).not.toContain(`canary${at}x`)
      const { found } = await runVerification(table, made.clinic)
      expect(found).toEqual([])
    }
    for (const { id, total } of made.invoices)
      expect((await invoiceStore(db).find(made.clinic, id))?.record.total).toBe(total)
  })
})

it('creates records again that a restore has removed by mistake', async () => {
  await takeCopy()
  await addRecords()
  const [mistaken, before] = [{ copy, to }, await contentOf(db, made.clinic)]
  await takeCopy()
  await restoreClinic({ table: db.table, copy: mistaken.copy.table }, made.clinic, {
    ...restoreOptions(),
    to: mistaken.to,
    removeCreated: true,
  })
  expect(await contentOf(db, made.clinic)).not.toEqual(before)
  await restore()
  expect(await contentOf(db, made.clinic)).toEqual(before)
  expect((await runVerification(db.table, made.clinic)).found).toEqual([])
})

it('leaves out what refers to a patient who cannot be created again, because another has the external id', async () => {
  const { table } = db
  await takeCopy()
  const start = { copy, to }
  const removed = aPatient({ externalId: 'A' })
  const { id } = removed
  await patientWriter({ table }).createMany(made.clinic, [{ ...removed, externalId: null, ...imported }])
  await patientChanges(table).update(made.clinic, id, { externalId: 'A' })
  const patient = { id, fullName: `${removed.firstName} ${removed.lastName}`, email: null }
  const invoice = { ...anInvoice(made), patient }
  await createAll(table, made.clinic, invoiceStore({ table }), [invoice])
  await takeCopy()
  // A restore removes them by mistake, and the external id is given to another patient.
  const mistaken = { ...restoreOptions(), to: start.to, removeCreated: true }
  await restoreClinic({ table, copy: start.copy.table }, made.clinic, mistaken)
  const other = aPatient()
  await patientWriter({ table }).createMany(made.clinic, [other])
  await patientChanges(table).update(made.clinic, other.id, { externalId: 'A' })
  const { conflicts } = await restore()
  expect(conflicts).toEqual([
    { kind: 'patient', id, reason: 'external_id_taken', by: other.id },
    { kind: 'invoice', id: invoice.id, reason: 'reference_missing', by: id },
  ])
  expect((await runVerification(table, made.clinic)).found).toEqual([])
})

it('settles invoices by the payments that stay', async () => {
  await takeCopy()
  const [{ id, number, patient }] = made.invoices as [(typeof made.invoices)[0]]
  const payment = { ...aPayment(made), invoice: { id, number }, patient, status: 'completed' as const }
  await addPayment(db.table, made.clinic, payment)
  await change(invoiceStore(db), id, { dueDate: '2030-01-01' })
  expect((await restore()).changed).toMatchObject([{ kind: 'invoice', id }])
  expect((await invoiceStore(db).find(made.clinic, id))?.record.dueDate).toBeNull()
  expect((await runVerification(db.table, made.clinic)).found).toEqual([])
  expect((await restore()).changed).toEqual([])
})

it('is completed after a crash at any call', async () => {
  await takeCopy()
  const before = await contentOf(db, made.clinic)
  await damage()
  await addRecords()
  const attempt = (run: number, maxCalls: number) => {
    let calls = 0
    // The lease of the run before has expired.
    const table = { ...db.table, now: () => Date.now() + run * 31_000 }
    return restore(
      { removeCreated: true },
      crashableTable(table, () => ++calls > 2 * maxCalls),
    )
  }
  let crashes = 0
  for (let isDone = false; !isDone; )
    isDone = await attempt(crashes, crashes * CALLS_MORE).then(
      () => true,
      (error) => {
        if (!(error instanceof Crashed)) throw error
        crashes++
        return false
      },
    )
  expect(crashes).toBeGreaterThan(rounds(4, 40))
  expect(await contentOf(db, made.clinic)).toEqual(before)
  expect((await runVerification(db.table, made.clinic)).found).toEqual([])
})

describe('the clinic that is restored', () => {
  it('is not restored to another time, or by another process, until the restore is complete', async () => {
    await takeCopy()
    await patientChanges(db.table).update(made.clinic, idOf(0), { firstName: 'Wrong' })
    await expect(restore({ sleep: () => Promise.reject(new Crashed()) })).rejects.toThrow(Crashed)
    await expect(restore({ to: '2026-05-01T07:00:00.000Z' })).rejects.toThrow(OtherRestore)
    const both = await Promise.allSettled([restore(), restore({ onWait: () => {} })])
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: expect.any(WalkTaken) })
    expect((await patientsOf(db)).get(idOf(0))).toMatchObject({ firstName: first(made.patients).firstName })
  })

  const pausedAt = async (key: string) =>
    (await credentialStore({ table: db.table, now: Date.now }).find(key))?.clinic.pausedAt

  it('is paused until the end, alone, and its credentials then have the restore', async () => {
    const { key } = await issueCredential(db.table, { id: made.clinic } as never)
    const other = await newClinic(db.table)
    const { key: othersKey } = await issueCredential(db.table, other)
    await takeCopy()
    await patientChanges(db.table).update(made.clinic, idOf(0), { firstName: 'Wrong' })
    const during: unknown[] = []
    await restore({
      sleep: async () => void during.push((await pausedAt(key)) !== undefined, await pausedAt(othersKey)),
    })
    // Before the records are put back, and after it.
    expect(during).toEqual([true, undefined, true, undefined])
    const clinic = (await credentialStore({ table: db.table, now: Date.now }).find(key))?.clinic
    expect(clinic?.pausedAt).toBeUndefined()
    expect(clinic?.restores).toEqual([{ to, endedAt: expect.any(String) }])
    expect(Date.parse(clinic?.restores?.[0]?.endedAt ?? '')).toBeGreaterThan(Date.parse(to))
  })

  it('stays paused if an operator had paused it', async () => {
    await takeCopy()
    await setPaused(db.table, made.clinic, '2026-05-01T07:00:00.000Z')
    const waits: number[] = []
    await restore({ sleep: async (ms) => void waits.push(ms) })
    expect(await clinicStore(db).find(made.clinic)).toMatchObject({ pausedAt: '2026-05-01T07:00:00.000Z' })
    // For commands that had begun when it was only paused.
    expect(waits[0]).toBeGreaterThan(15_000)
  })
})

it('rejects a copy of a later time', async () => {
  await takeCopy()
  const options = { to: '2026-05-01T00:00:00.000Z', removeCreated: false, appointments: new Set<string>() }
  await expect(planRestore({ table: db.table, copy: copy.table }, made.clinic, options)).rejects.toThrow(
    'the copy has a record that was changed at',
  )
})
