import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { APPOINTMENTS } from '../../../../shared/store/calendar/appointments.ts'
import type { CalendarEntity } from '../../../../shared/store/calendar/calendar-entity.ts'
import { rowKeys } from '../../../../shared/store/calendar/calendar-row.ts'
import { INVOICES } from '../../../../shared/store/calendar/invoices.ts'
import { PAYMENTS } from '../../../../shared/store/calendar/payments.ts'
import { tallyAttribute } from '../../../../shared/store/calendar/tally.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import {
  calendarKey,
  calendarListPartition,
  doctorDayKey,
  type EntityCode,
  invoiceNumberKey,
  ownerPartition,
  roomDayKey,
  tallyPartition,
  tallyShardKey,
} from '../../../../shared/store/keys/calendar.ts'
import { changeIndexKey } from '../../../../shared/store/keys/change-index.ts'
import { ANNOUNCED_PARTITION_PREFIX } from '../../../../shared/store/keys/events.ts'
import { type Key, shortId } from '../../../../shared/store/keys/key.ts'
import { MESSAGES } from '../../../../shared/store/messages/messages.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { tableOfFile } from '../../../support/table.ts'
import {
  expectRepaired,
  faultInjection,
  type InjectedDamages,
  injectedDamages,
} from './comparison/fault-injection.ts'
import { createPractice, type Practice, runVerification } from './practice.ts'

const db = tableOfFile()
let made: Practice
let raw: ReturnType<typeof faultInjection>
let sound: Item[]

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
  sound = await raw.scanAll()
})
/** Whether the last test repaired its damage. The next damage is then done to the repaired clinic. */
let isRepaired = false
beforeEach(async () => {
  if (!isRepaired) await raw.restore(sound)
  isRepaired = false
})

const first = <T>(list: readonly T[]): T => list[0] as T
const appointment = () => first(made.appointments)
const invoice = () => first(made.invoices)
const payment = () => first(made.payments)
const message = () => first(made.messages)
const ofStatus = (status: string) => first(made.appointments.filter((one) => one.status === status))
const busy = () => ofStatus('scheduled')
const free = () => ofStatus('cancelled')

/** The rows of a record: of clinic and doctor, of patient, of invoice. */
const rowsOf = <R>(entity: CalendarEntity<R, never>, record: R) =>
  rowKeys(made.clinic, entity.entityCode, entity.position(record)) as [Key, Key, Key]
const recordKey = (entityCode: EntityCode, { id }: { id: string }) => calendarKey(made.clinic, entityCode, id)

/** The item that lists a record in the index of changes. */
const indexItem = async <R extends { id: string }>(
  entityCode: EntityCode,
  entity: CalendarEntity<R, never>,
  { id }: R,
) => changeIndexKey(made.clinic, entityCode, entity.decode(await raw.read(recordKey(entityCode, { id })), id))

const tally = (doctor: string | null) => ({
  pk: tallyPartition(made.clinic, 'A', doctor),
  sk: appointment().date.slice(0, 7),
})
const counter = () => tallyAttribute(appointment().date, APPOINTMENTS.position(appointment()).facet)
const shardedTally = () => tallyShardKey(tally(null).pk, tally(null).sk, 3)

/** Moves a part of a month's counters to a shard, as writers that collide leave it. */
async function shardTally() {
  await raw.alter(tally(null), (item) => ({ [counter()]: Number(item[counter()]) - 5 }))
  await raw.put({ ...shardedTally(), [counter()]: 5, v: 2 })
}

const day = ({ doctor, date }: Practice['appointments'][0]) => doctorDayKey(made.clinic, doctor.id, date)

const roomDay = ({ room, date }: Practice['appointments'][0]) => roomDayKey(made.clinic, room?.id ?? '', date)

/** The keys of all items that contain the appointment, or the invoice. */
const keysOfAppointment = () => [recordKey('A', appointment()), ...rowsOf(APPOINTMENTS, appointment())]
const placesOfInvoice = () => [recordKey('I', invoice()), ...rowsOf(INVOICES, invoice())]
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

