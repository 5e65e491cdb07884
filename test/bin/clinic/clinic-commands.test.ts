/** What a change of a clinic says and asks before it is made. */
import { beforeEach, describe, expect, it } from 'vitest'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { deployedTable } from '../../support/deployed-stack.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../support/records.ts'
import { newClinic } from '../../support/table.ts'

const { db, run } = deployedTable()
let mine: PopulatedClinic

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
})

const set = (...args: string[]) => run('clinic', 'set', mine.clinic.id, ...args)
const stored = () => clinicStore(db).find(mine.clinic.id)

it('names the days of a holiday that cannot be read', async () => {
  const { code, errors } = await run('clinic', 'holiday', 'add', mine.clinic.id, '24.12.2026')
  expect(code).toBe(2)
  expect(errors).toMatch(/^24\.12\.2026 must be days or s/)
})

describe('the time zone', () => {
  it('is changed only with --yes once there are records, after what becomes of them', async () => {
    const { code, printed, errors } = await set('--timezone', 'Europe/Berlin')
    expect([code, printed]).toEqual([2, ''])
    expect(errors).toContain('The time zone of Clinic changes from Europe/Istanbul to Europe/Berlin:\n')
    expect(errors).toContain(
      'Dates and clock times stay, which are other instants in the new zone: of 1 appointment,',
    )
    expect(errors).toContain('Nothing was done. Use --yes to do it.')
    expect(await stored()).toMatchObject({ timezone: 'Europe/Istanbul' })
    expect((await set('--timezone', 'Europe/Berlin', '--yes')).code).toBe(0)
    expect(await stored()).toMatchObject({ timezone: 'Europe/Berlin' })
  })

  it('keeps what the question says: dates and clock times', async () => {
    const shown = async () => {
      const { printed } = await run('--json', 'appointment', 'list', '--clinic', mine.clinic.id)
      const [{ appointment_date, start_time, created_at }] = JSON.parse(printed).data
      return [appointment_date, start_time, new Date(created_at).toISOString()]
    }
    const before = await shown()
    await set('--timezone', 'America/New_York', '--yes')
    expect(await shown()).toEqual(before)
  })
})

describe('the currency', () => {
  it('is changed only with --yes once there are invoices, which keep theirs', async () => {
    const { code, errors } = await set('--currency', 'USD', '--json')
    expect([code, JSON.parse(errors).error.message]).toEqual([
      2,
      expect.stringContaining(
        'Nothing is converted: 1 invoice and 1 payment keep their currency and amounts.',
      ),
    ])
    expect((await set('--currency', 'USD', '--yes')).code).toBe(0)
    const { printed } = await run('invoice', 'show', mine.invoice.id, '--clinic', mine.clinic.id)
    expect(printed).toMatch(/^currency +EUR$/m)
  })
})

it.each([
  ['--timezone', 'UTC', ['doctor', 'add', '--name', 'Dr. Ada'], 'working hours and days off of 1 doctor'],
  ['--timezone', 'UTC', ['clinic', 'holiday', 'add', 'CLINIC', '2027-01-01'], 'and of 1 holiday.'],
  [
    ...['--currency', 'USD', ['treatment', 'add', '--name', 'ECG', '--duration', '30', '--price', '80']],
    '1 treatment and 0 price lists keep theirs',
  ],
] as [string, string, string[], string][])(
  'asks before %s %s of a clinic with no more than the result of %j',
  async (option, value, args, consequence) => {
    const { id } = await newClinic(db.table)
    const scope = args.includes('CLINIC') ? [] : ['--clinic', id]
    expect((await run(...args.map((arg) => (arg === 'CLINIC' ? id : arg)), ...scope)).errors).toBe('')
    const { code, errors } = await run('clinic', 'set', id, option, value)
    expect([code, errors]).toEqual([2, expect.stringContaining(consequence)])
    expect((await run('clinic', 'set', id, option, value, '--yes')).code).toBe(0)
  },
)

it('a clinic without records is changed without a question, and so is the setting that it has', async () => {
  const { id } = await newClinic(db.table, { name: 'Praxis Leer' })
  const empty = ['--timezone', 'UTC', '--currency', 'USD']
  expect((await run('clinic', 'set', id, ...empty)).printed).toBe('Changed clinic Praxis Leer\n')
  expect((await set('--timezone', 'Europe/Istanbul', '--currency', 'EUR')).printed).toContain(
    'Nothing changed',
  )
})

describe('a second clinic of the same name', () => {
  const create = (name: string, ...more: string[]) =>
    run('clinic', 'create', '--name', name, '--timezone', 'UTC', '--currency', 'EUR', ...more)

  it('is created only with --yes, whatever the case of the name', async () => {
    const { printed } = await create('Praxis Süd', '--json')
    const { code, errors } = await create('PRAXIS Süd')
    expect([code, errors]).toEqual([2, expect.stringContaining(JSON.parse(printed).id)])
    const named = async () =>
      (await clinicStore(db).list()).filter(({ name }) => /^praxis süd$/i.test(name)).length
    expect(await named()).toBe(1)
    expect((await create('PRAXIS Süd', '--yes')).code).toBe(0)
    expect(await named()).toBe(2)
  })

  it('is made by a change of the name only with --yes', async () => {
    await newClinic(db.table, { name: 'Praxis West' })
    expect((await set('--name', 'Praxis West')).code).toBe(2)
    expect(await stored()).toMatchObject({ name: 'Clinic' })
    expect((await set('--name', 'Praxis West', '--yes')).code).toBe(0)
  })
})

describe('limits', () => {
  it('return to those of the stage by "default"', async () => {
    await set('--sms-per-day', '5', '--sms-countries', 'TR', '--emails-per-day', '7')
    const { code } = await set(
      '--sms-per-day',
      'default',
      '--sms-countries',
      'default',
      '--address',
      'default',
    )
    expect(code).toBe(0)
    const { printed } = await run('--json', 'clinic', 'show', mine.clinic.id)
    expect(JSON.parse(printed)).toMatchObject({
      sms_per_day: null,
      sms_countries: null,
      emails_per_day: 7,
      address: 'default',
    })
  })
})

it('clinic show names an unknown clinic, and where to look', async () => {
  const { code, errors } = await run('clinic', 'show', 'nothing')
  expect([code, errors]).toEqual([2, expect.stringContaining('Run "clinic list" to see all clinics.')])
})
