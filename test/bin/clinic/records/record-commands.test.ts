/** `list`, `show` and `find`: the filters of the API, ids of every kind, and what the access trail and errors contain. */
import { beforeAll, describe, expect, it } from 'vitest'
import { operatorTool } from '../../../../bin/clinic/program.ts'
import { listAppointments } from '../../../../shared/api/appointments.ts'
import { listInvoices } from '../../../../shared/api/invoices.ts'
import { listMessages } from '../../../../shared/api/messages.ts'
import { listPatients } from '../../../../shared/api/patients.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { readImportIds } from '../../../../shared/store/external-ids/derive.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { deployedTable, rejection } from '../../../support/deployed-stack.ts'
import {
  createPopulatedClinic,
  createRecord,
  createWebhookWithDeliveries,
  type PopulatedClinic,
  type WebhookWithDeliveries,
} from '../../../support/records.ts'
import { aPatient } from '../../../support/table.ts'

const { db, run } = deployedTable({ Cell: 'a' })
let mine: PopulatedClinic
let hooks: WebhookWithDeliveries
let other: { patient: string; appointment: string; invoice: string }

beforeAll(async () => {
  mine = await createPopulatedClinic(db.table, aPatient({ firstName: 'Ada', lastName: 'Kaya' }))
  const { clinic, appointment, invoice } = mine
  hooks = await createWebhookWithDeliveries(db.table, clinic)
  const patient = aPatient({ firstName: 'Bo', lastName: 'Berg', isActive: false, nationalId: 'B-17' })
  await patientWriter({ table: db.table }).createMany(clinic.id, [patient])
  const named = { id: patient.id, fullName: 'Bo Berg' }
  other = { patient: patient.id, appointment: newUuid(), invoice: newUuid() }
  await createRecord(db.table, clinic, appointmentStore(db), {
    ...appointment,
    id: other.appointment,
    patient: named,
    date: '2026-06-01',
    status: 'cancelled',
  })
  await createRecord(db.table, clinic, invoiceStore(db), {
    ...invoice,
    id: other.invoice,
    number: 'B/77',
    issueDate: '2026-06-01',
    patient: { ...named, email: null },
  })
})

const of = () => ['--clinic', mine.clinic.id]
async function json(...args: string[]) {
  const { code, printed, errors } = await run('--json', ...args, ...of())
  expect([code, errors]).toEqual([0, ''])
  return JSON.parse(printed)
}
const idsOf = async (...args: string[]): Promise<string[]> =>
  (await json(...args)).data.map(({ id }: { id: string }) => id)

