import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { verifyClinic } from '../../shared/maintenance/verify/verify-clinic.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { readImportIds } from '../../shared/store/external-ids/derive.ts'
import { ANNOUNCED_PARTITION_PREFIX } from '../../shared/store/keys/events.ts'
import { externalIdLinksPartition } from '../../shared/store/keys/external-ids.ts'
import { allItems } from '../support/all-items.ts'
import { INTEGRATOR_SCOPES, issueCredential } from '../support/credentials.ts'
import { deployedTable } from '../support/deployed-stack.ts'
import { schemaError } from '../support/document-conformance.ts'
import { request, stubFunctionEnvironment } from '../support/functions.ts'
import { importRecords, writeRows } from '../support/imports.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const { db, run, runAsked } = deployedTable()
const folder = temporaryFolder()

let mine: PopulatedClinic
let headers: Record<string, string>
beforeEach(async () => {
  stubFunctionEnvironment(db.name)
  mine = await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, mine.clinic, INTEGRATOR_SCOPES)).headers
})

type Kind = 'patient' | 'appointment'

const KINDS: readonly Kind[] = ['patient', 'appointment']

async function ask(id: string, body?: object, path?: string, more: Record<string, string> = {}) {
  return request(id, {
    ...(path && { path: { id: path } }),
    headers: { ...headers, ...more },
    body: body ?? {},
  })
}

let day = 0
const bodyOf = (kind: Kind): object =>
  kind === 'patient'
    ? { first_name: 'Ada', last_name: 'Kaya' }
    : {
        patient_id: mine.patient.id,
        doctor_id: mine.doctor.id,
        // A Monday of its own.
        appointment_date: new Date(Date.UTC(2031, 0, 6 + 7 * day++)).toISOString().slice(0, 10),
        start_time: '09:00',
      }
/** A row of a file, without its external id. */
const rowOf = (kind: Kind): object =>
  kind === 'patient'
    ? { first_name: 'New', last_name: 'Name' }
    : {
        patient_external_id: mine.patient.id,
        doctor_external_id: mine.doctor.id,
        appointment_date: '2031-12-01',
        start_time: '10:00',
        end_time: '10:30',
      }
const create = (kind: Kind, external_id: string | null, more: object = {}, headers = {}) =>
  ask(`create-${kind}`, { ...bodyOf(kind), external_id, ...more }, undefined, headers)
const update = (kind: Kind, id: string, body: object) => ask(`update-${kind}`, body, id)
const find = async (kind: Kind, external_id: string, query: object = {}) =>
  request(`list-${kind}s`, { query: { external_id, ...query }, headers })
const foundIds = async (kind: Kind, externalId: string): Promise<string[]> =>
  (await find(kind, externalId)).body.data.map(({ id }: { id: string }) => id)
const differences = async () =>
  (await verifyClinic(db.table, mine.clinic.id, { repair: false, onDifference: () => {} })).differences
const links = async () =>
  (await allItems(db)).filter(({ pk }) => pk === externalIdLinksPartition(mine.clinic.id))

async function load(name: string, rows: object[], options = {}) {
  const file = join(folder, `${name}.ndjson`)
  writeRows(file, rows)
  return importRecords(db.table, mine.clinic, name, file, options)
}

