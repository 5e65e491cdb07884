/** The operator's commands that import, change and verify records, against the running stack. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReadyClinic } from '../../bin/demo/load.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { calendarListPartition } from '../../shared/store/keys/calendar.ts'
import { issueCredential } from '../support/credentials.ts'
import {
  get,
  post,
  type RunningStack,
  runClinicTool,
  runStack,
  send,
  spawnClinicTool,
} from '../support/local-stack.ts'
import { newClinic } from '../support/table.ts'

let stack: RunningStack
let clinic: string
let pair: string
const folder = mkdtempSync(join(tmpdir(), 'operator-test-'))
/** The smaller of the demo clinics: a verification reads everything. */
const demoClinic = (): ReadyClinic => stack.clinics[1] as ReadyClinic
const tool = (...args: string[]) => runClinicTool(stack, ...args)

beforeAll(async () => {
  stack = await runStack()
  const created = await newClinic(stack.table)
  const { key, secret } = await issueCredential(stack.table, created)
  clinic = created.id
  pair = `${key}:${secret}`
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await stack.close()
})

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

describe('import', () => {
  it('imports valid rows, writes rejected rows with line and reason to a file, and exits with code 1', async () => {
    const path = file(
      'patients.csv',
      'external_id,first_name,last_name,phone_number\n1,Ada,Lang,+4915112345678\n2,Bo,,\n3,Cy,Moor,030 1234\n',
    )
    const { code, json, stderr } = await tool('--json', 'import', '--clinic', clinic, path)
    expect([code, json()]).toMatchObject([1, { imported: 1, updated: 0, unchanged: 0, rejected: 2 }])
    expect(stderr).toContain(`${path}:3: last_name is required`)
    expect(readFileSync(path.replace('.csv', '.rejected.csv'), 'utf8').trim().split('\n')).toEqual([
      'external_id,first_name,last_name,phone_number,reason',
      '2,Bo,,,last_name is required',
      '3,Cy,Moor,030 1234,"phone_number needs its country code: +49 171 1234567, not 0171... or 0049..."',
    ])
    expect((await get(stack, '/patients?search=ada%20lang', pair)).body.meta.total).toBe(1)
    const again = await tool('--json', 'import', '--clinic', clinic, path)
    expect(again.json()).toMatchObject({ imported: 0, unchanged: 1, rejected: 2 })
  })

  it('finds a record by its external id, and the external id by the id', async () => {
    const path = file('patients.csv', 'external_id,first_name,last_name\nTR-17,Ida,Berg\n')
    await tool('import', '--clinic', clinic, path)
    const find = (...by: string[]) =>
      tool('--json', 'find', '--clinic', clinic, '--entity', 'patients', ...by)
    const found = (await find('--external-id', 'TR-17')).json() as { id: string }
    expect((await get(stack, `/patients/${found.id}`, pair)).body.data).toMatchObject({ first_name: 'Ida' })
    expect((await find('--id', found.id)).json()).toEqual({ id: found.id, external_id: 'TR-17' })
    expect(await find('--external-id', 'TR-18')).toMatchObject({ code: 2 })
    expect(await find()).toMatchObject({ code: 2 })
  })

  it('erases a patient, lists the erasure, and finds nothing to replay from its own file', async () => {
    const { body } = await get(stack, '/patients?search=ida%20berg', pair)
    const { id } = body.data[0]
    const path = join(folder, 'erasures.ndjson')
    const erase = ['patient', 'erase', id, '--clinic', clinic]
    const refused = await spawnClinicTool(stack, ...erase)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('Without a terminal, use --yes'),
    ])
    expect((await get(stack, `/patients/${id}`, pair)).body.data.erased_at).toBeNull()
    expect(await tool(...erase, '--yes', '--confirm', 'Ida Berg')).toMatchObject({ code: 0 })
    const listed = await tool('--json', 'erasures', 'list', '--clinic', clinic, '--to', path)
    expect(listed.json()).toMatchObject({
      data: [{ clinic_id: clinic, patient_id: id, operator: 'local', is_finished: true }],
    })
    const replay = ['--json', 'erasures', 'replay', '--clinic', clinic]
    const counts = { erased: 0, already_erased: 1, unknown: 0 }
    expect((await tool(...replay, '--from', path)).json()).toEqual(counts)
    const name = stack.outputs.TableName ?? ''
    expect((await tool(...replay, '--source-table', name, '--table', name)).json()).toEqual(counts)
    expect(await tool(...replay)).toMatchObject({ code: 2 })
  })

  it('imports several files in the order that their references require', async () => {
    const files = [
      file('patients.ndjson', '{"external_id":"n1","first_name":"Di","last_name":"Fuchs"}\n'),
      file('doctors.csv', 'external_id,full_name\nd1,Dr. Uwe Ott\n'),
    ]
    const { code, json } = await tool('--json', 'import', '--clinic', clinic, ...files)
    expect(code).toBe(0)
    expect(json()).toMatchObject({ imported: 2, files: [{ file: files[1] }, { file: files[0] }] })
  })

  it('undoes nothing that happened since the file was imported, and rejects what was changed on both sides', async () => {
    const patients = (phone: string) =>
      file('patients.csv', `external_id,first_name,last_name,phone_number\nv1,Vera,Voss,${phone}\n`)
    const visits = file(
      'appointments.csv',
      'external_id,patient_external_id,doctor_external_id,appointment_date,start_time,end_time,status\n' +
        'v1,v1,v1,2031-03-03,09:00,09:30,scheduled\n',
    )
    const doctors = file('doctors.csv', 'external_id,full_name,hours\nv1,Dr. Ida Voss,mon 09:00-17:00\n')
    const load = (...args: string[]) => tool('--json', 'import', '--clinic', clinic, ...args)
    expect((await load(patients('+491711111111'), visits, doctors)).code).toBe(0)
    const { body } = await get(stack, '/appointments', pair)
    const [{ id, patient, doctor }] = body.data
    expect((await post(stack, `/appointments/${id}/cancel`, {}, { pair })).status).toBe(200)
    const time = { appointment_date: '2031-03-03', start_time: '09:00', duration: 30 }
    const booked = await post(
      stack,
      '/appointments',
      { ...time, patient_id: patient.id, doctor_id: doctor.id },
      { pair },
    )
    expect(booked.status).toBe(201)
    expect((await load(visits)).json()).toMatchObject({ imported: 0, updated: 0, unchanged: 1, rejected: 0 })
    expect((await get(stack, `/appointments/${id}`, pair)).body.data.status).toBe('cancelled')
    const phone = { phone_number: '+491722222222' }
    const headers = { authorization: `Developer ${pair}`, 'content-type': 'application/json' }
    const url = `${stack.api}/patients/${patient.id}`
    expect((await send(url, { method: 'PATCH', headers, body: JSON.stringify(phone) })).status).toBe(200)
    const changed = patients('+491733333333')
    const refused = await load(changed)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(':2: phone_number differs')])
    expect((await get(stack, `/patients/${patient.id}`, pair)).body.data).toMatchObject(phone)
    expect((await load('--overwrite', changed)).json()).toMatchObject({ updated: 1 })
    expect((await get(stack, `/patients/${patient.id}`, pair)).body.data.phone_number).toBe('+491733333333')
    expect((await tool('verify', '--clinic', clinic)).code).toBe(0)
  })

  it.each([
    ['a missing file', ['nowhere/patients.csv'], 'nowhere/patients.csv does not exist'],
    [
      'a name without a known extension',
      ['package.json'],
      'package.json: the name must end in .csv, .ndjson or .jsonl',
    ],
    [
      'a missing file with an unknown entity',
      ['--entity', 'horses', 'patients.csv'],
      'patients.csv does not exist',
    ],
  ])('exits with code 2 for %s', async (_, args, message) => {
    const { code, stderr } = await tool('import', '--clinic', clinic, ...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('exits with code 2 for a file without rows', async () => {
    const path = file('patients.csv', 'external_id,first_name,last_name\n')
    expect(await tool('import', '--clinic', clinic, path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the file has no rows'),
    })
  })

  it('requires --entity when the file name does not tell the entity', async () => {
    const path = file('people.csv', 'external_id,first_name,last_name\np1,Jo,Jung\n')
    expect(await tool('import', '--clinic', clinic, path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        'cannot tell the entity from the file name: rename the file, or use --entity. Valid entities are departments, doctors, holidays, rooms',
      ),
    })
    expect((await tool('import', '--clinic', clinic, '--entity', 'patients', path)).code).toBe(0)
  })
})

