import { beforeAll, expect, it } from 'vitest'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import {
  departmentKey,
  priceListKey,
  roomKey,
  treatmentKey,
} from '../../../../shared/store/keys/catalogue.ts'
import { doctorKey, holidaysKey } from '../../../../shared/store/keys/clinics.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { tableOfFile } from '../../../support/table.ts'
import { type faultInjection as FaultInjection, faultInjection } from './comparison/fault-injection.ts'
import { runVerification } from './practice.ts'

const db = tableOfFile()
let mine: PopulatedClinic
let raw: ReturnType<typeof FaultInjection>
let sound: Item[]

beforeAll(async () => {
  raw = faultInjection(db)
  mine = await createPopulatedClinic(db.table)
  sound = await raw.scanAll()
})

const keys = () => {
  const { clinic, department, room, treatment, priceList, doctor } = mine
  return {
    department: departmentKey(clinic.id, department.id),
    room: roomKey(clinic.id, room.id),
    treatment: treatmentKey(clinic.id, treatment.id),
    priceList: priceListKey(clinic.id, priceList.id),
    doctor: doctorKey(clinic.id, doctor.id),
  }
}

it('a sound catalogue has no differences, and its records are counted', async () => {
  const { kinds, checked } = await runVerification(db.table, mine.clinic.id)
  expect([kinds, checked]).toMatchObject([[], { departments: 1, rooms: 1, treatments: 1, price_lists: 1 }])
})

it.each([
  [
    'the department of a room and a doctor',
    () => raw.remove(keys().department),
    ['catalogue_wrong', 'catalogue_wrong'],
  ],
  ['a treatment with a price', () => raw.remove(keys().treatment), ['catalogue_wrong']],
  [
    'a doctor of a treatment',
    () => raw.alter(keys().treatment, () => ({ dr: [mine.doctor.id, newUuid()] })),
    ['catalogue_wrong'],
  ],
  [
    'the code of another treatment',
    async () => raw.put({ ...(await raw.read(keys().treatment)), sk: newUuid() } as Item),
    ['catalogue_wrong', 'catalogue_wrong'],
  ],
  [
    'a price of a treatment',
    () => raw.alter(keys().treatment, () => ({ pr: undefined })),
    ['record_unreadable', 'catalogue_wrong'],
  ],
  ['the state of a room', () => raw.alter(keys().room, () => ({ act: 'yes' })), ['record_unreadable']],
] as const)('reports that %s is missing or wrong, and repairs nothing', async (_, plant, kinds) => {
  await raw.restore(sound)
  await plant()
  const before = await raw.scanAll()
  const result = await runVerification(db.table, mine.clinic.id, true)
  expect([[...result.kinds].sort(), result.repaired]).toEqual([[...kinds].sort(), 0])
  expect(await raw.scanAll()).toEqual(before)
})

it('finds a doctor without the holidays of the clinic, and repairs the copy', async () => {
  await raw.restore(sound)
  const day = { from: '2099-01-01', to: '2099-01-01', reason: null }
  await raw.put({ ...holidaysKey(mine.clinic.id), days: [day], v: 1 })
  const result = await runVerification(db.table, mine.clinic.id, true)
  expect([result.kinds, result.repaired]).toEqual([['holidays_outdated'], 1])
  expect(await raw.read(keys().doctor)).toMatchObject({ holidays: [day] })
  expect((await runVerification(db.table, mine.clinic.id)).kinds).toEqual([])
})