const REPAIRABLE: InjectedDamages = {
  change_missing: {
    'an appointment is not in the index of changes': async () =>
      raw.remove(await indexItem('A', APPOINTMENTS, appointment())),
  },
  change_extra: {
    'the index of changes has a payment at an earlier time too': () =>
      raw.put(changeIndexKey(made.clinic, 'Y', { ...payment(), updatedAt: '2020-01-01T00:00:00Z' })),
  },
  row_missing: {
    'an appointment is not in the clinic’s list': () => raw.remove(rowsOf(APPOINTMENTS, appointment())[0]),
    'an appointment is not in its doctor’s list': () => raw.remove(rowsOf(APPOINTMENTS, appointment())[1]),
    'an appointment is not in its patient’s list': () => raw.remove(rowsOf(APPOINTMENTS, appointment())[2]),
    'an invoice is not listed': () => raw.remove(rowsOf(INVOICES, invoice())[0]),
    'a payment is not in its invoice’s list': () => raw.remove(rowsOf(PAYMENTS, payment())[2]),
    'a message is not in its patient’s list': () => raw.remove(rowsOf(MESSAGES, message())[1]),
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
    'a row has no record': () => strayRow(newUuid()),
    'a row is not where its record belongs': () => strayRow(appointment().id),
    'a row has a malformed key': () =>
      raw.put({ pk: calendarListPartition(made.clinic, 'I', null), sk: 'junk' }),
    'a patient’s list has another patient’s appointment': () =>
      misplacedRow(rowsOf(APPOINTMENTS, appointment())[2], 'A', 'patient'),
    'an invoice’s list has another invoice’s payment': () =>
      misplacedRow(rowsOf(PAYMENTS, payment())[2], 'Y', 'invoice'),
  },
  tally_wrong: {
    'a counter is too high': () =>
      raw.alter(tally(null), (item) => ({ [counter()]: Number(item[counter()]) + 2 })),
    'a counter is negative': () => raw.alter(tally(appointment().doctor.id), () => ({ [counter()]: -1 })),
    'a counter has an unknown facet': () => raw.alter(tally(null), () => ({ '1z': 3 })),
    'a month has no tally': () => raw.remove(tally(null)),
    'a month has a tally but no rows': () => raw.put({ pk: tally(null).pk, sk: '1999-01', '1s': 2, v: 1 }),
    'a month with shards has a counter that is too high': async () => {
      await shardTally()
      await raw.alter(tally(null), (item) => ({ [counter()]: Number(item[counter()]) + 2 }))
    },
    'a shard counts what is not there': async () => {
      await shardTally()
      await raw.alter(shardedTally(), () => ({ '1z': 3 }))
    },
  },
  busy_missing: {
    'a doctor’s day lacks an appointment': () =>
      raw.alter(day(busy()), () => ({ [shortId(busy().id)]: undefined })),
    'a room’s day lacks an appointment': () =>
      raw.alter(roomDay(busy()), () => ({ [shortId(busy().id)]: undefined })),
  },
  busy_differs: {
    'a doctor’s day has the wrong time': () =>
      raw.alter(day(busy()), () => ({ [shortId(busy().id)]: '01:00-02:00' })),
    'a room’s day has the wrong time': () =>
      raw.alter(roomDay(busy()), () => ({ [shortId(busy().id)]: '01:00-02:00' })),
  },
  busy_extra: {
    'a doctor’s day has a cancelled appointment': () =>
      raw.put({ ...day(free()), [shortId(free().id)]: '09:00-09:30', v: 9 }),
    'a doctor’s day has an unknown appointment': () =>
      raw.alter(day(busy()), () => ({ [shortId(newUuid())]: '09:00-09:30' })),
    'a doctor’s day has an unknown attribute': () => raw.alter(day(busy()), () => ({ x: 'y' })),
    'a room’s day has a cancelled appointment': () =>
      raw.put({ ...roomDay(free()), [shortId(free().id)]: '09:00-09:30', v: 9 }),
  },
  busy_unversioned: {
    'a doctor’s day has no version': () => raw.alter(day(busy()), () => ({ v: undefined })),
  },
  'busy_missing busy_unversioned': {
    'a doctor’s day has a version that is not a number, and lacks an appointment': () =>
      raw.alter(day(busy()), () => ({ v: 'x', [shortId(busy().id)]: undefined })),
  },
  number_missing: {
    'an invoice is not found by its number': () =>
      raw.remove(invoiceNumberKey(made.clinic, invoice().number, invoice().id)),
  },
  invoice_unsettled: {
    'an invoice has the wrong paid amount': () => alterAll(placesOfInvoice(), { paid: 123_456 }),
  },
  'invoice_unsettled row_differs row_extra row_missing tally_wrong': {
    'an invoice has a status that its payments contradict, and the counter of the other is not a number':
      async () => {
        const { date, facet } = INVOICES.position(invoice())
        await raw.alter(recordKey('I', invoice()), ({ s }) => ({ s: s === 'p' ? 'x' : 'p' }))
        const month = { pk: tallyPartition(made.clinic, 'I', null), sk: date.slice(0, 7) }
        await raw.alter(month, () => ({ [tallyAttribute(date, facet)]: 'x' }))
      },
  },
  stale_copy: {
    'an appointment shows an old name': () => alterAll(keysOfAppointment(), { pn: 'Old Name' }),
    'an appointment shows a doctor’s old name': () => alterAll(keysOfAppointment(), { dn: 'Old Name' }),
    'an invoice shows an old address': () => alterAll(placesOfInvoice(), { pe: 'old@example.com' }),
  },
  refresh_interrupted: {
    'a doctor’s new name was not copied': () => renameDoctor(),
  },
}