describe('list', () => {
  it.each([
    ['patient', listPatients],
    ['appointment', listAppointments],
    ['invoice', listInvoices],
    ['message', listMessages],
  ])('of %s has an option for every parameter of the API, and no other', async (group, route) => {
    const program = await operatorTool({ env: {}, writeOut: () => {}, writeError: () => {} })
    const list = program.commands.find((one) => one.name() === group)?.commands
    const options = list?.find((one) => one.name() === 'list')?.options.map(({ long }) => long)
    // Records are printed without their patients: `patient show` prints these. `--outside` is `outside_hours`.
    const names = Object.keys(route.query.shape).filter((name) => !['expand', 'outside_hours'].includes(name))
    const parameters = names.map((name) => `--${name.replaceAll('_', '-')}`)
    // The operator alone has unresolved messages, and appointments outside working hours.
    const own: Record<string, string[]> = { message: ['--all', '--unresolved'], appointment: ['--outside'] }
    expect(options?.sort()).toEqual(['--clinic', ...(own[group] ?? []), ...parameters].sort())
  })

  it.each([
    [['appointment', 'list'], () => [other.appointment, mine.appointment.id]],
    [['appointment', 'list', '--status', 'scheduled'], () => [mine.appointment.id]],
    [['appointment', 'list', '--date-from', '2026-05-05'], () => [other.appointment]],
    [['appointment', 'list', '--limit', '1', '--page', '2'], () => [mine.appointment.id]],
    [['invoice', 'list', '--to', '2026-05-31'], () => [mine.invoice.id]],
    [['message', 'list', '--channel', 'email'], () => [mine.message.id]],
    [['patient', 'list', '--is-active', 'false'], () => [other.patient]],
    [['patient', 'list', '--search', 'kay'], () => [mine.patient.id]],
    [['patient', 'list', '--national-id', 'B-17'], () => [other.patient]],
    [['webhook', 'list'], () => [hooks.webhook.id]],
    [['appointment', 'list', '--patient-id', 'PATIENT'], () => [other.appointment]],
    [['appointment', 'list', '--doctor-id', newUuid()], () => []],
    [['delivery', 'list', 'WEBHOOK'], () => hooks.deliveries.map(({ id }) => id)],
  ])('applies the filters of %j', async (args, expected) => {
    const ids = new Map([
      ['WEBHOOK', hooks.webhook.id],
      ['PATIENT', other.patient],
    ])
    expect(await idsOf(...args.map((arg) => ids.get(arg) ?? arg))).toEqual(expected())
  })

  it('says that there is none if it is empty', async () => {
    const printed = async (...args: string[]) => (await run(...args, ...of())).printed
    expect(await printed('appointment', 'list', '--doctor-id', newUuid())).toBe('No appointments\n')
  })

  it('says how to continue, by page and by cursor', async () => {
    const { printed } = await run('appointment', 'list', '--limit', '1', ...of())
    expect(printed).toContain(
      'Bo Berg  Dr. Bo Lind\nTimes are in Europe/Istanbul. 2 appointments, page 1 of 2. Next: --page 2\n',
    )
    const { meta } = await json('appointment', 'list', '--limit', '1')
    const rest = await run('appointment', 'list', '--limit', '1', '--after', meta.next_after, ...of())
    expect(rest.printed).toContain(mine.appointment.id)
    expect(rest.printed.split('\n').at(-2)).toBe('Times are in Europe/Istanbul. 1 appointment.')
  })

  it.each([
    [['appointment', 'list', '--status', 'done'], '--status must be one or more of scheduled,'],
    [['appointment', 'list', '--date-from', '5.5.2026'], '--date-from must be a date that exists'],
    [
      ['invoice', 'list', '--from', '2026-05-02', '--to', '2026-05-01', '--limit', '0'],
      '--limit must be a whole number from 1 to 100\n--from must not be after to',
    ],
    [['invoice', 'list', '--after', 'abc'], '--after must be the next_after of an earlier response'],
    [
      ['patient', 'list', '--updated-since', 'today'],
      '--updated-since must be a timestamp with an offset or Z, such as 2026-05-01T10:00:00+03:00\n',
    ],
    [['delivery', 'list', 'none'], 'The clinic has no webhook endpoint with this id.'],
  ])('rejects %j', async (args, message) => {
    const { code, printed, errors } = await run(...args, ...of())
    expect([code, printed]).toEqual([2, ''])
    expect(errors).toContain(message)
  })
})

describe('show', () => {
  it('shows a record as the API returns it, an invoice with its payments', async () => {
    expect((await json('invoice', 'show', mine.invoice.id)).data).toMatchObject({
      id: mine.invoice.id,
      balance_due: 100,
      payments: [{ id: mine.payment.id }],
    })
    expect((await json('patient', 'show', other.patient)).data).toMatchObject({ national_id: 'B-17' })
    expect((await json('webhook', 'show', hooks.webhook.id)).data).not.toHaveProperty('secret')
  })
})

describe('a command about a record', () => {
  let foreign: Record<string, { id: string }>
  beforeAll(async () => {
    const records = await createPopulatedClinic(db.table)
    const webhook = await createWebhook(db.table, records.clinic.id)
    foreign = { ...records, webhook }
  })

  it.each([
    ['patient', 'show'],
    ['patient', 'link', '--external-id', 'TR-1'],
    ['appointment', 'show'],
    ['invoice', 'show'],
    ['invoice', 'update', '--number', '7'],
    ['message', 'resolve', '--as', 'sent'],
    ['webhook', 'show'],
    ['webhook', 'update', '--no-active'],
    ['webhook', 'delete'],
    ['webhook', 'health'],
  ])(
    'says where to find a %s to %s if the id is wrong, or of another clinic',
    async (group, name, ...more) => {
      const rejected = (id: string) => rejection(run(group, name, id, ...more, ...of()))
      const { id = '' } = foreign[group] ?? {}
      expect(await rejected(id)).toContain(`${id}. Find it with "${group} find" or "${group} list".`)
      expect(await rejected('Ada Kaya')).toMatch(/^The clinic has no [a-z ]+ with this id\./)
    },
  )
})

