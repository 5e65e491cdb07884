/** Departments, rooms, treatments and price lists by requests: fields, rules, limits, and external ids that files share. */
import { beforeEach, describe, expect, it } from 'vitest'
import { newUuid } from '../../shared/domain/uuid.ts'
import { priceListStore, roomStore } from '../../shared/store/catalogue.ts'
import { chunked } from '../../shared/store/table/chunked.ts'
import { withoutEvents } from '../../shared/store/table/table.ts'
import { aRoom } from '../support/catalogue.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { importRows } from '../support/imports.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const db = tableOfFunctions()
const folder = temporaryFolder()

let mine: PopulatedClinic
let headers: Record<string, string>

beforeEach(async () => {
  mine = await createPopulatedClinic(withoutEvents(db.table))
  headers = (await issueCredential(db.table, mine.clinic)).headers
})

type Kind = 'department' | 'room' | 'treatment' | 'price-list'

const send = async (id: string, body?: object, path?: string, more: object = {}) =>
  request(id, {
    headers: { ...headers, ...more },
    ...(body && { body }),
    ...(path && { path: { id: path } }),
  })
const create = (kind: Kind, body: object) => send(`create-${kind}`, body)
const update = (kind: Kind, id: string, body: object, more: object = {}) =>
  send(`update-${kind}`, body, id, more)
const load = (kind: Kind, rows: object[]) => importRows(folder, db.table, mine.clinic, `${kind}s`, rows)

/** A body with the required fields, all fields of a body, and the same as a row of a file. */
const samples = () => {
  const { department, doctor, treatment } = mine
  const priced = { name: 'Filling', duration_minutes: 45, price: 12.5 }
  return {
    department: { least: { name: 'X-ray' }, all: { name: 'X-ray', is_active: false }, row: {} },
    room: {
      least: { name: 'Room 2' },
      all: { name: 'Room 2', department_id: department.id, is_active: false },
      row: { department_id: undefined, department_external_id: department.id },
    },
    treatment: {
      least: priced,
      all: {
        ...priced,
        code: 'F1',
        description: 'One\ntooth',
        currency: 'KWD',
        price: 12.125,
        doctor_ids: [doctor.id],
        is_active: false,
      },
      row: { doctor_ids: undefined, doctor_external_ids: [doctor.id] },
    },
    'price-list': {
      least: { name: 'Staff' },
      all: {
        name: 'Staff',
        currency: 'JPY',
        is_default: true,
        valid_from: '2026-01-01',
        valid_to: '2026-12-31',
        items: [{ treatment_id: treatment.id, price: 900 }],
      },
      row: {},
    },
  }
}

const DEFAULTS = {
  department: { is_active: true },
  room: { is_active: true, department_id: null },
  treatment: { is_active: true, code: null, description: null, currency: 'EUR', doctor_ids: [] },
  'price-list': { currency: 'EUR', is_default: false, valid_from: null, valid_to: null, items: [] },
}

describe.each(['department', 'room', 'treatment', 'price-list'] as const)('a %s', (kind) => {
  it('is created with defaults, and with every field, as GET then returns it', async () => {
    const { least, all } = samples()[kind]
    const created = await create(kind, least)
    expect([created.status, created.body.data]).toEqual([
      201,
      { id: expect.any(String), ...DEFAULTS[kind], ...least },
    ])
    const full = await create(kind, all)
    const { id } = full.body.data
    expect(full.body.data).toEqual({ id, ...all })
    expect(full.headers.location).toMatch(new RegExp(`/clinic/${kind}s/${id}$`))
    expect((await send(`get-${kind}`, undefined, id)).body).toEqual(full.body)
  })

  it('is changed in the fields that are sent, and keeps its external id', async () => {
    const { least, all } = samples()[kind]
    const { body } = await create(kind, { ...least, external_id: 'E-1' })
    const { id } = body.data
    expect((await update(kind, id, {})).body).toEqual(body)
    expect((await update(kind, id, all)).body.data).toEqual({ id, ...all })
    expect((await update(kind, id, { name: 'New' })).body.data).toEqual({ id, ...all, name: 'New' })
    expect((await update(kind, id, { external_id: 'E-2' })).body.details).toMatchObject([
      { field: 'external_id' },
    ])
    expect((await create(kind, { ...least, external_id: 'E-1' })).body.details).toEqual([
      { field: 'external_id', id },
    ])
  })

  it('is the record of the same external id in files, whichever is first, and of one of several requests', async () => {
    const { all, row } = samples()[kind]
    // What only one record can have is left out.
    const body = { ...all, ...(kind === 'price-list' ? { is_default: false } : { code: undefined }) }
    const rowOf = (external_id: string) => ({ ...body, ...row, external_id })
    const copies = await Promise.all([1, 2, 3].map(() => create(kind, { ...body, external_id: 'E-1' })))
    expect(copies.map(({ status }) => status).sort()).toEqual([201, 409, 409])
    const id = copies.find(({ status }) => status === 201)?.body.data.id
    expect(await load(kind, [rowOf('E-1')])).toMatchObject({ unchanged: 1, imported: 0, reasons: [] })
    expect(await load(kind, [{ ...rowOf('E-1'), name: 'Renamed' }])).toMatchObject({ updated: 1 })
    expect((await send(`get-${kind}`, undefined, id)).body.data.name).toBe('Renamed')

    expect(await load(kind, [rowOf('E-2')])).toMatchObject({ imported: 1, reasons: [] })
    const taken = await create(kind, { ...body, external_id: 'E-2' })
    expect([taken.status, taken.body.message]).toEqual([409, 'errors.developer_api.external_id_taken'])
    await create(kind, { ...body, external_id: 'é'.normalize('NFD') })
    expect((await create(kind, { ...body, external_id: 'é'.normalize('NFC') })).status).toBe(409)
    // A file names a record also by its own id.
    expect((await create(kind, { ...body, external_id: id.toUpperCase() })).status).toBe(409)
  })

  it('is returned without the fields that a credential without the read scope did not send', async () => {
    const { all } = samples()[kind]
    const { id } = (await create(kind, all)).body.data
    const writer = await issueCredential(db.table, mine.clinic, ['catalogue.write'])
    const { body } = await update(kind, id, { name: 'New' }, writer.headers)
    expect(body.data).toEqual({ id, name: 'New', ...('is_active' in all && { is_active: false }) })
  })
})

