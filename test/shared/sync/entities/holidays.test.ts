/** Holidays of a clinic, as files have them. Changed holidays are tested in second-run.test.ts. */
import { expect, it } from 'vitest'
import { storedIds } from '../../../../bin/clinic/export/export-ids.ts'
import { MAX_HOLIDAYS, type TimeOff } from '../../../../shared/domain/booking/doctor.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { holidayStore } from '../../../../shared/store/holidays.ts'
import { importedClinic } from '../../../bin/clinic/import/calendar-fixtures.ts'
import { interruptedTable } from '../../../support/intercepted-table.ts'
import { runVerification } from '../../maintenance/verify/practice.ts'

const imported = importedClinic()
const { load } = imported

const christmas = { external_id: 'c', from: '2026-12-25', to: '2026-12-26', name: 'Christmas' }
const newYear = { external_id: 'n', from: '2027-01-01' }
const day = (date: string, reason: string | null = null): TimeOff => ({ from: date, to: date, reason })

const holidays = async () => (await holidayStore(imported.db).read(imported.clinic.id)).holidays
const set = (change: (days: readonly TimeOff[]) => readonly TimeOff[]) =>
  holidayStore(imported.db).set(imported.clinic.id, change)

it('are added to those there are, in order, and copied to the doctors', async () => {
  await set(() => [day('2026-12-31', 'Stocktaking')])
  expect(await load('holidays', [newYear, christmas])).toMatchObject({ imported: 2, rejected: 0 })
  const all = [
    { from: '2026-12-25', to: '2026-12-26', reason: 'Christmas' },
    day('2026-12-31', 'Stocktaking'),
    day('2027-01-01'),
  ]
  expect(await holidays()).toEqual(all)
  const doctors = await doctorStore(imported.db).list(imported.clinic.id)
  expect(doctors.map((doctor) => doctor.holidays)).toEqual([all])
  const { table } = imported.db
  expect((await runVerification(table, imported.clinic.id)).found).toEqual([])
})

it('are found by their external ids', async () => {
  await load('holidays', [christmas, newYear])
  await set((days) => days.slice(0, 1))
  const { table } = imported.db
  const holidays = { name: 'holidays', idKind: 'holiday' } as const
  const listed: unknown[] = []
  for await (const one of storedIds(table, imported.clinic.id, [holidays])) listed.push(one)
  const idOf = await readImportIds(table, imported.clinic.id)
  expect(listed).toEqual([{ entity: 'holidays', externalId: 'c', id: idOf('holiday', 'c') }])
})

it('stay removed, unless a changed row overwrites', async () => {
  await load('holidays', [christmas, newYear])
  await set((days) => days.slice(1))
  expect(await load('holidays', [christmas])).toMatchObject({ unchanged: 1, rejected: 0 })
  const changed = { ...christmas, to: '2026-12-27' }
  expect(await load('holidays', [changed])).toMatchObject({
    reasons: [
      'the holiday was removed after its last import; import the row with --overwrite to make it again',
    ],
  })
  expect(await holidays()).toEqual([day('2027-01-01')])
  expect(await load('holidays', [changed], undefined, { overwrite: true })).toMatchObject({ imported: 1 })
  expect(await holidays()).toMatchObject([{ to: '2026-12-27' }, {}])
})

it('can move to other days, and keep a name that the file does not have', async () => {
  await load('holidays', [christmas])
  expect(await load('holidays', [{ external_id: 'c', from: '2026-12-24' }])).toMatchObject({ updated: 1 })
  expect(await holidays()).toEqual([day('2026-12-24', 'Christmas')])
  expect(await load('holidays', [{ external_id: 'c', from: '2026-12-24', name: null }])).toMatchObject({
    updated: 1,
  })
  expect(await holidays()).toEqual([day('2026-12-24')])
})

it('are those that were added by hand, if they are equal', async () => {
  await set(() => [day('2027-01-01', 'New Year')])
  expect(await load('holidays', [{ ...newYear, name: 'New Year' }])).toMatchObject({ unchanged: 1 })
  expect(await load('holidays', [{ ...newYear, external_id: 'x', name: 'Other' }])).toMatchObject({
    reasons: ['from and to are the days of another holiday'],
  })
  expect(await holidays()).toEqual([day('2027-01-01', 'New Year')])
})

it.each([
  [{ from: '2026-02-30' }, 'from is not a date that exists'],
  [{ from: null }, 'from is required'],
  [{ to: '2026-12-24' }, 'to must not be before the first day'],
  [{ name: 'x'.repeat(101) }, 'name must have at most 100 characters'],
  [{ external_id: 'other' }, 'from and to are the days of another holiday'],
])('are rejected with %j', async (wrong, reason) => {
  await load('holidays', [christmas])
  expect(await load('holidays', [{ ...christmas, ...wrong }])).toMatchObject({ reasons: [reason] })
  expect(await holidays()).toHaveLength(1)
})

it('are at most as many as each doctor can have a copy of', async () => {
  const days = Array.from({ length: MAX_HOLIDAYS }, (_, at) =>
    day(new Date(Date.UTC(2030, 0, 1 + at)).toISOString().slice(0, 10)),
  )
  await set(() => days)
  expect(await load('holidays', [newYear])).toMatchObject({
    reasons: ['the clinic has 200 holidays already, the most that it can have'],
  })
  await set(() => days.slice(1))
  expect(await load('holidays', [newYear])).toMatchObject({ imported: 1 })
})

it('keep the holidays that another writer adds at the same time', async () => {
  const add = () => set((days) => [...days, day('2026-12-31')])
  const contended = interruptedTable(imported.db.table, add)
  expect(await load('holidays', [newYear], contended)).toMatchObject({ imported: 1 })
  expect(await holidays()).toEqual([day('2026-12-31'), day('2027-01-01')])
})
