import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  departmentStore,
  priceListStore,
  roomStore,
  treatmentStore,
} from '../../../../shared/store/catalogue.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { interceptedTable } from '../../../support/intercepted-table.ts'
import { importedClinic } from './calendar-fixtures.ts'

const imported = importedClinic()
const { load, loadFile } = imported

const department = { external_id: 'D1', name: 'Surgery' }
const room = { external_id: 'R1', name: 'Room 1', department_external_id: 'D1' }
const treatment = {
  external_id: 'T1',
  name: 'Check-up',
  code: 'CU',
  description: 'Once a year',
  duration_minutes: 30,
  price: '120.50',
  doctor_external_ids: ['1'],
}
const priceList = {
  external_id: 'P1',
  name: 'Private',
  is_default: true,
  valid_from: '2026-01-01',
  items: [{ treatment_external_id: 'T1', price: 99.9 }],
}
const ROWS = {
  departments: department,
  rooms: room,
  treatments: treatment,
  'price-lists': priceList,
  doctors: { external_id: '1', full_name: 'Dr. Eva Noll', department_external_id: 'D1' },
}

const all = async () => {
  const { db, clinic } = imported
  const [departments, rooms, treatments, priceLists, doctors] = await Promise.all([
    departmentStore(db).list(clinic.id),
    roomStore(db).list(clinic.id),
    treatmentStore(db).list(clinic.id),
    priceListStore(db).list(clinic.id),
    doctorStore(db).list(clinic.id),
  ])
  return { departments, rooms, treatments, priceLists, doctors }
}