describe('a request for the catalogue', () => {
  const EUR = 'must be a number with at most 2 decimals in EUR'
  it.each([
    ['department', { name: ' ' }, 'name', 'must not be empty'],
    ['room', { is_active: null }, 'is_active', 'must be true or false'],
    ['treatment', { code: 'T1' }, 'code', 'is already the code of another treatment'],
    ['treatment', { price: 1.005 }, 'price', EUR],
    ['treatment', { price: -1 }, 'price', 'must not be negative'],
    ['treatment', { currency: 'eur' }, 'currency', 'must be an ISO 4217 code such as EUR'],
    ['price-list', { valid_from: '2026-02-30' }, 'valid_from', expect.stringContaining('that exists')],
    ['price-list', { valid_from: '2026-02-02', valid_to: '2026-02-01' }, 'valid_to', expect.any(String)],
  ] as const)('that creates a %s with %j gets 422 for %s', async (kind, wrong, field, issue) => {
    const { status, body } = await create(kind, { ...samples()[kind].least, ...wrong })
    expect([status, body.details]).toEqual([422, [{ field, issue }]])
  })

  it('gets 422 for every amount that is not one of the currency, and for a new currency without amounts', async () => {
    const { treatment, priceList } = mine
    const items = [12.345, 12.34, 0.001].map((price) => ({ treatment_id: newUuid(), price }))
    const details = async (kind: Kind, id: string, body: object) =>
      (await update(kind, id, body)).body.details
    expect(await details('price-list', priceList.id, { items })).toEqual(
      ['items.0.price', 'items.2.price'].map((field) => ({ field, issue: EUR })),
    )
    expect(await details('price-list', priceList.id, { currency: 'JPY' })).toMatchObject([{ field: 'items' }])
    expect(await details('treatment', treatment.id, { currency: 'JPY' })).toMatchObject([{ field: 'price' }])
    const yen = await update('treatment', treatment.id, { currency: 'JPY', price: 900 })
    expect(yen.body.data).toMatchObject({ currency: 'JPY', price: 900 })
  })

  it('gets 404 for what it refers to and the clinic does not have', async () => {
    const other = await createPopulatedClinic(db.table)
    const price = { treatment_id: other.treatment.id, price: 1 }
    for (const [kind, id, body, key] of [
      ['room', mine.room.id, { department_id: other.department.id }, 'department'],
      ['treatment', mine.treatment.id, { doctor_ids: [mine.doctor.id, other.doctor.id] }, 'doctor'],
      ['price-list', mine.priceList.id, { items: [price] }, 'treatment'],
    ] as const) {
      const { status, body: error } = await update(kind, id, body)
      const details = [{ field: Object.keys(body)[0] }]
      expect([status, error.message, error.details]).toEqual([
        404,
        `errors.developer_api.${key}_not_found`,
        details,
      ])
    }
  })

  it('gets 422 with the limit for one record too many, and nothing is created', async () => {
    const rooms = Array.from({ length: 199 }, () => ({ before: null, after: aRoom() }))
    for (const chunk of chunked(rooms, 40)) await roomStore(db).save(mine.clinic.id, chunk)
    const { status, body } = await create('room', { name: 'One more' })
    const issue = 'cannot be added: the clinic has 200 rooms already, the most that it can have'
    expect([status, body.details]).toEqual([422, [{ field: 'name', issue }]])
    expect(await roomStore(db).list(mine.clinic.id)).toHaveLength(200)
  })
})

describe('the default price list', () => {
  const isDefault = async () =>
    (await priceListStore(db).list(mine.clinic.id)).filter((list) => list.isDefault).map(({ id }) => id)

  it('gives up its place to the next one', async () => {
    const first = (await create('price-list', { name: 'A', is_default: true })).body.data.id
    expect(await isDefault()).toEqual([first])
    const both = await Promise.all(['B', 'C'].map((name) => create('price-list', { name, is_default: true })))
    expect(await isDefault()).toEqual([expect.toBeOneOf(both.map(({ body }) => body.data.id))])
  })

  it('cannot be deleted, unlike any other, which no repeated import then restores', async () => {
    const row = { external_id: 'P-1', name: 'Staff', is_default: true }
    await load('price-list', [row])
    const [id = ''] = await isDefault()
    const remove = async () => send('delete-price-list', undefined, id)
    expect((await remove()).body.message).toBe('errors.developer_api.price_list_is_default')
    await update('price-list', id, { is_default: false })
    expect([(await remove()).status, (await remove()).status]).toEqual([204, 404])
    expect((await send('get-price-list', undefined, id)).status).toBe(404)
    expect(await load('price-list', [row])).toMatchObject({ imported: 0, unchanged: 1 })
  })
})