describe('find', () => {
  it.each([
    [['patient', 'find', 'kaya'], () => [mine.patient.id]],
    [['appointment', 'find', 'berg'], () => [other.appointment]],
    [['message', 'find', 'kaya'], () => [mine.message.id]],
    [['invoice', 'find', 'B/77'], () => [other.invoice]],
    [['invoice', 'find', 'kaya'], () => [mine.invoice.id]],
    [['webhook', 'find', '.EXAMPLE.'], () => [hooks.webhook.id]],
  ])('%j', async (args, expected) => {
    expect(await idsOf(...args)).toEqual(expected())
  })

  it('finds a record by its id, and by the id in the clinic’s own system, which the trail does not contain', async () => {
    expect(await idsOf('invoice', 'find', mine.invoice.id)).toEqual([mine.invoice.id])
    const external = newUuid()
    const id = (await readImportIds(db.table, mine.clinic.id))('appointment', external)
    await createRecord(db.table, mine.clinic, appointmentStore(db), {
      ...mine.appointment,
      id,
      date: '2025-01-01',
      status: 'completed',
    })
    const { printed, lines } = await run('appointment', 'find', '--external-id', external, ...of())
    expect(printed).toContain(id)
    expect(lines[1]?.records).toContain(id)
    expect(JSON.stringify(lines)).not.toContain(external)
    expect(await rejection(run('appointment', 'find', '--external-id', '7', ...of()))).toBe(
      'The clinic has no appointment with this id in its own system. It is compared exactly, with zeros and spaces.\n',
    )
  })

  it('says what it compares if nothing matches, without repeating what was typed', async () => {
    const { code, errors, lines } = await run('invoice', 'find', 'Nemo', ...of())
    expect([code, errors]).toEqual([
      2,
      'The clinic has no such invoice. "invoice find" compares the number, or the patient\'s name, phone number or email address.\n',
    ])
    expect(JSON.stringify(lines)).not.toContain('Nemo')
    expect((await run('patient', 'find', ...of())).errors).toBe('Specify either a text or --external-id.\n')
    expect(await rejection(run('patient', 'find', 'x'.repeat(201), ...of()))).toBe(
      'The text must have at most 200 characters.\n',
    )
  })
})

describe('errors with --json', () => {
  const errorOf = async (...args: string[]) => {
    const { code, printed, errors } = await run(...args)
    return { code, printed, error: JSON.parse(errors).error }
  }

  it('are one JSON object, for wrong input and for wrong usage', async () => {
    expect(await errorOf('--json', 'clinic', 'update', '--clinic', newUuid(), '--name', 'X')).toMatchObject({
      code: 2,
      printed: '',
      error: { message: expect.stringMatching(/^Clinic .*exist/), exit_code: 2 },
    })
    expect((await errorOf('patient', 'list', '--json')).error).toEqual({
      message: 'Specify the clinic with --clinic, or in CLINIC.',
      exit_code: 2,
    })
    expect((await errorOf('--json')).error.message).toContain('incomplete')
    expect((await errorOf('nonsense', '--json')).error.message).toContain("unknown command 'nonsense'")
  })

  it('never repeat the secret of a credential, nor do errors as text', async () => {
    const pasted = 'ck_a_abcdefghijkl:cs_q83kzTnY0rW3x9cT2nEr'
    for (const args of [
      ['credential', pasted],
      ['clinic', 'update', '--clinic', pasted, '--name', 'X'],
      ['patient', 'list', pasted, '--clinic', mine.clinic.id],
    ])
      for (const more of [[], ['--json']]) {
        const { code, printed, errors, lines } = await run(...args, ...more)
        expect(code).toBe(2)
        expect(printed + errors + JSON.stringify(lines)).not.toContain('q83kz')
      }
  })
})
