import { beforeAll, describe, expect, it } from 'vitest'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import {
  departmentStore,
  priceListStore,
  roomStore,
  treatmentStore,
} from '../../../../shared/store/catalogue.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import { aRoom } from '../../../support/catalogue.ts'
import { deployedTable } from '../../../support/deployed-stack.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { newClinic } from '../../../support/table.ts'

const { db, run } = deployedTable()
let mine: PopulatedClinic
let other: PopulatedClinic
let of: string[]

beforeAll(async () => {
  mine = await createPopulatedClinic(db.table)
  other = await createPopulatedClinic(db.table)
  of = ['--clinic', mine.clinic.id]
})

/** Runs a command that succeeds, and returns its data. */
async function done(...args: string[]) {
  const { code, printed, errors } = await run('--json', ...args)
  expect([errors, code]).toEqual(['', 0])
  return JSON.parse(printed).data
}

/** Runs a command that is rejected before it writes anything, and returns why. */
async function rejection(...args: string[]): Promise<string> {
  const { code, errors, calls } = await run(...args)
  expect([args, code]).toEqual([args, 2])
  expect(calls.filter(({ operation }) => !/^(GetItem|BatchGetItem|Query)$/.test(operation))).toEqual([])
  return errors.trim()
}

describe('the commands of the catalogue', () => {
  it('add, change, deactivate and list departments and rooms', async () => {
    const surgery = await done('department', 'create', ...of, '--name', 'Surgery')
    expect(surgery).toEqual({ id: expect.any(String), name: 'Surgery', is_active: true })
    const room = await done('room', 'create', ...of, '--name', 'Theatre', '--department', surgery.id)
    expect(room).toMatchObject({ name: 'Theatre', department_id: surgery.id, is_active: true })
    expect(await done('room', 'update', room.id, ...of, '--name', 'Theatre 1')).toMatchObject({
      name: 'Theatre 1',
      department_id: surgery.id,
    })
    expect(await done('room', 'update', room.id.toUpperCase(), ...of, '--department', '')).toMatchObject({
      department_id: null,
    })
    expect(await done('department', 'update', surgery.id, ...of, '--no-active')).toMatchObject({
      is_active: false,
    })
    expect(await done('room', 'update', room.id, ...of, '--no-active')).toMatchObject({ is_active: false })
    expect(await done('room', 'update', room.id, ...of, '--active')).toMatchObject({ is_active: true })
    expect(await done('department', 'list', ...of)).toMatchObject([
      { name: 'General practice' },
      { ...surgery, is_active: false },
    ])
    expect((await run('room', 'list', ...of)).printed.split('\n')).toEqual([
      `${mine.room.id}  Room 1     active  ${mine.department.id}`,
      `${room.id}  Theatre 1  active`,
      '',
    ])
    expect(await departmentStore(db).list(other.clinic.id)).toHaveLength(1)
    expect(await roomStore(db).list(other.clinic.id)).toHaveLength(1)
  })

  it('add and change treatments with exact prices', async () => {
    const { doctor } = mine
    const added = await done(
      ...['treatment', 'create', ...of, '--name', 'Filling', '--duration', '45', '--price', '80.10'],
      ...['--currency', 'kwd', '--code', 'F1', '--description', 'One tooth', '--doctors', doctor.id],
    )
    expect(added).toEqual({
      id: added.id,
      name: 'Filling',
      code: 'F1',
      description: 'One tooth',
      duration_minutes: 45,
      price: 80.1,
      currency: 'KWD',
      doctor_ids: [doctor.id],
      is_active: true,
    })
    expect((await treatmentStore(db).find(mine.clinic.id, added.id))?.price).toBe(80_100)
    const change = (...options: string[]) => done('treatment', 'update', added.id, ...of, ...options)
    expect(await change('--duration', '60', '--price', '0.125')).toMatchObject({
      duration_minutes: 60,
      price: 0.125,
    })
    expect(await change('--currency', 'EUR', '--price', '90')).toMatchObject({ price: 90, currency: 'EUR' })
    expect(await change('--code', '', '--description', '', '--doctors', '')).toEqual({
      ...added,
      changed: true,
      appointments_outside: [],
      code: null,
      description: null,
      duration_minutes: 60,
      price: 90,
      currency: 'EUR',
      doctor_ids: [],
    })
    expect((await run('treatment', 'list', ...of)).printed).toContain(
      'Filling       60 min  90.00 EUR   0 doctors  active',
    )
  })

  it('add and change price lists, of which one is the default, and remove them', async () => {
    const { treatment, priceList, clinic } = mine
    const price = (amount: string) => ['--price', `${treatment.id}=${amount}`]
    const added = await done(
      'price-list',
      'create',
      ...of,
      '--name',
      'Staff',
      '--default',
      'true',
      ...price('60'),
    )
    expect(added).toMatchObject({
      currency: 'EUR',
      is_default: true,
      valid_from: null,
      items: [{ treatment_id: treatment.id, price: 60 }],
    })
    await done('price-list', 'update', priceList.id, ...of, '--default', 'true', '--from', '2026-01-01')
    const lists = await priceListStore(db).list(clinic.id)
    expect(lists.map(({ name, isDefault, validFrom }) => [name, isDefault, validFrom])).toEqual([
      ['Private', true, '2026-01-01'],
      ['Staff', false, null],
    ])
    const change = (...options: string[]) => done('price-list', 'update', added.id, ...of, ...options)
    expect(await change(...price('59.99'))).toMatchObject({ items: [{ price: 59.99 }] })
    expect(await change('--remove-price', treatment.id)).toMatchObject({ items: [] })
    await done('price-list', 'delete', added.id, '--yes', ...of)
    expect((await priceListStore(db).list(clinic.id)).map(({ id }) => id)).toEqual([priceList.id])
  })

  it('set and remove the department of a doctor', async () => {
    const { clinic, department } = mine
    const name = ['--name', 'Dr. Eva Noll']
    const doctor = await done('doctor', 'create', ...of, ...name, '--department', department.id)
    expect(doctor.department_id).toBe(department.id)
    await done('doctor', 'update', doctor.id, ...of, '--department', '')
    expect((await doctorStore(db).find(clinic.id, doctor.id))?.departmentId).toBeNull()
    expect(await rejection('doctor', 'update', doctor.id, ...of, '--department', other.department.id)).toBe(
      '--department is unknown: the clinic has no such department',
    )
  })

  it('keep the external id of an imported record', async () => {
    const { clinic } = mine
    const after = { ...aRoom({ name: 'Laboratory' }), externalId: 'LAB' }
    await roomStore(db).save(clinic.id, [{ before: null, after }])
    await done('room', 'update', after.id, ...of, '--name', 'Lab')
    expect(await roomStore(db).find(clinic.id, after.id)).toMatchObject({ name: 'Lab', externalId: 'LAB' })
    expect(await done('room', 'show', after.id, ...of)).toMatchObject({ name: 'Lab', external_id: 'LAB' })
  })
})

