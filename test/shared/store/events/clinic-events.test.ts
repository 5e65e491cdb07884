/** Events of doctors, treatments and the clinic, which the writers of their records announce. */
import { beforeEach, describe, expect, it } from 'vitest'
import { NEW_DOCTOR } from '../../../../shared/domain/booking/doctor.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import {
  departmentStore,
  priceListStore,
  roomStore,
  treatmentStore,
} from '../../../../shared/store/catalogue.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { doctorStore } from '../../../../shared/store/doctors.ts'
import { holidayStore } from '../../../../shared/store/holidays.ts'
import {
  announcedPartition,
  announcedRange,
  parseAnnouncedKey,
} from '../../../../shared/store/keys/events.ts'
import { withoutEvents } from '../../../../shared/store/table/table.ts'
import { aPriceList, aRoom, aTreatment } from '../../../support/catalogue.ts'
import { newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()
let clinic: ClinicId
beforeEach(async () => {
  clinic = (await newClinic(db.table)).id
})

const day = { from: '2026-12-24', to: '2026-12-24', reason: null }
const doctor = () => ({ ...NEW_DOCTOR, id: newUuid(), fullName: 'Dr. Bo Lind' })

async function announced() {
  const range = { pk: announcedPartition(clinic), ...announcedRange(clinic) }
  const items = await db.table.query({ ...range, limit: 200 })
  return items
    .toSorted((a, b) => Number(a.c) - Number(b.c))
    .map((item) => [item.e, parseAnnouncedKey(item).sequence, item.d])
}

async function saveDoctor(after: ReturnType<typeof doctor>): Promise<void> {
  await doctorStore(db).save(clinic, [{ before: await doctorStore(db).find(clinic, after.id), after }])
}

it('a doctor has numbered events of changes and days off, and none of an import, an unchanged save or a copied holiday', async () => {
  const silent = { table: withoutEvents(db.table) }
  await doctorStore(silent).save(clinic, [{ before: null, after: doctor() }])
  const one = doctor()
  await saveDoctor(one)
  await saveDoctor({ ...one, timeOff: [day] })
  await saveDoctor({ ...one, timeOff: [day] })
  await holidayStore(silent).set(clinic, () => [day])
  await holidayStore(db).refreshCopies(clinic)
  await saveDoctor({ ...one, isActive: false })
  expect(await announced()).toEqual([
    ['doctor.created', 1, { id: one.id, is_active: true }],
    ['doctor.updated', 2, { id: one.id, is_active: true }],
    ['doctor.updated', 3, { id: one.id, is_active: false }],
  ])
})

it('a treatment has numbered events of changes, and none of an unchanged save', async () => {
  const treatments = treatmentStore(db)
  const one = aTreatment({})
  const save = async (after: typeof one) =>
    treatments.save(clinic, [{ before: await treatments.find(clinic, one.id), after }])
  await save(one)
  await save(one)
  await save({ ...one, price: one.price + 1 })
  expect(await announced()).toEqual([
    ['treatment.created', 1, { id: one.id, is_active: true }],
    ['treatment.updated', 2, { id: one.id, is_active: true }],
  ])
})

describe('the clinic', () => {
  it('has one event of each save that changes departments, rooms or price lists, or removes a price list', async () => {
    const department = { id: newUuid(), name: 'Surgery', isActive: true }
    await departmentStore(db).save(clinic, [{ before: null, after: department }])
    const before = await departmentStore(db).find(clinic, department.id)
    await departmentStore(db).save(clinic, [{ before, after: department }])
    await roomStore(db).save(clinic, [
      { before: null, after: aRoom({}) },
      { before: null, after: aRoom({}) },
    ])
    const lists = priceListStore(db)
    await lists.save(clinic, [{ before: null, after: aPriceList({}) }])
    const [list] = await lists.list(clinic)
    if (list) await lists.remove(clinic, list)
    expect(await announced()).toEqual(
      ['departments', 'rooms', 'price_lists', 'price_lists'].map((changed) => [
        'clinic.updated',
        1,
        { changed },
      ]),
    )
  })

  it('has one event of a change of its holidays and of its settings, and none of a pause', async () => {
    await holidayStore(db).set(clinic, () => [day])
    await holidayStore(db).set(clinic, () => [day])
    const clinics = clinicStore(db)
    expect((await clinics.update(clinic, { name: 'Riverside' }, true)).name).toBe('Riverside')
    await clinics.update(clinic, { pausedAt: new Date().toISOString() })
    expect(await announced()).toEqual(
      ['holidays', 'settings'].map((changed) => ['clinic.updated', 1, { changed }]),
    )
  })
})
