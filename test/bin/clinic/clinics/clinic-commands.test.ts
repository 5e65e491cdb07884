/** How a clinic is created and changed: its settings, and what the tool says and asks before a change. */
import { beforeEach, describe, expect, it } from 'vitest'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { clinicDirectoryKey, clinicKey } from '../../../../shared/store/keys/clinics.ts'
import { patientHeadKey } from '../../../../shared/store/keys/patients.ts'
import { deployedTable, output, rejection } from '../../../support/deployed-stack.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { newClinic } from '../../../support/table.ts'

const { db, run } = deployedTable()
let mine: PopulatedClinic

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
})

const set = (...args: string[]) => run('clinic', 'update', '--clinic', mine.clinic.id, ...args)
const stored = () => clinicStore(db).find(mine.clinic.id)

it('the time zone is changed only with --yes, after what becomes of records', async () => {
  const { code, printed, errors } = await set('--timezone', 'Europe/Berlin')
  expect([code, printed]).toEqual([2, ''])
  expect(errors).toContain('The time zone of Clinic changes from Europe/Istanbul to Europe/Berlin.\n')
  expect(errors).toContain('Dates and clock times stay, which are other instants in the new zone:')
  expect(errors).toContain('Nothing was done. Use --yes to do it.')
  expect(await stored()).toMatchObject({ timezone: 'Europe/Istanbul' })
  expect((await set('--timezone', 'Europe/Berlin', '--yes')).code).toBe(0)
  expect(await stored()).toMatchObject({ timezone: 'Europe/Berlin' })
})

it('the currency is changed only with --yes, and invoices keep theirs', async () => {
  const { code, errors } = await set('--currency', 'USD', '--json')
  expect([code, JSON.parse(errors).error.message]).toEqual([
    2,
    expect.stringContaining('Nothing is converted: invoices, payments,'),
  ])
  expect((await set('--currency', 'USD', '--yes')).code).toBe(0)
  const invoice = await invoiceStore(db).find(mine.clinic.id, mine.invoice.id)
  expect(invoice?.record.currency).toBe('EUR')
})