describe.each(KINDS)('the external id of %s records', (kind) => {
  it('is unique, found, changed and removed', async () => {
    const made = await create(kind, ' X 1 ')
    expect([made.status, made.body.data.external_id]).toEqual([201, 'X 1'])
    const { id } = made.body.data
    expect((await find(kind, 'X 1')).body).toMatchObject({
      data: [{ id, external_id: 'X 1' }],
      meta: { page: 1, total: 1, total_pages: 1, next_after: null },
    })
    const taken = await create(kind, 'X 1')
    expect([taken.status, taken.body]).toEqual([
      409,
      {
        error: 'CONFLICT',
        message: 'errors.developer_api.external_id_taken',
        details: [{ field: 'external_id', id }],
      },
    ])
    const schema = { $ref: '#/components/schemas/ExternalIdTakenError' }
    expect(schemaError(schema, taken.body)).toBeNull()
    const other = (await create(kind, null)).body.data.id
    expect((await update(kind, other, { external_id: 'X 1' })).status).toBe(409)
    expect((await update(kind, id, { external_id: 'X 2' })).body.data.external_id).toBe('X 2')
    expect((await update(kind, other, { external_id: 'X 1' })).status).toBe(200)
    expect([await foundIds(kind, 'X 1'), await foundIds(kind, 'X 2')]).toEqual([[other], [id]])
    expect((await update(kind, id, { external_id: null })).body.data.external_id).toBeNull()
    expect(await foundIds(kind, 'X 2')).toEqual([])
    expect(await links()).toHaveLength(1)
    expect(await differences()).toBe(0)
  })

  it('is the same in each form of Unicode', async () => {
    const [composed, decomposed] = ['é 1'.normalize('NFC'), 'é 1'.normalize('NFD')]
    const { id } = (await create(kind, decomposed)).body.data
    expect((await create(kind, composed)).body.details).toEqual([{ field: 'external_id', id }])
    expect([await foundIds(kind, composed), await foundIds(kind, decomposed)]).toEqual([[id], [id]])
    expect((await update(kind, id, { external_id: composed })).body.data.external_id).toBe(composed)
    expect((await create(kind, decomposed)).status).toBe(409)
    expect(await differences()).toBe(0)
  })

  it('is given to one of several requests at the same time', async () => {
    const made = await Promise.all(Array.from({ length: 6 }, () => create(kind, 'race')))
    const statuses = made.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    const winner = made.find(({ status }) => status === 201)?.body.data.id
    for (const { status, body } of made)
      if (status !== 201) expect(body.details).toEqual([{ field: 'external_id', id: winner }])
    const records = await Promise.all(Array.from({ length: 4 }, () => create(kind, null)))
    const moved = await Promise.all(
      records.map(({ body }) => update(kind, body.data.id, { external_id: 'race 2' })),
    )
    expect(moved.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await differences()).toBe(0)
  })

  it('is set once by a request that is sent again with its idempotency key', async () => {
    const body = { ...bodyOf(kind), external_id: 'again' }
    const send = () => ask(`create-${kind}`, body, undefined, { 'idempotency-key': 'k' })
    const responses = await Promise.all([send(), send(), send()])
    responses.push(await send())
    expect(new Set(responses.map(({ body }) => body.data?.id)).size).toBe(1)
  })

  it('is of one clinic, and stays out of events and keys', async () => {
    await create(kind, 'CANARY-X')
    const elsewhere = await createPopulatedClinic(db.table)
    const { headers: theirs } = await issueCredential(db.table, elsewhere.clinic, INTEGRATOR_SCOPES)
    headers = theirs
    expect(await foundIds(kind, 'CANARY-X')).toEqual([])
    const items = await allItems(db)
    const announced = items.filter(({ pk }) => pk.startsWith(ANNOUNCED_PARTITION_PREFIX))
    const keys = items.map(({ pk, sk }) => `${pk} ${sk}`)
    expect(JSON.stringify([announced, keys])).not.toContain('CANARY-X')
  })

  it.each([
    ['', 400],
    ['x'.repeat(101), 400],
    ['a\u200bb', 400],
    ['a\ufffdb', 400],
    ['a  b', 400],
    ['ç 1', 200],
  ])(
    'is checked by one rule in filters, POST, PATCH, imports and commands: %j',
    async (externalId, status) => {
      const isValid = status === 200
      expect((await find(kind, externalId)).status).toBe(status)
      const { id } = (await create(kind, null)).body.data
      expect((await update(kind, id, { external_id: externalId })).status).toBe(isValid ? 200 : 422)
      expect((await update(kind, id, { external_id: null })).status).toBe(200)
      const { rejections } = await load(`${kind}s`, [{ external_id: externalId, ...rowOf(kind) }])
      expect(rejections).toEqual(isValid ? [] : [expect.stringMatching(/^1: external_id (must|has)/)])
      const link = [kind, 'link', id, '--external-id', externalId, '--clinic', mine.clinic.id]
      expect(/^--external-id must/.test((await run(...link)).errors)).toBe(!isValid)
      await update(kind, (await foundIds(kind, 'ç 1'))[0] ?? id, { external_id: null })
      expect((await create(kind, externalId)).status).toBe(isValid ? 201 : 422)
    },
  )

  it('is taken if it is the id of another record, made by the API or by an import, and free elsewhere', async () => {
    await load(`${kind}s`, [{ external_id: 'I-1', ...rowOf(kind) }])
    const imported = (await readImportIds(db.table, mine.clinic.id))(kind, 'I-1')
    const made = (await create(kind, 'X-1')).body.data.id
    const { id } = (await create(kind, null)).body.data
    const confirm = (externalId: string) =>
      run(kind, 'link', id, '--external-id', externalId, '--clinic', mine.clinic.id)
    for (const other of [made, imported]) {
      for (const externalId of [other, other.toUpperCase()])
        for (const { status, body } of [
          await create(kind, externalId),
          await update(kind, id, { external_id: externalId }),
        ])
          expect([status, body.details]).toEqual([409, [{ field: 'external_id', id: other }]])
      expect((await confirm(other)).errors).toContain(`belongs to ${kind} ${other}`)
    }
    expect(await differences()).toBe(0)
    const elsewhere = await createPopulatedClinic(db.table)
    headers = (await issueCredential(db.table, elsewhere.clinic, INTEGRATOR_SCOPES)).headers
    mine = elsewhere
    expect((await create(kind, made)).status).toBe(201)
    expect(await foundIds(kind, made)).toHaveLength(1)
    expect((await update(kind, mine[kind].id, { external_id: mine[kind].id })).status).toBe(200)
  })

  it('is sent with limit alone', async () => {
    expect((await find(kind, 'x', { limit: '5' })).status).toBe(200)
    for (const name of ['page', 'after'])
      expect((await find(kind, 'x', { [name]: '1' })).body.details).toEqual([
        { field: name, issue: 'must not be combined with external_id' },
      ])
  })

  it('is not overwritten by an import, until an operator confirms it', async () => {
    const { id } = (await create(kind, 'X-1')).body.data
    const row = { external_id: 'X-1', ...rowOf(kind) }
    for (const overwrite of [false, true])
      expect(await load(`${kind}s`, [row], { overwrite })).toMatchObject({
        imported: 0,
        reasons: [expect.stringContaining('linked_by_api')],
      })
    const confirm = () => run(kind, 'link', id, '--external-id', 'X-1', '--clinic', mine.clinic.id)
    expect((await confirm()).printed).toContain(`Linked ${kind} ${id}`)
    expect(await load(`${kind}s`, [row], { overwrite: true })).toMatchObject({ updated: 1 })
    expect(await foundIds(kind, 'X-1')).toEqual([id])
    expect(await differences()).toBe(0)
  })

  it('needs no confirmation for a row that names the record by its own id, with white space around it too', async () => {
    const { id } = (await create(kind, 'X-1')).body.data
    for (const named of [{ id }, { id: ` ${id.toUpperCase()} ` }, { external_id: ` ${id} ` }]) {
      const row = { ...named, ...rowOf(kind) }
      expect(await load(`${kind}s`, [row])).toMatchObject({
        reasons: [expect.stringContaining('which no import has written; import the row with --overwrite')],
      })
    }
    expect(await load(`${kind}s`, [{ id, ...rowOf(kind) }], { overwrite: true })).toMatchObject({
      updated: 1,
    })
    expect(await foundIds(kind, 'X-1')).toEqual([id])
    const other = {
      external_id: 'X-1',
      ...rowOf(kind),
      ...(kind === 'patient' ? { notes: 'x' } : { end_time: '11:00' }),
    }
    expect((await load(`${kind}s`, [other], { overwrite: true })).reasons).toEqual([
      expect.stringContaining('linked_by_api'),
    ])
    expect(await differences()).toBe(0)
  })

  it('of an imported record is the same namespace, and changed by requests', async () => {
    const row = { external_id: 'I-1', ...rowOf(kind) }
    await load(`${kind}s`, [row])
    const id = (await readImportIds(db.table, mine.clinic.id))(kind, 'I-1')
    expect(await foundIds(kind, 'I-1')).toEqual([id])
    expect((await create(kind, 'I-1')).body.details).toEqual([{ field: 'external_id', id }])
    expect((await update(kind, id, { external_id: null })).status).toBe(200)
    expect(await load(`${kind}s`, [row])).toMatchObject({
      reasons: [expect.stringContaining('linked_by_api')],
    })
    const other = (await create(kind, 'I-1')).body.data.id
    expect(await foundIds(kind, 'I-1')).toEqual([other])
    expect((await update(kind, id, { external_id: 'I-1' })).status).toBe(409)
    expect((await update(kind, other, { external_id: 'I-2' })).status).toBe(200)
    expect((await update(kind, id, { external_id: 'I-1' })).status).toBe(200)
    expect(await foundIds(kind, 'I-1')).toEqual([id])
    expect(await differences()).toBe(0)
  })
})

