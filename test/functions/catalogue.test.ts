/** The lists of the catalogue, against the real engine. */
import { beforeAll, expect, it } from 'vitest'
import { newUuid } from '../../shared/domain/uuid.ts'
import { roomStore, treatmentStore } from '../../shared/store/catalogue.ts'
import { doctorStore } from '../../shared/store/doctors.ts'
import { aRoom, aTreatment } from '../support/catalogue.ts'
import { issueCredential } from '../support/credentials.ts'
import { request, tableOfFunctions } from '../support/functions.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'
import { aDoctor } from '../support/sample-records.ts'

const db = tableOfFunctions()
let records: PopulatedClinic
let headers: Record<string, string>

beforeAll(async () => {
  records = await createPopulatedClinic(db.table)
  // Records of the same names, which no list of the first clinic may contain.
  await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, records.clinic)).headers
})

const ask = async (id: string, query: Record<string, string> = {}) => request(id, { headers, query })

it('departments, rooms, treatments and price lists of the clinic are listed, with exact prices', async () => {
  const { department, room, treatment, priceList, doctor } = records
  const data = async (id: string) => (await ask(id)).body.data
  expect(await data('list-departments')).toEqual([
    { id: department.id, name: 'General practice', is_active: true },
  ])
  expect(await data('list-rooms')).toEqual([
    { id: room.id, name: 'Room 1', department_id: department.id, is_active: true },
  ])
  expect(await data('list-treatments')).toEqual([
    {
      id: treatment.id,
      name: 'Check-up',
      code: 'T1',
      description: null,
      duration_minutes: 30,
      price: 120,
      currency: 'EUR',
      doctor_ids: [doctor.id],
      is_active: true,
    },
  ])
  expect(await data('list-price-lists')).toEqual([
    {
      id: priceList.id,
      name: 'Private',
      currency: 'EUR',
      is_default: false,
      valid_from: null,
      valid_to: null,
      items: [{ treatment_id: treatment.id, price: 99.5 }],
    },
  ])
  expect(await data('list-doctors')).toMatchObject([{ id: doctor.id, department_id: department.id }])
})

it('pages are sorted by name, and include inactive records', async () => {
  const { clinic } = records
  const rooms = ['Zahnarzt', 'Archive', 'Öffnung'].map((name) =>
    aRoom({ name, isActive: name !== 'Archive' }),
  )
  await roomStore(db).save(
    clinic.id,
    rooms.map((after) => ({ before: null, after })),
  )
  const pages = await Promise.all(['1', '2', '3'].map((page) => ask('list-rooms', { page, limit: '2' })))
  expect(pages.map(({ body }) => body.data.map(({ name }: { name: string }) => name))).toEqual([
    ['Archive', 'Öffnung'],
    ['Room 1', 'Zahnarzt'],
    [],
  ])
  expect(pages[1]?.body.meta).toEqual({ page: 2, limit: 2, total: 4, total_pages: 2 })
  expect(pages[0]?.body.data[0].is_active).toBe(false)
  const inactive = (await ask('list-rooms', { is_active: 'false' })).body
  expect([inactive.data, inactive.meta.total]).toEqual([[pages[0]?.body.data[0]], 1])
})

it('lists doctors by name', async () => {
  const { clinic } = await createPopulatedClinic(db.table)
  const doctors = ['Dr. Zed', 'Dr. Al', 'dr. bee'].map((fullName) => aDoctor({ id: newUuid(), fullName }))
  await doctorStore(db).save(
    clinic.id,
    doctors.map((after) => ({ before: null, after })),
  )
  const { headers } = await issueCredential(db.table, clinic)
  const { body } = await request('list-doctors', { headers })
  const names: string[] = body.data.map(({ full_name }: { full_name: string }) => full_name)
  expect(names.filter((name) => !name.includes('Bo'))).toEqual(['Dr. Al', 'dr. bee', 'Dr. Zed'])
})

it('treatments are filtered by doctor, and all lists by activity, with exact totals', async () => {
  const { clinic, doctor, treatment } = records
  const other = aTreatment({ name: 'X-ray', doctorIds: [newUuid()], isActive: false })
  const both = aTreatment({ name: 'Filling', doctorIds: [newUuid(), doctor.id], isActive: false })
  await treatmentStore(db).save(
    clinic.id,
    [other, both].map((after) => ({ before: null, after })),
  )
  const read = async (query: Record<string, string>, list = 'treatments') => {
    const { data, meta } = (await ask(`list-${list}`, query)).body
    expect(meta.total).toBe(data.length)
    return data.map(({ id }: { id: string }) => id)
  }
  expect(await read({ doctor_id: doctor.id })).toEqual([treatment.id, both.id])
  expect(await read({ doctor_id: doctor.id, is_active: 'true' })).toEqual([treatment.id])
  expect(await read({ doctor_id: newUuid() })).toEqual([])
  expect(await read({ is_active: 'false' })).toEqual([both.id, other.id])
  for (const list of ['doctors', 'departments']) {
    expect(await read({ is_active: 'true' }, list)).toHaveLength(1)
    expect(await read({ is_active: 'false' }, list)).toEqual([])
  }
})