describe('records', () => {
  type Found = Record<string, any>
  const read = (path: string) => get(stack, path, demoClinic().credentials.full)
  const first = async (path: string): Promise<Found> => (await read(path)).body.data[0]
  const changed = (...args: string[]) => tool('--json', ...args, '--clinic', demoClinic().id)

  it('appointment set-status completes a scheduled appointment, and rejects a change of a final status', async () => {
    const one = await first('/appointments?status=scheduled')
    const total = async (status: string) => (await read(`/appointments?status=${status}`)).body.meta.total
    const before = [await total('scheduled'), await total('completed')] as [number, number]
    expect((await changed('appointment', 'set-status', one.id, 'completed')).json()).toEqual({
      ...one,
      status: 'completed',
      updated_at: expect.any(String),
    })
    expect((await changed('appointment', 'set-status', one.id, 'completed')).code).toBe(0)
    expect([await total('scheduled'), await total('completed')]).toEqual([before[0] - 1, before[1] + 1])
    const refused = await changed('appointment', 'set-status', one.id, 'cancelled')
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('The appointment is completed, which is final.'),
    ])
    expect((await changed('appointment', 'set-status', one.id, 'done')).stderr).toContain(
      'status must be one of scheduled, completed, cancelled, no_show',
    )
  })

  it('payment add settles the invoice, and adds nothing when repeated with its external id', async () => {
    const invoice = await first('/invoices?status=sent')
    const pay = () =>
      changed(
        'payment',
        'add',
        '--invoice',
        invoice.id,
        '--amount',
        String(invoice.balance_due),
        '--method',
        'cash',
        '--external-id',
        `till-${invoice.id}`,
        // The demo clinic's invoice also has a payment that is pending.
        '--yes',
      )
    const payment = (await pay()).json()
    expect(payment).toMatchObject({
      invoice_id: invoice.id,
      amount: invoice.total_amount,
      status: 'completed',
      type: 'payment',
    })
    expect((await pay()).json()).toEqual(payment)
    const { data } = (await read(`/invoices/${invoice.id}`)).body
    expect(data).toMatchObject({
      status: 'paid',
      balance_due: 0,
      paid_amount: invoice.total_amount,
      payments: expect.arrayContaining([payment]),
    })
    expect(data.paid_at).toBe(payment.created_at)
    expect(
      (await changed('payment', 'add', '--invoice', invoice.id, '--amount', '1.234', '--method', 'cash'))
        .stderr,
    ).toContain('--amount must be a positive number with at most 2 decimals in NPR')
    expect(
      (
        await changed(
          'payment',
          'add',
          '--invoice',
          invoice.id,
          '--amount',
          '10000000000000',
          '--method',
          'cash',
        )
      ).stderr,
    ).toContain('--amount is too large')
  })

  it('invoice set-status changes a sent invoice, and refuses to change a paid one', async () => {
    const [paid, sent] = [await first('/invoices?status=paid'), await first('/invoices?status=sent')]
    expect((await changed('invoice', 'set-status', sent.id, 'overdue')).json()).toEqual({
      ...sent,
      status: 'overdue',
      updated_at: expect.any(String),
    })
    const refused = await changed('invoice', 'set-status', paid.id, 'overdue')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('stays paid')])
    expect(await first('/invoices?status=paid')).toEqual(paid)
    expect((await changed('invoice', 'set-status', paid.id, 'paid')).stderr).toContain(
      'status must be one of draft, pending, sent, overdue, cancelled',
    )
  })

  it('patient update changes the name in every list; patient erase anonymizes it there', async () => {
    const { patient } = await first('/messages?channel=email')
    const everywhere = async () => {
      const lists = await Promise.all(
        ['appointments', 'invoices', 'payments', 'messages'].map((list) =>
          read(`/${list}?patient_id=${patient.id}&limit=100`),
        ),
      )
      return lists.flatMap(({ body }) => body.data as Found[])
    }
    const totals = async () =>
      Promise.all(
        ['appointments', 'invoices', 'payments', 'messages', 'patients'].map(
          async (list) => (await read(`/${list}`)).body.meta.total,
        ),
      )
    const before = await totals()
    expect((await changed('patient', 'update', patient.id, '--last-name', 'Umbenannt')).json()).toMatchObject(
      { last_name: 'Umbenannt' },
    )
    for (const record of await everywhere()) expect(record.patient.full_name).toMatch(/ Umbenannt$/)
    const name = (await everywhere())[0]?.patient.full_name
    expect((await read('/patients?search=umbenannt')).body.meta.total).toBe(1)
    expect((await changed('patient', 'erase', patient.id, '--yes', '--confirm', name)).json()).toMatchObject({
      full_name: 'Erased Patient',
      phone_number: null,
      email_address: null,
    })
    for (const record of await everywhere()) expect(record.patient.full_name).toBe('Erased Patient')
    expect((await read('/patients?search=umbenannt')).body.meta.total).toBe(0)
    expect(await totals()).toEqual(before)
    expect((await changed('patient', 'update', patient.id, '--last-name', 'Back')).code).toBe(2)
  })
})

describe('verify', () => {
  it('finds no difference after imports and changes', async () => {
    for (const id of [demoClinic().id, clinic]) {
      const { code, json } = await tool('--json', 'verify', '--clinic', id)
      expect([code, json()]).toMatchObject([0, { total: 0, repaired: 0, differences: [] }])
    }
  })

  it('finds and repairs a missing row', async () => {
    const patients = file('patients.csv', 'external_id,first_name,last_name\nv1,Eva,Noll\n')
    const invoices = file(
      'invoices.ndjson',
      '{"external_id":"v1","patient_external_id":"v1","invoice_number":"V-1","issue_date":"2026-05-01","line_items":[{"description":"Visit","unit_price":40}]}\n',
    )
    expect(await tool('import', '--clinic', clinic, patients, invoices)).toMatchObject({ code: 0 })
    const row = await stack.table.query({
      pk: calendarListPartition(clinic as ClinicId, 'I', null),
      limit: 1,
    })
    await stack.table.deleteMany(row)
    expect((await tool('verify', '--clinic', clinic)).code).toBe(1)
    expect((await tool('verify', '--clinic', clinic, '--repair')).code).toBe(0)
    expect((await tool('--json', 'verify', '--clinic', clinic)).json().total).toBe(0)
  })
})
