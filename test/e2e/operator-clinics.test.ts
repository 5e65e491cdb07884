/** The operator's commands about clinics, credentials and doctors, against the running stack. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Clinic, ClinicId } from '../../shared/domain/clinic.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, type RunningStack, runClinicTool, runStack, spawnClinicTool } from '../support/local-stack.ts'
import { aPatient } from '../support/table.ts'

let stack: RunningStack
let clinic: string
let credential: { key: string; secret: string }
const tool = (...args: string[]) => runClinicTool(stack, ...args)
const pair = () => `${credential.key}:${credential.secret}`

beforeAll(async () => {
  stack = await runStack()
  clinic = (
    await tool(
      '--json',
      'clinic',
      'create',
      '--name',
      'Praxis Nord',
      '--timezone',
      'Europe/Berlin',
      '--currency',
      'eur',
    )
  ).json().id
  credential = (
    await tool('--json', 'credential', 'create', '--clinic', clinic, '--name', 'Site', '--scopes', 'all')
  ).json()
})
afterAll(() => stack.close())

describe('clinics', () => {
  it('are listed together', async () => {
    const { data } = (await tool('clinic', 'list', '--json')).json()
    expect(data).toContainEqual({
      id: clinic,
      name: 'Praxis Nord',
      timezone: 'Europe/Berlin',
      currency: 'EUR',
      duration_minutes: 30,
      address: null,
      phone_number: null,
      email_address: null,
      website: null,
      sms_per_day: null,
      emails_per_day: null,
      sms_countries: null,
      messages_per_recipient: null,
      email_from_name: null,
      reply_to: null,
      paused_at: null,
      pause_in_effect_at: null,
      deleting_at: null,
      created_at: expect.stringMatching(/\+0[12]:00$/),
    })
    expect(data.length).toBe(3)
  })

  it('can be changed, with effect on the next request', async () => {
    const patient = aPatient({ lastName: 'Zone', createdAt: '2026-01-01T12:00:00Z' })
    await patientWriter(stack).createMany(clinic as ClinicId, [patient])
    const shown = async () => (await get(stack, '/patients?search=zone', pair())).body.data[0].created_at
    expect(await shown()).toBe('2026-01-01T13:00:00+01:00')
    expect((await tool('clinic', 'set', clinic, '--timezone', 'America/St_Johns')).code).toBe(0)
    expect(await shown()).toBe('2026-01-01T08:30:00-03:30')
    await tool('clinic', 'set', clinic, '--timezone', 'Europe/Berlin')
  })

  it.each([
    [
      ['clinic', 'create', '--name', 'X', '--timezone', 'Mars/Base', '--currency', 'EUR'],
      '--timezone must be an IANA time zone',
    ],
    [
      ['clinic', 'create', '--name', 'X', '--timezone', 'UTC', '--currency', 'EURO'],
      '--currency must be an ISO 4217 code',
    ],
    [
      ['clinic', 'create', '--name', ' ', '--timezone', 'UTC', '--currency', 'EUR'],
      '--name must not be empty',
    ],
    [
      ['clinic', 'create', '--name', 'X', '--timezone', 'UTC'],
      "required option '--currency <code>' not specified",
    ],
    [['clinic', 'set', 'nothing', '--name', 'X'], 'Clinic nothing does not exist'],
    [
      ['credential', 'create', '--clinic', 'nothing', '--name', 'X', '--scopes', 'all'],
      'Clinic nothing does not exist',
    ],
    [['credential', 'revoke', 'ck_nothing'], 'Credential ck_nothing does not exist'],
    [['nonsense'], "unknown command 'nonsense'"],
  ])('exit with code 2 on wrong input: %j', async (args, message) => {
    const { code, stderr, stdout } = await tool(...args)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(message)
  })

  it('name an unknown scope and list the known ones', async () => {
    const { code, stderr } = await tool(
      'credential',
      'create',
      '--clinic',
      clinic,
      '--name',
      'X',
      '--scopes',
      'patient.read,patient.delete',
    )
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('--scopes: unknown scope patient.delete. Valid scopes are patient.read, '),
    ])
  })

  it.each([[[]], [['clinic']], [['clinic', 'create']], [['import']], [['credential', 'create']]])(
    'print usage for %j --help',
    async (args) => {
      const { code, stdout } = await tool(...args, '--help')
      expect([code, stdout]).toEqual([0, expect.stringContaining('Usage: clinic')])
    },
  )

  it('print to the standard streams and set the exit code when the tool runs as a process', async () => {
    const listed = await spawnClinicTool(stack, 'clinic', 'list', '--json')
    expect(listed).toMatchObject({ code: 0, stderr: '' })
    expect(listed.json()).toEqual((await tool('clinic', 'list', '--json')).json())
    const refused = await spawnClinicTool(stack, 'clinic', 'set', 'nothing', '--name', 'X')
    expect(refused).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Clinic nothing does not exist'),
    })
  })

  it('explain how to start a stack when none responds', async () => {
    const { code, stderr } = await tool('--port', '1', 'clinic', 'list')
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('No local stack is running on port 1. Start one with "npm start"'),
    ])
  })
})

describe('credentials', () => {
  it('are listed without secrets, with the hour of their last use', async () => {
    await get(stack, '/doctors', pair())
    const { stdout, json } = await tool('credential', 'list', '--clinic', clinic, '--json')
    expect(json().data).toContainEqual(
      expect.objectContaining({
        key: credential.key,
        name: 'Site',
        revoked_at: null,
        last_used_at: expect.stringMatching(/:\d\d:\d\d[+-]\d\d:\d\d$/),
      }),
    )
    expect(stdout).not.toContain(credential.secret)
  })

  it('are rejected from the first request after they are revoked', async () => {
    const make = ['credential', 'create', '--clinic', clinic, '--name', 'Old', '--scopes', 'patient.read']
    const { key, secret } = (await tool('--json', ...make)).json()
    expect((await get(stack, '/patients', `${key}:${secret}`)).status).toBe(200)
    const [first, again] = [
      await tool('--json', 'credential', 'revoke', key),
      await tool('--json', 'credential', 'revoke', key),
    ]
    expect(again.json().revoked_at).toBe(first.json().revoked_at)
    expect((await get(stack, '/patients', `${key}:${secret}`)).status).toBe(401)
  })

  it('are rejected after they expire', async () => {
    const owner = { id: clinic } as Clinic
    const expired = await issueCredential(stack.table, owner, ['patient.read'], '2026-01-01T00:00:00Z')
    const later = ['--expires', '2999-01-01T00:00:00+03:00']
    const { key, secret } = (await tool('--json', 'credential', 'update', credential.key, ...later)).json()
    const statusOf = async (pair: string) => (await get(stack, '/doctors', pair)).status
    expect([key, secret]).toEqual([credential.key, undefined])
    expect([await statusOf(`${expired.key}:${expired.secret}`), await statusOf(pair())]).toEqual([401, 200])
  })

  it('are accepted with both secrets after a rotation, unless the previous one ends now', async () => {
    const make = ['credential', 'create', '--clinic', clinic, '--name', 'Rotated', '--scopes', 'patient.read']
    const { key, secret } = (await tool('--json', ...make)).json()
    const rotate = async (...more: string[]) =>
      (await tool('--json', 'credential', 'rotate', key, ...more)).json().secret
    const statuses = (...secrets: string[]) =>
      Promise.all(secrets.map(async (one) => (await get(stack, '/patients', `${key}:${one}`)).status))
    const second = await rotate()
    expect(await statuses(secret, second)).toEqual([200, 200])
    const third = await rotate('--until', 'now', '--end-previous')
    expect(await statuses(secret, second, third)).toEqual([401, 401, 200])
  })

  it('are limited to their own rate', async () => {
    const make = ['credential', 'create', '--clinic', clinic, '--name', 'Slow', '--scopes', 'all']
    const { key, secret } = (await tool('--json', ...make, '--rate', '3')).json()
    const answers = []
    for (let n = 0; n < 10; n++) answers.push(await get(stack, '/doctors', `${key}:${secret}`))
    const limited = answers.filter(({ status }) => status === 429)
    // The requests span at most two minutes, and three are accepted in each.
    expect(limited.length).toBeGreaterThanOrEqual(4)
    expect(limited[0]).toMatchObject({
      body: { error: 'RATE_LIMITED' },
      headers: { 'retry-after': expect.stringMatching(/^\d+$/), 'ratelimit-policy': '"default";q=3;w=60' },
    })
  })
})

describe('doctors', () => {
  it('are added with weekly hours, and can be deactivated', async () => {
    const added = await tool(
      '--json',
      'doctor',
      'add',
      '--clinic',
      clinic,
      '--name',
      'Dr. Eva Noll',
      '--hours',
      'mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00',
    )
    const doctor = added.json()
    expect(doctor.hours).toBe('mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00')
    expect((await get(stack, '/doctors', pair())).body.data).toEqual([
      {
        ...{ id: doctor.id, full_name: 'Dr. Eva Noll', specialty: null, department_id: null },
        ...{ is_active: true, updated_at: expect.any(String) },
      },
    ])
    expect((await tool('doctor', 'deactivate', doctor.id, '--clinic', clinic)).code).toBe(0)
    expect((await get(stack, '/doctors', pair())).body.data).toMatchObject([{ is_active: false }])
    expect((await tool('doctor', 'list', '--clinic', clinic)).stdout).toContain('Dr. Eva Noll  inactive')
  })

  it('are listed with their hours, breaks and time off', async () => {
    const times = ['--hours', 'mon 09:00-18:00', '--breaks', 'mon 12:00-13:00']
    const off = ['--time-off', '2026-12-24/2026-12-26; 2027-01-01']
    await tool('doctor', 'add', '--clinic', clinic, '--name', 'Dr. Ida Rot', ...times, ...off)
    expect((await tool('doctor', 'list', '--clinic', clinic)).stdout).toContain(
      'active    mon 09:00-18:00, breaks mon 12:00-13:00, off 2026-12-24/2026-12-26; 2027-01-01',
    )
  })

  it('exit with code 2 when the hours are malformed', async () => {
    const { code, stderr } = await tool(
      'doctor',
      'add',
      '--clinic',
      clinic,
      '--name',
      'X',
      '--hours',
      'mon 9-17',
    )
    expect([code, stderr]).toEqual([2, expect.stringContaining('--hours "mon 9-17"')])
  })
})

describe('the contact details of a clinic', () => {
  it('are shown by GET /clinic once they are set, and can be removed', async () => {
    const shown = async () => (await get(stack, '/clinic', pair())).body.data
    const none = { address: null, phone_number: null, email_address: null, website: null }
    expect(await shown()).toMatchObject(none)
    const { code } = await tool(
      ...['clinic', 'set', clinic, '--address', 'Hauptstr. 1, Kiel', '--phone', '+49 431 555012'],
      ...['--email', 'praxis@example.com', '--website', 'https://praxis.example.com/'],
    )
    expect(code).toBe(0)
    expect(await shown()).toMatchObject({
      address: 'Hauptstr. 1, Kiel',
      phone_number: '+49431555012',
      email_address: 'praxis@example.com',
      website: 'https://praxis.example.com/',
    })
    await tool('clinic', 'set', clinic, '--default', 'address', 'phone', 'email', 'website')
    expect(await shown()).toMatchObject(none)
  })

  it('are refused when they are malformed', async () => {
    for (const [option, value] of [
      ['--website', 'praxis.example.com'],
      ['--website', 'ftp://praxis.example.com/'],
      ['--phone', '0431 555012'],
      ['--email', 'praxis'],
      ['--address', ' '],
    ] as const) {
      const { code, stderr } = await tool('clinic', 'set', clinic, option, value)
      expect([code, stderr]).toEqual([2, expect.stringContaining(option)])
    }
  })
})

describe('message settings of a clinic', () => {
  const required = ['--name', 'Praxis', '--timezone', 'Europe/Berlin', '--currency', 'EUR', '--yes']

  it('are set at creation, or default to those of the stage', async () => {
    const plain = (await tool('--json', 'clinic', 'create', ...required)).json()
    expect(plain).toMatchObject({ sms_per_day: null, emails_per_day: null, sms_countries: null })
    const limited = await tool(
      ...['--json', 'clinic', 'create', ...required],
      ...['--sms-per-day', '20', '--emails-per-day', '1000000', '--sms-countries', 'tr, DE,tr'],
    )
    const limits = { sms_per_day: 20, emails_per_day: 1_000_000, sms_countries: ['TR', 'DE'] }
    expect(limited.json()).toMatchObject(limits)
    expect((await tool('--json', 'clinic', 'list')).json().data).toContainEqual(limited.json())
  })

  it('change one at a time', async () => {
    const { id } = (await tool('--json', 'clinic', 'create', ...required)).json()
    const set = async (...args: string[]) => (await tool('--json', 'clinic', 'set', id, ...args)).json()
    expect(await set('--sms-per-day', '5')).toMatchObject({ sms_per_day: 5, emails_per_day: null })
    expect(await set('--sms-countries', 'gb')).toMatchObject({ sms_per_day: 5, sms_countries: ['GB'] })
    expect(await set('--emails-per-day', '7')).toMatchObject({
      sms_per_day: 5,
      emails_per_day: 7,
      sms_countries: ['GB'],
    })
    expect(await set('--messages-per-recipient', '3')).toMatchObject({ messages_per_recipient: 3 })
    expect(await set('--email-from-name', 'Dr. Ada Kaya', '--reply-to', 'desk@praxis.example')).toMatchObject(
      {
        messages_per_recipient: 3,
        email_from_name: 'Dr. Ada Kaya',
        reply_to: 'desk@praxis.example',
      },
    )
  })

  it('return to their defaults', async () => {
    const given = [
      '--sms-per-day',
      '5',
      '--email-from-name',
      'Dr. Ada Kaya',
      '--reply-to',
      'desk@praxis.example',
    ]
    const { id } = (await tool('--json', 'clinic', 'create', ...required, ...given)).json()
    const set = async (...args: string[]) => (await tool('--json', 'clinic', 'set', id, ...args)).json()
    expect(await set('--name', 'Praxis Ost', '--default', 'email-from-name', 'reply-to')).toMatchObject({
      ...{ name: 'Praxis Ost', sms_per_day: 5, email_from_name: null, reply_to: null },
    })
    expect(await set('--default', 'sms-per-day')).toMatchObject({ sms_per_day: null })
    expect((await tool('--json', 'clinic', 'list')).json().data).toContainEqual(
      expect.objectContaining({ id, name: 'Praxis Ost', sms_per_day: null, reply_to: null }),
    )
    const both = await tool('clinic', 'set', id, '--sms-per-day', '4', '--default', 'sms-per-day')
    expect([both.code, both.stderr]).toEqual([2, 'Use --sms-per-day or --default sms-per-day, not both.\n'])
    expect((await tool('clinic', 'set', id, '--default', 'currency')).code).toBe(2)
  })

  it.each([
    [['--sms-per-day', '0'], '--sms-per-day must be at least 1'],
    [['--sms-per-day', '1.5'], '--sms-per-day must be a whole number'],
    [['--emails-per-day', '1000001'], '--emails-per-day must be at most 1000000'],
    [['--emails-per-day', 'many'], '--emails-per-day must be a number'],
    [['--messages-per-recipient', '0'], '--messages-per-recipient must be at least 1'],
    [['--email-from-name', 'Praxis\r\nBcc: b@example.com'], '--email-from-name must not contain control'],
    [['--email-from-name', '\u200b'], '--email-from-name must have a visible character'],
    [['--email-from-name', 'Praxis \u202edroN'], '--email-from-name must not contain directional overrides'],
    [['--reply-to', 'desk@praxis.example\r\nBcc: b@example.com'], '--reply-to must not contain control'],
    [['--reply-to', 'desk@praxis.example,b@example.com'], '--reply-to must be an email address'],
    [['--reply-to', 'Desk <desk@praxis.example>'], '--reply-to must be an email address'],
    [['--sms-countries', 'TR,XX'], '--sms-countries must be ISO 3166 codes'],
    [['--sms-countries', ''], '--sms-countries must be ISO 3166 codes'],
  ])('exit with code 2 on %j', async (args, message) => {
    expect(await tool('clinic', 'create', ...required, ...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message),
    })
  })
})