it('the external id alone of an appointment is changed in any status', async () => {
  const { id } = (await create('appointment', 'V-1')).body.data
  expect((await ask('cancel-appointment', {}, id)).status).toBe(200)
  expect((await update('appointment', id, { external_id: 'V-2' })).body.data).toMatchObject({
    external_id: 'V-2',
    status: 'cancelled',
  })
  expect((await update('appointment', id, { external_id: 'V-3', notes: 'x' })).status).toBe(409)
  const row = (await find('appointment', 'V-2')).body.data[0]
  expect(row.id).toBe(id)
})

it('a booking that is sent again names the appointment that it made, although the time is taken', async () => {
  const body = { ...bodyOf('appointment'), external_id: 'B-1' }
  const { id } = (await ask('create-appointment', body)).body.data
  const again = await ask('create-appointment', body)
  expect([again.status, again.body.details]).toEqual([409, [{ field: 'external_id', id }]])
})

it('erasure removes external ids and links, and no import creates the patient again', async () => {
  const { id } = (await create('patient', 'erased id 1')).body.data
  await update('patient', id, { external_id: 'erased id 2' })
  const visit = await create('appointment', 'erased visit', { patient_id: id })
  await patientChanges(db.table).erase(mine.clinic.id, id)
  expect([
    await foundIds('patient', 'erased id 2'),
    await foundIds('appointment', 'erased visit'),
    await links(),
  ]).toEqual([[], [], []])
  const stored = (await allItems(db)).filter(({ pk }) => !pk.startsWith('idempotency'))
  expect(JSON.stringify(stored)).not.toMatch(/erased (id|visit)/)
  const row = { first_name: 'Ada', last_name: 'Kaya' }
  const rows = ['erased id 1', 'erased id 2'].map((external_id) => ({ ...row, external_id }))
  expect((await load('patients', rows)).reasons).toEqual(['the patient was erased', 'the patient was erased'])
  expect((await update('appointment', visit.body.data.id, { external_id: 'EV-2' })).status).toBe(404)
  expect((await create('patient', 'erased id 2')).status).toBe(201)
  expect(await differences()).toBe(0)
})