describe('a command with wrong input', () => {
  const treatment = (...options: string[]) => [
    ...['treatment', 'create', '--name', 'Consultation', '--duration', '15', '--price', '10', ...options],
  ]
  const list = (...options: string[]) => ['price-list', 'create', '--name', 'Staff', ...options]

  it.each([
    [['room', 'create', '--name', ' '], '--name must not be empty'],
    [treatment('--duration', '4'), '--duration must be a whole number of minutes from 5 to 480'],
    [treatment('--price', '1,5'), '--price must be a number with at most 2 decimals in EUR'],
    [treatment('--currency', 'euro'), '--currency must be an ISO 4217 code such as EUR'],
    [treatment('--code', 'T1'), '--code is already the code of another treatment'],
    [treatment('--doctors', newUuid()), '--doctors has an unknown doctor: the clinic has no such doctor'],
    [list('--default', 'yes'), '--default must be true or false'],
    [list('--from', '2026-02-30'), '--from must be a date that exists, as YYYY-MM-DD'],
    [list('--to', '9999-12-31'), '--to must not be after 2199-12-31'],
    [list('--from', '2026-02-02', '--to', '2026-02-01'), '--to must not be before the first day'],
    [list('--price', newUuid()), '--price must be a treatment and its price, such as "ID=120.50"'],
    [list('--price', `${newUuid()}=1`), '--price has an unknown treatment: the clinic has no such treatment'],
  ])('%j is rejected, naming the option', async (args, reason) => {
    expect(await rejection(...args, ...of)).toBe(reason)
  })

  it('is rejected for another clinic’s doctor or department, as if it did not exist', async () => {
    const doctors = ['--doctors', other.doctor.id]
    expect(await rejection('treatment', 'update', mine.treatment.id, ...of, ...doctors)).toContain(
      '--doctors',
    )
    const department = ['--department', other.department.id]
    expect(await rejection('room', 'update', mine.room.id, ...of, ...department)).toContain('--department')
  })

  it('is rejected without a change, or with a new currency but no price in it', async () => {
    const { id } = mine.treatment
    expect(await rejection('treatment', 'update', id, ...of)).toBe(
      'Nothing to change: specify at least one option.',
    )
    expect(await rejection('treatment', 'update', id, ...of, '--currency', 'JPY')).toBe(
      '--price must be given in the new currency',
    )
  })
})

it('a room is rejected when the clinic has the most that it can have', async () => {
  const { id } = await newClinic(db.table)
  const rooms = Array.from({ length: 200 }, () => ({ before: null, after: aRoom() }))
  for (const chunk of chunked(rooms, 50)) await roomStore(db).save(id, chunk)
  const text = '--name cannot be added: the clinic has 200 rooms already, the most that it can have'
  expect(await rejection('room', 'create', '--clinic', id, '--name', 'One more')).toBe(text)
})

it('two commands at once leave one default price list, and one treatment with a code', async () => {
  const { id } = await newClinic(db.table)
  const both = (...args: string[]) =>
    Promise.all(['A', 'B'].map((name) => run(...args, '--clinic', id, '--name', name)))
  const lists = await both('price-list', 'create', '--default', 'true')
  expect(lists.map(({ code }) => code)).toEqual([0, 0])
  expect((await priceListStore(db).list(id)).filter(({ isDefault }) => isDefault)).toHaveLength(1)
  const treatments = await both('treatment', 'create', '--code', 'C', '--price', '80', '--duration', '30')
  expect(treatments.map(({ code }) => code).toSorted()).toEqual([0, 2])
  expect(await treatmentStore(db).list(id)).toHaveLength(1)
})
