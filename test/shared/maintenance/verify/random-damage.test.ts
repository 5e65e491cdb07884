import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Page } from '../../../../shared/domain/lists/paging.ts'
import { isUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import type { CalendarEntity } from '../../../../shared/store/calendar/calendar-entity.ts'
import type { RecordStore } from '../../../../shared/store/calendar/calendar-list.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { longId, shortId } from '../../../../shared/store/keys/key.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { patientsByNationalId } from '../../../../shared/store/patients/national-ids.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { property, rounds } from '../../../support/scale.ts'
import { freshTable, type TestTable } from '../../../support/table.ts'
import { withoutUpdatedAt } from '../../../support/without-updated-at.ts'
import { faultInjection } from './comparison/fault-injection.ts'
import { createPractice, type Practice, runVerification } from './practice.ts'

/** The keys of derived items: rows of lists, tallies, doctors' days, segments. */
const FOLLOWS = /^.{22}#([AIYM](L|D#.*|P#.*|I#.*|T|T#.*)|D#.*|IN#.*|PL|PH|PI|PN|PC|PS#.*|U[PAIYM])$/

/** The keys of records and of their rows. */
const HOLDS = /^.{22}#(?:([AIYM])(?:[LDPI](?:#.*)?)?|(P)L?)$/

/** The keys of derived items and of records. */
const ANY = new RegExp(`${FOLLOWS.source}|${HOLDS.source}`)

/** Attributes of rows that are no values of their record alone: names have other copies, and the record says where its rows are. */
const NOT_CONTENT = new Set([
  ...['pk', 'sk', 'i', 'o', 't', 'u', 'v', 'ev'],
  ...['pn', 'pe', 'dn', 'on', 'b', 'c'],
])

const sizes = fc.record({
  patients: fc.integer({ min: 1, max: 5 }),
  doctors: fc.integer({ min: 1, max: 2 }),
  appointments: fc.nat(10),
  invoices: fc.integer({ min: 1, max: 4 }),
  payments: fc.nat(6),
  messages: fc.nat(4),
  indexed: fc.constant(true),
})

/** Which item, of those that follow from records; what is done to it; which of its attributes. */
const damages = fc.array(fc.tuple(fc.nat(), fc.constantFrom('delete', 'alter', 'drop', 'copy'), fc.nat()), {
  minLength: 1,
  maxLength: 6,
})

async function damage(
  raw: ReturnType<typeof faultInjection>,
  item: Item,
  how: string,
  at: number,
): Promise<void> {
  const names = Object.keys(item).filter((name) => !['pk', 'sk'].includes(name))
  const name = names[at % names.length]
  if (how === 'delete' || name === undefined) await raw.remove(item)
  else if (how === 'drop') await raw.alter(item, () => ({ [name]: undefined }))
  else if (how === 'copy') await raw.put({ ...item, sk: `${item.sk}~` })
  else await raw.alter(item, () => ({ [name]: altered(item[name], at) }))
}

function altered(value: unknown, at: number): unknown {
  if (value instanceof Uint8Array)
    return value.map((byte, place) => (place === at % value.length ? byte ^ 1 : byte))
  return typeof value === 'number' ? value + 1 : 'altered'
}

/** The values that records and rows hold. Those of a patient count whose record is missing: its row does not confirm the record. */
function valuesIn(items: readonly Item[], damaged: readonly Item[]): Set<string> {
  const isPatient = ({ pk }: Item) => pk.endsWith('#P')
  const patients = new Set(damaged.filter(isPatient).map(({ sk }) => sk))
  return new Set(
    items.flatMap((item) => {
      const kind = HOLDS.exec(item.pk)?.slice(1).find(Boolean)
      const id =
        kind === 'P' ? String(item.i ?? item.sk) : longId(item.sk.slice(item.sk.lastIndexOf('#') + 1))
      if (kind === undefined || patients.has(id)) return []
      const names = Object.keys(item).filter(
        (name) => !NOT_CONTENT.has(name) && !(kind === 'Y' && name === 'no'),
      )
      const short = kind !== 'P' && isUuid(item.sk) ? item.sk : id
      return names.map(
        (name) => `${kind} ${short} ${name} ${inspect(item[name], { sorted: true, depth: null })}`,
      )
    }),
  )
}

const withoutUpdatedAtPage = ({ items, total }: Page<object>) => ({
  items: items.map(withoutUpdatedAt),
  total,
})

async function expectOracle(db: TestTable, made: Practice): Promise<void> {
  const { clinic } = made
  const expectList = async <R extends { id: string }>(
    list: RecordStore<R> & { page: ReturnType<typeof appointmentStore>['page'] },
    entity: CalendarEntity<R, never>,
    records: readonly R[],
  ) => {
    const order = (record: R) => {
      const { date, moment, id } = entity.position(record)
      return `${date} ${moment} ${id}`
    }
    const sorted = [...records].sort((a, b) => (order(a) < order(b) ? 1 : -1))
    const page = await list.page(clinic, {}, { page: 1, limit: 100 })
    expect(withoutUpdatedAtPage(page)).toEqual({ items: sorted.map(withoutUpdatedAt), total: records.length })
    for (const { id } of made.patients) {
      const own = sorted.filter((record) => entity.position(record).patient === id)
      expect((await list.allOf(clinic, 'patient', id)).map(withoutUpdatedAt)).toEqual(
        own.map(withoutUpdatedAt),
      )
    }
  }
  const [appointments, invoices] = [appointmentStore(db), invoiceStore(db)]
  const [payments, messages] = [paymentStore(db), messageStore(db)]
  await expectList(appointments, appointments.entity, made.appointments)
  await expectList(invoices as never, invoices.entity, made.invoices)
  await expectList(payments as never, payments.entity, made.payments)
  await expectList(messages as never, messages.entity, made.messages)
  const last = { page: 1, limit: 100 }
  const listed = await patientStore(db).page(clinic, last)
  // Lists do not have national ids.
  const patients = made.patients.map((patient) => ({ ...patient, nationalId: null }))
  expect(withoutUpdatedAtPage(listed)).toEqual({
    items: patients.toReversed().map(withoutUpdatedAt),
    total: patients.length,
  })
  for (const isActive of [true, false]) {
    const items = patients
      .filter((patient) => patient.isActive === isActive)
      .map(withoutUpdatedAt)
      .reverse()
    const page = await patientSearch(db).search(clinic, '', last, isActive)
    expect(withoutUpdatedAtPage(page)).toEqual({ items, total: items.length })
  }
  const identified = patients.filter((_, at) => made.patients[at]?.nationalId !== null)
  const { items } = await patientsByNationalId(db).page(clinic, 'N-1', last)
  expect(items.map(withoutUpdatedAt)).toEqual(identified.toReversed().map(withoutUpdatedAt))
  for (const patient of patients) {
    const found = await patientSearch(db).search(clinic, patient.phoneNumber ?? '', last)
    expect(found.items.map(withoutUpdatedAt)).toEqual([withoutUpdatedAt(patient)])
  }
}

describe('verifying any clinic', () => {
  it(
    'reports no difference before random damage, finds the damage, and restores the former state',
    async () => {
      await fc.assert(
        fc.asyncProperty(sizes, fc.integer(), damages, async (size, seed, planned) => {
          const db = await freshTable()
          using _ = { [Symbol.dispose]: () => db.client.destroy() }
          const raw = faultInjection(db)
          const made = await createPractice(db.table, size, seed)
          expect((await runVerification(db.table, made.clinic)).found).toEqual([])
          for (const [which, how, at] of planned) {
            const items = (await raw.scanAll()).filter(
              ({ pk }) => pk.startsWith(shortId(made.clinic)) && FOLLOWS.test(pk),
            )
            const item = items[which % items.length]
            if (!item) throw new Error('nothing to damage')
            await damage(raw, item, how, at)
          }
          const { found, differences, repaired } = await runVerification(db.table, made.clinic, true)
          // All rows of a record were damaged in one attribute.
          fc.pre(found.every(({ kind }) => kind !== 'record_contradicted'))
          expect(found.filter((difference) => !difference.repaired)).toEqual([])
          expect(repaired).toBe(differences)
          expect((await runVerification(db.table, made.clinic)).found).toEqual([])
          await expectOracle(db, made)
        }),
        property(5, 300),
      )
    },
    rounds(60_000, 900_000),
  )

  it(
    'keeps every value of which a copy is left after random damage of records too',
    async () => {
      await fc.assert(
        fc.asyncProperty(sizes, fc.integer(), damages, async (size, seed, planned) => {
          const db = await freshTable()
          using _ = { [Symbol.dispose]: () => db.client.destroy() }
          const raw = faultInjection(db)
          const made = await createPractice(db.table, size, seed)
          const ofClinic = async () =>
            (await raw.scanAll()).filter(({ pk }) => pk.startsWith(shortId(made.clinic)) && ANY.test(pk))
          const sound = await ofClinic()
          for (const [which, how, at] of planned) {
            const items = await ofClinic()
            await damage(raw, items[which % items.length] as Item, how, at)
          }
          const damaged = await ofClinic()
          const { found } = await runVerification(db.table, made.clinic, true)
          const left = found.filter(({ repaired }) => !repaired).map(({ kind }) => kind)
          expect(await runVerification(db.table, made.clinic, true)).toMatchObject({
            kinds: left.sort(),
            repaired: 0,
          })
          const [had, held, kept] = [sound, damaged, await ofClinic()].map((items) =>
            valuesIn(items, damaged),
          )
          expect([...(had ?? [])].filter((value) => held?.has(value) && !kept?.has(value))).toEqual([])
        }),
        property(5, 300),
      )
    },
    rounds(60_000, 900_000),
  )
})