describe.each(KINDS)('link of a file of %ss', (kind) => {
  const path = join(folder, `${kind}s.ndjson`)
  const linkFile = (...more: string[]) =>
    run('link', '--entity', `${kind}s`, path, '--clinic', mine.clinic.id, ...more)

  it('confirms the external ids that the API has set, of the rows of the file alone, with one question', async () => {
    const ids: string[] = []
    for (const externalId of ['X-1', 'X-2', 'X-3']) ids.push((await create(kind, externalId)).body.data.id)
    const rows = ['X-1', 'X-2', 'X-1', 'X-9', 'a  b'].map((external_id) => ({ external_id, ...rowOf(kind) }))
    writeRows(path, rows)
    expect(await linkFile()).toMatchObject({ code: 2, errors: expect.stringContaining('2 records') })
    const questions: string[] = []
    const ask = async (question: string) => {
      questions.push(question)
      return 'yes'
    }
    const linking = ['link', '--entity', `${kind}s`, path, '--clinic', mine.clinic.id]
    const { code, printed, errors, lines } = await runAsked(ask, ...linking)
    expect([code, printed, questions.length]).toEqual([0, 'Linked 2 records\n', 1])
    expect(lines.at(-1)?.records.toSorted()).toEqual(ids.slice(0, 2).toSorted())
    expect(`${errors}${JSON.stringify(lines)}`).not.toMatch(/X-|Name/)
    expect(await differences()).toBe(0)
    expect((await linkFile()).printed).toContain('Nothing changed')
    const all = ['X-1', 'X-2', 'X-3'].map((external_id) => ({ external_id, ...rowOf(kind) }))
    const { rejections } = await load(`${kind}s`, all, { overwrite: true, allowOverlaps: true })
    expect(rejections).toEqual([expect.stringMatching(/^3: linked_by_api/)])
  })

  it('sets an imported external id again that the API has removed, and lists the lines of others that it has changed', async () => {
    const rows = ['I-1', 'I-2'].map((external_id) => ({ external_id, ...rowOf(kind) }))
    await load(`${kind}s`, rows, { allowOverlaps: true })
    const idOf = await readImportIds(db.table, mine.clinic.id)
    await update(kind, idOf(kind, 'I-1'), { external_id: null })
    await update(kind, idOf(kind, 'I-2'), { external_id: 'X-2' })
    const { code, printed, errors } = await linkFile('--yes')
    expect([code, printed]).toEqual([1, 'Linked 1 record\n'])
    expect(errors).toContain(`${path}:2: The ${kind} has another external id`)
    expect(await foundIds(kind, 'I-1')).toEqual([idOf(kind, 'I-1')])
    expect(await foundIds(kind, 'X-2')).toEqual([idOf(kind, 'I-2')])
  })

  it.runIf(kind === 'patient')(
    'lists rows whose record is another person, and does not confirm them',
    async () => {
      const booked = { first_name: 'Ada', last_name: 'Kaya', date_of_birth: '1984-03-12' }
      const { id } = (await create(kind, 'X-1', booked)).body.data
      writeRows(path, [{ external_id: 'X-1', ...rowOf(kind), date_of_birth: '1990-01-01' }])
      const { code, errors } = await linkFile('--yes')
      expect([code, errors]).toEqual([
        1,
        expect.stringContaining(`${path}:1: patient ${id} is another person`),
      ])
      writeRows(path, [{ external_id: 'X-1', ...rowOf(kind) }])
      expect((await linkFile('--yes')).printed).toContain('Linked 1 record')
    },
  )

  it('leaves what a row names by its own id, and rejects files of other entities', async () => {
    const { id } = (await create(kind, 'X-1')).body.data
    writeRows(path, [{ external_id: id, ...rowOf(kind) }])
    expect((await linkFile('--yes')).printed).toContain('Nothing changed')
    const others = await run('link', '--entity', 'doctors', path, '--clinic', mine.clinic.id)
    expect([others.code, others.errors]).toEqual([2, expect.stringContaining('patients, appointments')])
  })
})

