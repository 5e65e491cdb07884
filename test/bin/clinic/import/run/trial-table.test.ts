import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { trialTable } from '../../../../../bin/clinic/import/run/trial-table.ts'
import { newUuid } from '../../../../../shared/domain/uuid.ts'
import { Changeset } from '../../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../../shared/store/table/table.ts'
import { allItems } from '../../../../support/all-items.ts'
import { appointment, importedClinic, invoice, message, payment } from '../calendar-fixtures.ts'

const imported = importedClinic()
const { load } = imported

const bill = { ...invoice, subtotal: 100 }
const unknown = { external_id: 'x', patient_external_id: 'unknown' }
const FILES: [string, object[]][] = [
  ['departments', [{ external_id: 1, name: 'Surgery' }]],
  ['doctors', [{ external_id: 2, full_name: 'Dr. Bo Lind', department_external_id: 1 }]],
  ['holidays', [{ external_id: 1, from: '2026-12-25' }]],
  ['rooms', [{ external_id: 1, name: 'R1', department_external_id: 1 }]],
  ['patients', [{ external_id: 3, first_name: 'Cy', last_name: 'Doe', national_id: 'A1' }]],
  ['patients', [{ external_id: 1, first_name: 'Ada', last_name: 'New' }]],
  ['appointments', [{ ...appointment, patient_external_id: 3, doctor_external_id: 2 }]],
  ['appointments', [{ ...appointment, ...unknown }]],
  [
    'invoices',
    [
      { ...bill, patient_external_id: 3 },
      { ...bill, external_id: 'j', invoice_number: '8' },
    ],
  ],
  ['payments', [payment, { ...payment, external_id: 'q', invoice_external_id: 'j' }]],
  ['payments', [{ ...payment, external_id: 'r', amount: '99999999999999' }]],
  ['messages', [{ ...message, patient_external_id: 3 }]],
]

async function loadAll(table = imported.db.table) {
  const results: Awaited<ReturnType<typeof load>>[] = []
  for (const [name, rows] of FILES) results.push(await load(name, rows, table))
  return results
}

it('tries files that refer to each other, with the outcome of the import, and writes nothing', async () => {
  const before = await allItems(imported.db)
  using trial = trialTable(imported.db.table)
  const tried = await loadAll(trial)
  const counts = tried.map(({ imported, updated, rejected }) => [imported, updated, rejected].join(''))
  expect(counts.join(' ')).toBe('100 100 100 100 100 010 100 001 200 200 001 100')
  const byKey = (items: { pk: string; sk: string }[]) =>
    items.toSorted((a, b) => (`${a.pk} ${a.sk}` < `${b.pk} ${b.sk}` ? -1 : 1))
  expect(byKey(await allItems(imported.db))).toEqual(byKey(before))
  expect(await loadAll()).toEqual(tried)
})

const coming = { ...appointment, appointment_date: '2031-05-04' }
const overlapping = {
  ...coming,
  external_id: 'b',
  patient_external_id: 2,
  start_time: '09:15',
  end_time: '09:45',
}
it.each([
  ['of one file', [], [coming, overlapping], { imported: 1, rejected: 1 }],
  ['of the table', [coming], [overlapping], { imported: 0, rejected: 1 }],
  [
    'that its file cancels',
    [coming],
    [overlapping, { ...coming, status: 'cancelled' }],
    { imported: 1, updated: 1, rejected: 0 },
  ],
])(
  'checks an appointment beside an overlapping one %s as the import does',
  async (_, stored, rows, outcome) => {
    if (stored.length > 0) await load('appointments', stored)
    using trial = trialTable(imported.db.table)
    const tried = await load('appointments', rows, trial)
    expect(tried).toMatchObject(outcome)
    expect(await load('appointments', rows)).toEqual(tried)
  },
)

type Files = readonly (readonly [entity: string, rows: object[]])[]
const at = (start_time: string, end_time: string) => ({ ...coming, start_time, end_time })
const ofOther = { external_id: 'b', doctor_external_id: 2 }
const inRoom = [coming, { ...at('11:00', '11:30'), ...ofOther }].map((one) => ({
  ...one,
  room_external_id: 'r',
}))
const daily = (name: string, month: string) =>
  Array.from({ length: 9 }, (_, day) => ({
    ...coming,
    external_id: `${name}${day}`,
    appointment_date: `2031-${month}-0${day + 1}`,
  }))