describe('a second clinic of the same name', () => {
  const create = (name: string, ...more: string[]) =>
    run('clinic', 'create', '--name', name, '--timezone', 'UTC', '--currency', 'EUR', ...more)

  it('is created only with --yes, whatever the case of the name', async () => {
    const { printed } = await create('Praxis Süd', '--json')
    expect(await rejection(create('PRAXIS Süd'))).toContain(JSON.parse(printed).data.id)
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

describe('settings of a clinic', () => {
  const create = async (...more: string[]) =>
    run(
      ...['--json', 'clinic', 'create', '--name', 'Praxis', '--timezone', 'Europe/Berlin'],
      ...['--currency', 'eur', '--yes', ...more],
    )
  const listed = async () => JSON.parse((await run('--json', 'clinic', 'list')).printed).data
  const NO_CONTACT = {
    ...{ address: null, phone_number: null, email_address: null, website: null },
    ...{ email_from_name: null, reply_to: null },
  }

  it('are listed, and default to the stage’s', async () => {
    const created = JSON.parse((await create()).printed).data
    expect(created).toEqual({
      id: created.id,
      name: 'Praxis',
      is_test: false,
      timezone: 'Europe/Berlin',
      currency: 'EUR',
      duration_minutes: 30,
      ...NO_CONTACT,
      ...{ sms_per_day: null, emails_per_day: null, sms_countries: null, messages_per_recipient: null },
      ...{ paused_at: null, pause_in_effect_at: null, deleting_at: null },
      created_at: expect.stringMatching(/\+0[12]:00$/),
    })
    const { printed } = await create(
      ...['--sms-per-day', '20', '--emails-per-day', '1000000', '--sms-countries', 'tr, DE,tr'],
    )
    const limited = JSON.parse(printed).data
    const limits = { sms_per_day: 20, emails_per_day: 1_000_000, sms_countries: ['TR', 'DE'] }
    expect(limited).toMatchObject(limits)
    expect(await listed()).toEqual(expect.arrayContaining([created, limited]))
  })

  it('change one at a time, and return to their defaults', async () => {
    const { id } = JSON.parse((await create()).printed).data
    const change = async (...args: string[]) =>
      JSON.parse((await run('--json', 'clinic', 'update', '--clinic', id, ...args)).printed).data
    expect(await change('--sms-per-day', '5')).toMatchObject({ sms_per_day: 5, emails_per_day: null })
    expect(await change('--sms-countries', 'gb')).toMatchObject({ sms_per_day: 5, sms_countries: ['GB'] })
    expect(await change('--messages-per-recipient', '3')).toMatchObject({ messages_per_recipient: 3 })
    const contact = ['--address', 'Hauptstr. 1, Kiel', '--phone', '+49 431 555012']
    const sender = ['--email-from-name', 'Dr. Ada Kaya', '--reply-to', 'desk@praxis.example']
    const online = ['--email', 'praxis@example.com', '--website', 'https://praxis.example.com/']
    expect(await change(...contact, ...sender, ...online)).toMatchObject({
      sms_per_day: 5,
      address: 'Hauptstr. 1, Kiel',
      phone_number: '+49431555012',
      email_address: 'praxis@example.com',
      website: 'https://praxis.example.com/',
      email_from_name: 'Dr. Ada Kaya',
      reply_to: 'desk@praxis.example',
    })
    const options = ['email-from-name', 'reply-to', 'address', 'phone', 'email', 'website']
    const defaults = options.flatMap((name) => [`--${name}`, ''])
    const renamed = { name: 'Praxis Ost', sms_per_day: 5, ...NO_CONTACT }
    expect(await change('--name', 'Praxis Ost', ...defaults)).toMatchObject(renamed)
    expect((await run('clinic', 'update', '--clinic', id, '--currency', '')).code).toBe(2)
  })

  it.each([
    [['--timezone', 'Mars/Base'], '--timezone must be an IANA time zone'],
    [['--currency', 'EURO'], '--currency must be an ISO 4217 code'],
    [['--name', ' '], '--name must not be empty'],
    [['--website', 'praxis.example.com'], '--website'],
    [['--phone', '0431 555012'], '--phone needs its country code'],
    [['--phone', '+49000000000'], '--phone must be an international phone number that exists'],
    [['--duration', '0x1e'], '--duration must be a whole number of minutes from 5 to 480'],
    [['--duration', '481'], '--duration must be a whole number of minutes from 5 to 480'],
    [['--email', 'praxis'], '--email'],
    [['--address', ' '], '--address'],
    [['--sms-per-day', '0'], '--sms-per-day must be at least 1'],
    [['--sms-per-day', '1.5'], '--sms-per-day must be a whole number'],
    [['--emails-per-day', '1000001'], '--emails-per-day must be at most 1000000'],
    [['--messages-per-recipient', '0'], '--messages-per-recipient must be at least 1'],
    [['--email-from-name', 'Praxis\r\nBcc: b@example.com'], '--email-from-name must not contain control'],
    [['--reply-to', 'Desk <desk@praxis.example>'], '--reply-to must be an email address'],
    [['--reply-to', 'büro@praxis.example'], '--reply-to must have only ASCII characters before the @'],
    [['--sms-countries', 'TR,XX'], '--sms-countries must be ISO 3166 codes'],
  ])('are rejected with %j', async (args, message) => {
    const before = await listed()
    for (const { code, printed, errors } of [await set(...args), await create(...args)])
      expect([code, printed, errors]).toEqual([2, '', expect.stringContaining(message)])
    expect(await listed()).toEqual(before)
  })
})

it('a clinic is a test clinic from its creation or never', async () => {
  const create = ['clinic', 'create', '--name', 'Praxis Test', '--timezone', 'UTC', '--currency', 'EUR']
  const { id, is_test } = JSON.parse((await run('--json', ...create, '--test')).printed).data
  expect([is_test, (await clinicStore(db).find(id))?.isTest]).toEqual([true, true])
  expect((await run('clinic', 'list')).printed).toMatch(new RegExp(`^${id} .* test$`, 'm'))
  expect((await run('clinic', 'show', '--clinic', id)).printed).toMatch(/^is_test +true$/m)
  expect(await rejection(run('clinic', 'update', '--test', '--clinic', mine.clinic.id))).toContain(
    "unknown option '--test'",
  )
})

it('limits return to the stage’s by "default"', async () => {
  await set('--sms-per-day', '5', '--sms-countries', 'TR', '--emails-per-day', '7')
  const { code } = await set('--sms-per-day', 'default', '--sms-countries', 'default', '--address', 'default')
  expect(code).toBe(0)
  const { printed } = await run('--json', 'clinic', 'show', '--clinic', mine.clinic.id)
  expect(JSON.parse(printed).data).toMatchObject({
    sms_per_day: null,
    sms_countries: null,
    emails_per_day: 7,
    address: 'default',
  })
})

it('empty lists say so', async () => {
  const { id } = await newClinic(db.table)
  const nouns = ['credential', 'erasure']
  for (const noun of nouns) expect(await output(run(noun, 'list', '--clinic', id))).toBe(`No ${noun}s\n`)
})

it.each([
  [['clinic', 'create', '--name', 'X'], 'Specify --timezone, --currency.'],
  [['nonsense'], "unknown command 'nonsense'"],
])('%j exits with code 2', async (args, message) => {
  expect(await rejection(run(...args))).toContain(message)
})

it.each([...['', 'clinic', 'clinic create', 'import', 'credential create', 'message', 'message resolve']])(
  '%j --help prints usage',
  async (command) => {
    const args = command.split(' ').filter(Boolean)
    expect(await output(run(...args, '--help'))).toContain(['Usage: clinic', ...args].join(' '))
  },
)

it('a clinic whose settings cannot be read stops no command on others, and clinic update repairs it', async () => {
  const [damaged, other] = [await newClinic(db.table), await newClinic(db.table, { name: 'Praxis Alone' })]
  await db.table.update(clinicKey(damaged.id), {
    UpdateExpression: 'REMOVE currency ADD v :one',
    ExpressionAttributeValues: { ':one': 1 },
  })
  await db.table.putMany([{ ...clinicDirectoryKey(damaged.id), sk: `${damaged.id}z` }])
  expect((await run('clinic', 'list')).printed).toContain(`${damaged.id}  settings that cannot be read`)
  expect(await output(run('clinic', 'show', '--clinic', 'Praxis Alone'))).toContain(other.id)
  expect((await run('verify', '--clinic', damaged.id)).printed).toContain('attribute currency is not text')
  expect((await run('clinic', 'update', '--clinic', damaged.id, '--currency', 'EUR', '--yes')).code).toBe(0)
  expect((await clinicStore(db).find(damaged.id))?.currency).toBe('EUR')
})

it('verify repairs a lost count of patients, which the list of patients needs', async () => {
  const { id } = await newClinic(db.table)
  await db.table.update(patientHeadKey(id), { UpdateExpression: 'REMOVE n' })
  expect((await run('verify', '--clinic', id, '--repair')).printed).toContain('1 difference, 1 repaired')
})