describe('a row that refers to a patient whose external id the API has set', () => {
  /** Rows of every entity that refers to patients, which do not get in the way of those with another number. */
  const referring = (number: number, reference: object): [name: string, row: object][] => {
    const ids = { external_id: number, ...reference }
    const times = { appointment_date: `2031-12-0${number}`, start_time: '10:00', end_time: '10:30' }
    return [
      ['appointments', { ...ids, doctor_external_id: mine.doctor.id, ...times }],
      ['invoices', { ...ids, invoice_number: `R-${number}`, issue_date: '2026-04-01', subtotal: 10 }],
      ['messages', { ...ids, channel: 'sms', recipient: '+905321234567', message: 'Hello' }],
    ]
  }
  const payment = {
    external_id: 'p',
    invoice_external_id: 1,
    amount: 5,
    payment_method: 'cash',
    payment_date: '2026-04-02',
  }
  const link = (id: string) => run('patient', 'link', id, '--external-id', '1001', '--clinic', mine.clinic.id)
  const reason = /^1: linked_by_api: .* that patient_external_id names; .*"patient link"/

  it('is rejected in every file, and leaves the other rows, until an operator confirms the patient', async () => {
    const { id } = (await create('patient', '1001')).body.data
    const rows = referring(1, { patient_external_id: '1001' })
    const others = referring(2, { patient_external_id: mine.patient.id })
    for (const [at, [name, row]] of rows.entries())
      for (const [overwrite, count] of [
        [false, 'imported'],
        [true, 'unchanged'],
      ] as const) {
        const result = await load(name, [row, others[at]?.[1] ?? {}], { overwrite })
        expect([name, result]).toMatchObject([
          name,
          { [count]: 1, rejected: 1, rejections: [expect.stringMatching(reason)] },
        ])
      }
    expect((await load('payments', [payment])).reasons).toEqual([
      expect.stringContaining('invoice_external_id is unknown'),
    ])
    expect((await link(id)).code).toBe(0)
    for (const [name, row] of [...rows, ['payments', payment] as const])
      expect([name, await load(name, [row])]).toMatchObject([name, { imported: 1, reasons: [] }])
    expect(await differences()).toBe(0)
  })

  it('is rejected for an imported patient whose external id the API has changed or removed', async () => {
    await load('patients', [{ external_id: '1001', ...rowOf('patient') }])
    const id = (await readImportIds(db.table, mine.clinic.id))('patient', '1001')
    for (const external_id of ['1002', null]) {
      await update('patient', id, { external_id })
      for (const [name, row] of referring(1, { patient_external_id: '1001' }))
        expect((await load(name, [row])).rejections).toEqual([expect.stringMatching(reason)])
    }
  })

  it('is imported if it names the patient by its own id, or changes nothing', async () => {
    const { id } = (await create('patient', null)).body.data
    await link(id)
    const rows = referring(1, { patient_external_id: '1001' })
    for (const [name, row] of rows) await load(name, [row])
    for (const external_id of ['1002', '1001']) await update('patient', id, { external_id })
    // A column without a value is another row, of the same record.
    for (const [name, row] of rows)
      for (const same of [row, { ...row, created_at: null }])
        expect([name, await load(name, [same])]).toMatchObject([name, { unchanged: 1, reasons: [] }])
    const [[name, row]] = rows as [[string, object]]
    const moved = await load(name, [{ ...row, end_time: '11:00' }])
    expect(moved.rejections).toEqual([expect.stringMatching(reason)])
    for (const [number, own] of [
      [2, { patient_id: id }],
      [3, { patient_external_id: id }],
      [4, { patient_id: ` ${id} ` }],
      [5, { patient_external_id: ` ${id} ` }],
    ] as const)
      for (const [name, row] of referring(number, own))
        expect([name, await load(name, [row])]).toMatchObject([name, { imported: 1, reasons: [] }])
  })
})