async function renameDoctor() {
  const store = doctorStore(db)
  const before = await store.find(made.clinic, appointment().doctor.id)
  if (before) await store.save(made.clinic, [{ before, after: { ...before, fullName: 'Dr. New' } }])
}

const UNREPAIRABLE: InjectedDamages = {
  record_unreadable: {
    'an appointment cannot be read': () => raw.alter(recordKey('A', appointment()), () => ({ s: '?' })),
  },
  dangling_reference: {
    'a payment’s invoice does not exist': () => loneInvoice(),
  },
}

/** Deletes an invoice so that only a payment still refers to it. Returns the payment. */
async function loneInvoice() {
  const paid = made.invoices.filter(({ id }) => made.payments.some((one) => one.invoice.id === id))
  const lone = first(
    paid.filter(({ id }) => made.payments.filter((one) => one.invoice.id === id).length === 1),
  )
  for (const key of [await indexItem('I', INVOICES, lone), recordKey('I', lone), ...rowsOf(INVOICES, lone)])
    await raw.remove(key)
  const place = INVOICES.position(lone)
  const counted = { pk: tallyPartition(made.clinic, 'I', null), sk: place.date.slice(0, 7) }
  const name = tallyAttribute(place.date, place.facet)
  await raw.alter(counted, (item) => ({ [name]: Number(item[name]) - 1 }))
  return first(made.payments.filter(({ invoice: { id } }) => id === lone.id))
}

describe('verifying lists', () => {
  it('reports no difference in what the stores wrote', async () => {
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
  })

  it.each(injectedDamages(REPAIRABLE))('finds and repairs the damage: %s', async (_, plant, kinds) => {
    await plant()
    await expectRepaired(db, made, kinds)
    isRepaired = true
  })

  it('reports no difference after all repairs', async () => {
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
  })

  it.each(injectedDamages(UNREPAIRABLE))(
    'reports the damage without repairing it: %s',
    async (_, plant, kinds) => {
      await plant()
      expect(await runVerification(db.table, made.clinic, true)).toMatchObject({ kinds, repaired: 0 })
      expect((await runVerification(db.table, made.clinic)).kinds).toEqual(kinds)
    },
  )

  it('deletes an extra row of a payment whose invoice does not exist', async () => {
    const unsettled = await loneInvoice()
    const [key] = rowsOf(PAYMENTS, unsettled)
    await raw.put({ ...(await raw.read(key)), sk: `c#2020-01-01#09:00#${shortId(unsettled.id)}` })
    const kinds = ['dangling_reference', 'row_extra']
    expect(await runVerification(db.table, made.clinic, true)).toMatchObject({ kinds, repaired: 1 })
    expect((await runVerification(db.table, made.clinic)).kinds).toEqual(['dangling_reference'])
  })

  it('reports no difference for a month that is counted in several items', async () => {
    await shardTally()
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
  })

  it('reports no difference for an invoice from before amounts were stored with their decimals', async () => {
    await alterAll(placesOfInvoice(), { dec: undefined })
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
  })

  it('updates lists, tallies and days to a changed record', async () => {
    await raw.alter(recordKey('A', busy()), () => ({ s: 'x' }))
    const { differences, repaired } = await runVerification(db.table, made.clinic, true)
    expect(repaired).toBe(differences)
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
    expect(
      await db.table.get(rowsOf(APPOINTMENTS, { ...busy(), status: 'cancelled' as const })[0]),
    ).toBeDefined()
    expect((await db.table.get(day(busy())))?.[shortId(busy().id)]).toBeUndefined()
  })

  it('deletes all rows of a deleted record', async () => {
    await raw.remove(recordKey('A', busy()))
    await runVerification(db.table, made.clinic, true)
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
    // Except for announced events that are not delivered yet.
    const left = (await raw.scanAll()).filter(({ pk }) => !pk.startsWith(ANNOUNCED_PARTITION_PREFIX))
    expect(JSON.stringify(left)).not.toContain(shortId(busy().id))
  })
})