describe('importing a catalogue', () => {
  it('reads lists from cells of CSV files', async () => {
    const file = (name: string, text: string) => {
      const path = join(imported.folder, `${name}.csv`)
      writeFileSync(path, text)
      return loadFile(name, path)
    }
    await load('doctors', [{ external_id: 2, full_name: 'Dr. Bo Lind' }])
    const treatments =
      'external_id,name,duration_minutes,price,currency,doctor_external_ids\nT1,Check-up,45,500,JPY,1; 2\nT2,Consultation,15,7.5,,\n'
    expect(await file('treatments', treatments)).toMatchObject({ imported: 2, reasons: [] })
    const lists =
      'external_id;name;items\nP1;Private;"[{""treatment_external_id"":""T1"",""price"":""80.00""}]"\nP2;Staff;\n'
    expect(await file('price-lists', lists)).toMatchObject({ imported: 2, reasons: [] })
    const stored = await all()
    expect(stored).toMatchObject({
      treatments: [
        { minutes: 45, price: 500, currency: 'JPY' },
        { price: 750, currency: 'EUR', doctorIds: [] },
      ],
      priceLists: [{ items: [{ price: 8_000 }] }, { items: [] }],
    })
    expect(new Set(stored.treatments[0]?.doctorIds)).toEqual(new Set(stored.doctors.map(({ id }) => id)))
    // An empty cell clears what a row had.
    expect(await file('treatments', treatments.replace('1; 2', ''))).toMatchObject({
      updated: 1,
      unchanged: 1,
    })
    expect((await all()).treatments).toMatchObject([{ doctorIds: [] }, {}])
  })

  it('leaves fields alone whose columns are absent, and clears those that are null', async () => {
    for (const [name, row] of Object.entries(ROWS)) await load(name, [row])
    const { external_id, name, duration_minutes, price } = treatment
    const required = { external_id, name, duration_minutes, price }
    expect(await load('treatments', [required])).toMatchObject({ unchanged: 1 })
    expect(await load('price-lists', [{ external_id: 'P1', name: 'Private' }])).toMatchObject({
      unchanged: 1,
    })
    expect(await load('rooms', [{ ...room, department_external_id: null }])).toMatchObject({ updated: 1 })
    const cleared = { ...required, code: null, doctor_external_ids: null }
    expect(await load('treatments', [cleared])).toMatchObject({ updated: 1 })
    expect(await all()).toMatchObject({
      rooms: [{ departmentId: null }],
      treatments: [{ code: null, description: 'Once a year', doctorIds: [] }],
    })
  })

  const priced = (id: string, price: unknown) => ({ items: [{ treatment_external_id: id, price }] })
  const NO_DEPARTMENT = 'department_external_id is unknown: the clinic has no such department'
  const MINUTES = 'duration_minutes must be a whole number of minutes from 5 to 480'
  const DECIMALS = 'price must be a number with at most 2 decimals in EUR'
  it.each([
    ['departments', { name: '' }, 'name must not be empty'],
    ['departments', { is_active: 'maybe' }, 'is_active must be true or false'],
    ['rooms', { department_external_id: 'D9' }, NO_DEPARTMENT],
    ['doctors', { department_external_id: 'D9' }, NO_DEPARTMENT],
    ['treatments', { duration_minutes: 4 }, MINUTES],
    ['treatments', { price: -1 }, 'price must not be negative'],
    ['treatments', { price: null }, 'price is required'],
    ['treatments', { currency: 'XXX' }, 'currency must be an ISO 4217 code such as EUR'],
    ['treatments', { code: 'taken' }, 'code is already the code of another treatment'],
    [
      'treatments',
      { doctor_external_ids: ['1', '9'] },
      'doctor_external_ids has an unknown doctor: the clinic has no such doctor',
    ],
    ['treatments', { doctor_external_ids: ['1', '1'] }, 'doctor_external_ids has a doctor twice'],
    [
      'doctors',
      { hours: 'mon 10:00-09:00' },
      expect.stringContaining('hours "mon 10:00-09:00": 10:00 is not before 09:00'),
    ],
    ['doctors', { time_off: '2027-01-01/9999-12-31' }, 'time_off must not be after 2199-12-31'],
    ['doctors', { exceptions: '2200-01-01 off' }, 'exceptions must not be after 2199-12-31'],
    ['price-lists', { valid_to: '2025-12-31' }, 'valid_to must not be before the first day'],
    ['price-lists', { valid_to: '2026-02-30' }, 'valid_to is not a date that exists'],
    ['price-lists', { valid_from: '2200-01-01' }, 'valid_from must not be after 2199-12-31'],
    ['price-lists', { valid_to: '9999-12-31' }, 'valid_to must not be after 2199-12-31'],
    ['price-lists', { items: 'T1' }, 'items must be a JSON array of treatments and their prices'],
    ['price-lists', priced('T9', 1), 'items has an unknown treatment: the clinic has no such treatment'],
    ['price-lists', priced('T1', '0.001'), `items.0.${DECIMALS}`],
    ['price-lists', { currency: 'JPY', items: undefined }, 'items must have the prices in the new currency'],
  ] as const)('rejects a row of %s with %j', async (name, wrong, reason) => {
    for (const [entity, row] of Object.entries(ROWS)) await load(entity, [row])
    await load('treatments', [{ ...treatment, external_id: 'T2', code: 'taken' }])
    const stored = await all()
    expect(await load(name, [{ ...ROWS[name], ...wrong }])).toMatchObject({ rejected: 1, reasons: [reason] })
    expect(await all()).toEqual(stored)
  })

  it('makes another price list the default if the file says that the present one is not', async () => {
    const lists = (first: boolean) => [
      { external_id: 'P1', name: 'Private', is_default: first },
      { external_id: 'P2', name: 'Staff', is_default: !first },
    ]
    expect(await load('price-lists', lists(true))).toMatchObject({ imported: 2, reasons: [] })
    expect(await load('price-lists', lists(false))).toMatchObject({ updated: 2, reasons: [] })
    expect((await all()).priceLists.map(({ isDefault }) => isDefault)).toEqual([false, true])
    expect(await load('price-lists', lists(true).slice(0, 1))).toMatchObject({
      reasons: ['is_default is already true for another price list'],
    })
  })

  it('lets records of a file exchange what only one can have, whatever their order', async () => {
    const rows = (codes: readonly string[]) =>
      codes.map((code, at) => ({ ...treatment, doctor_external_ids: [], external_id: `T${at}`, code }))
    const codes = Array.from({ length: 100 }, (_, at) => `C${at}`)
    const turned = [...codes.slice(1), 'C0']
    expect(await load('treatments', rows(codes))).toMatchObject({ imported: 100, reasons: [] })
    expect(await load('treatments', rows(turned))).toMatchObject({ updated: 100, reasons: [] })
    expect(await load('treatments', rows(turned))).toMatchObject({ unchanged: 100, reasons: [] })
    // A rejected row keeps its code, so the row that is to get it is rejected too.
    const [first, second] = rows(['C2', 'New'])
    const wrong = [first ?? {}, { ...second, price: 'free' }]
    expect(await load('treatments', wrong)).toMatchObject({
      reasons: [
        'code is already the code of another treatment',
        'price must be a number with at most 2 decimals in EUR',
      ],
    })
  })

  it('never has two defaults, not even after an interrupted import', async () => {
    const { table } = imported.db
    await load('price-lists', [{ external_id: 'P1', name: 'Private', is_default: true }])
    const interrupted = interceptedTable(table, async (write, number) => {
      if (number > 1) throw new Error('interrupted')
      await write()
    })
    const lists = [
      { external_id: 'P2', name: 'Staff', is_default: true },
      { external_id: 'P1', name: 'Private', is_default: false },
    ]
    await expect(load('price-lists', lists, interrupted)).rejects.toThrow('interrupted')
    expect((await all()).priceLists.map(({ isDefault }) => isDefault)).toEqual([false])
    expect(await load('price-lists', lists)).toMatchObject({ imported: 1, unchanged: 1 })
  })

  it('rejects what exceeds the number of rooms of a clinic', async () => {
    const rows = Array.from({ length: 201 }, (_, n) => ({ external_id: n, name: `Room ${n}` }))
    const reasons = ['the clinic has 200 rooms already, the most that it can have']
    expect(await load('rooms', rows)).toMatchObject({ imported: 200, reasons })
    expect(await load('rooms', rows.slice(-2))).toMatchObject({ unchanged: 1, reasons })
  })

  it('rejects active doctors beyond 500, after the rows that deactivate others', async () => {
    const facts = { full_name: 'Dr. Eva Noll' }
    const row = (external_id: number, is_active: boolean) => ({ ...facts, external_id, is_active })
    const { doctors } = await all()
    const free = 500 - doctors.filter(({ isActive }) => isActive).length
    const added = Array.from({ length: free }, (_, at) => row(1000 + at, true))
    expect(await load('doctors', added)).toMatchObject({ imported: free, rejected: 0 })
    const changes = [row(2000, true), row(2001, true), row(2002, false), row(1000, false)]
    expect(await load('doctors', changes)).toMatchObject({
      imported: 2,
      updated: 1,
      reasons: ['the clinic has 500 active doctors already, the most that it can have'],
    })
    expect(await load('doctors', [row(2002, true), row(1001, true)])).toMatchObject({
      unchanged: 1,
      rejected: 1,
    })
    expect((await all()).doctors.filter(({ isActive }) => isActive)).toHaveLength(500)
  })
})