const renamed = { external_id: 1, first_name: 'Ada', last_name: 'New', email_address: 'new@x.org' }

it.each<[string, Files, Files]>([
  [
    'that move to one time of the room, which their file has no column for',
    [
      ['rooms', [{ external_id: 'r', name: 'R1' }]],
      ['doctors', [{ external_id: 2, full_name: 'Dr. Bo Lind' }]],
      ['appointments', inRoom],
    ],
    [['appointments', [at('14:00', '14:30'), { ...at('14:00', '14:30'), ...ofOther }]]],
  ],
  [
    'that take the time which others leave',
    [['appointments', daily('a', '05')]],
    [['appointments', [...daily('a', '06'), ...daily('b', '05')]]],
  ],
  [
    'that overlap two',
    [],
    [
      [
        'appointments',
        [
          at('09:00', '09:15'),
          { ...at('09:15', '09:30'), external_id: 'b' },
          { ...coming, external_id: 'c' },
        ],
      ],
    ],
  ],
  [
    'whose patient and doctor are renamed, with invoices and payments',
    [
      ['appointments', [coming]],
      ['invoices', [bill]],
      ['payments', [payment]],
    ],
    [
      ['patients', [renamed]],
      ['doctors', [{ external_id: 1, full_name: 'Dr. New' }]],
      ['appointments', [{ ...coming, status: 'scheduled' }]],
      ['invoices', [{ ...bill, subtotal: '100.00' }]],
      ['payments', [{ ...payment, amount: 20 }]],
    ],
  ],
])('checks appointments %s as the import does', async (_, stored, files) => {
  const { table } = imported.db
  const slow: Table = {
    ...table,
    tryTransact: async (writes) => {
      await sleep(20)
      await table.tryTransact(writes)
    },
  }
  for (const [name, rows] of stored) await load(name, rows)
  const loadAll = async (target: Table, isTrial: boolean) => {
    const results: object[] = []
    for (const [name, rows] of files) results.push(await load(name, rows, target, { isTrial }))
    return results
  }
  using trial = trialTable(table)
  const tried = await loadAll(trial, true)
  expect(await loadAll(slow, false)).toEqual(tried)
})

it('has the items that the table has after the same writes', async () => {
  type Change = { put?: object; remove?: boolean; set?: object; add?: object }
  const write: fc.Arbitrary<Change> = fc.oneof(
    fc.record({ put: fc.dictionary(fc.constantFrom('a', 'n'), fc.nat(3)) }),
    fc.constant({ remove: true }),
    fc.record({
      set: fc.dictionary(
        fc.constantFrom('a', 'SET'),
        fc.option(fc.constantFrom('x', [1], { b: 2 }), { nil: undefined }),
      ),
      add: fc.dictionary(fc.constantFrom('n', 'ADD'), fc.integer({ min: -2, max: 2 })),
    }),
  )
  /** The writes of a transaction to each of three items. */
  const transaction = fc.array(fc.option(write), { minLength: 3, maxLength: 3 })
  const { table } = imported.db
  await fc.assert(
    fc.asyncProperty(
      fc.array(transaction, { minLength: 2, maxLength: 6 }),
      fc.nat(3),
      async (all, stored) => {
        const pk = newUuid()
        const keys = ['1', '2', '3'].map((sk) => ({ pk, sk }))
        async function commit(target: Table, writes: (typeof all)[number]) {
          const changes = new Changeset(target, imported.clinic.id)
          for (const [at, one] of writes.entries()) {
            const key = keys[at] as (typeof keys)[number]
            if (one?.put) changes.put({ ...key, ...one.put })
            if (one?.remove) changes.remove(key)
            for (const [name, value] of Object.entries(one?.set ?? {})) changes.set(key, name, value)
            for (const [name, by] of Object.entries(one?.add ?? {})) changes.add(key, name, Number(by))
          }
          await changes.commit()
        }
        for (const writes of all.slice(0, stored)) await commit(table, writes)
        using trial = trialTable(table)
        for (const writes of all.slice(stored)) await commit(trial, writes)
        const tried = await trial.query({ pk, limit: 10 })
        for (const writes of all.slice(stored)) await commit(table, writes)
        expect(tried).toEqual(await table.query({ pk, limit: 10 }))
      },
    ),
    // The first is stored before the item that comes before it.
    {
      numRuns: 20,
      examples: [
        [
          [
            [null, null, { put: {} }],
            [{ put: {} }, null, null],
          ],
          1,
        ],
      ],
    },
  )
})
