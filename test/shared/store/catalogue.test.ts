import { describe, expect, it } from 'vitest'
import { NEW_DOCTOR } from '../../../shared/domain/booking/doctor.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import {
  departmentStore,
  priceListStore,
  roomStore,
  treatmentStore,
} from '../../../shared/store/catalogue.ts'
import { DEPARTMENTS, PRICE_LISTS, ROOMS, TREATMENTS } from '../../../shared/store/catalogue-kinds.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { treatmentKey } from '../../../shared/store/keys/catalogue.ts'
import { doctorKey } from '../../../shared/store/keys/clinics.ts'
import { ConditionFailed } from '../../../shared/store/table/errors.ts'
import { aPriceList, aRoom, aTreatment } from '../../support/catalogue.ts'
import { newClinic, tableOfFile } from '../../support/table.ts'

const db = tableOfFile()

describe('a record of the catalogue', () => {
  it('is read as it was written, with its version and external id', async () => {
    const { id: clinic } = await newClinic(db.table)
    const department = { id: newUuid(), name: 'Surgery', isActive: false }
    const room = aRoom({ departmentId: department.id })
    const treatment = aTreatment({ code: 'T1', description: 'With care', doctorIds: [newUuid()] })
    const prices = aPriceList({
      validFrom: '2026-01-01',
      validTo: '2026-12-31',
      items: [{ treatmentId: treatment.id, price: 10_050 }],
    })
    await departmentStore(db).save(clinic, [{ before: null, after: department }])
    await roomStore(db).save(clinic, [{ before: null, after: { ...room, externalId: 'R-1' } }])
    await treatmentStore(db).save(clinic, [{ before: null, after: treatment }])
    await priceListStore(db).save(clinic, [{ before: null, after: prices }])
    expect(await departmentStore(db).find(clinic, department.id)).toEqual({ ...department, version: 1 })
    expect(await roomStore(db).list(clinic)).toEqual([{ ...room, version: 1, externalId: 'R-1' }])
    const treatments = treatmentStore(db)
    expect(await treatments.findMany(clinic, [treatment.id, treatment.id, newUuid()])).toEqual(
      new Map([[treatment.id, { ...treatment, version: 1, events: 1 }]]),
    )
    expect(await priceListStore(db).list(clinic)).toEqual([{ ...prices, version: 1 }])
  })

  it('is stored in the format of every item written so far', () => {
    const [doctor, department] = [newUuid(), newUuid()]
    const treatment = aTreatment({ code: 'T1', description: 'With care', doctorIds: [doctor] })
    expect(DEPARTMENTS.encode({ id: department, name: 'Surgery', isActive: true })).toEqual({
      n: 'Surgery',
      act: true,
    })
    expect(ROOMS.encode(aRoom({ departmentId: department, isActive: false }))).toEqual({
      n: 'Room 1',
      dep: department,
      act: false,
    })
    expect(TREATMENTS.encode(treatment)).toEqual({
      n: 'Check-up',
      co: 'T1',
      de: 'With care',
      min: 30,
      pr: 12_000,
      cur: 'EUR',
      dec: 2,
      dr: [doctor],
      act: true,
    })
    const items = [{ treatmentId: treatment.id, price: 9_950 }]
    expect(PRICE_LISTS.encode(aPriceList({ isDefault: true, validFrom: '2026-01-01', items }))).toEqual({
      n: 'Private',
      cur: 'EUR',
      dec: 2,
      def: true,
      from: '2026-01-01',
      to: null,
      it: [{ t: treatment.id, p: 9_950 }],
    })
  })

  it('is not saved if another of its kind was saved since all were read', async () => {
    const { id: clinic } = await newClinic(db.table)
    const rooms = roomStore(db)
    const { version } = await rooms.readState(clinic)
    await departmentStore(db).save(clinic, [
      { before: null, after: { id: newUuid(), name: 'Surgery', isActive: true } },
    ])
    await rooms.save(clinic, [{ before: null, after: aRoom() }], version)
    const stale = rooms.save(clinic, [{ before: null, after: aRoom() }], version)
    await expect(stale).rejects.toBeInstanceOf(ConditionFailed)
    const state = await rooms.readState(clinic)
    expect(state).toEqual({ entries: await rooms.list(clinic), version: version + 1 })
    await rooms.save(clinic, [{ before: null, after: aRoom() }], state.version)
  })

  it('is not changed or removed if it has changed since it was read', async () => {
    const { id: clinic } = await newClinic(db.table)
    const rooms = roomStore(db)
    const room = aRoom()
    await rooms.save(clinic, [{ before: null, after: room }])
    const before = await rooms.find(clinic, room.id)
    if (!before) throw new Error('the room exists')
    await rooms.save(clinic, [{ before, after: { ...room, name: 'Room 2' } }])
    await expect(rooms.save(clinic, [{ before, after: { ...room, name: 'Room 3' } }])).rejects.toBeInstanceOf(
      ConditionFailed,
    )
    await expect(rooms.save(clinic, [{ before: null, after: room }])).rejects.toBeInstanceOf(ConditionFailed)
    await expect(rooms.remove(clinic, before)).rejects.toBeInstanceOf(ConditionFailed)
    const changed = await rooms.find(clinic, room.id)
    expect(changed).toEqual({ ...room, name: 'Room 2', version: 2 })
    if (changed) await rooms.remove(clinic, changed)
    expect(await rooms.list(clinic)).toEqual([])
  })

  it('is in no list of another clinic', async () => {
    const { id: clinic } = await newClinic(db.table)
    const { id: other } = await newClinic(db.table)
    const [mine, theirs] = [aTreatment(), aTreatment()]
    const treatments = treatmentStore(db)
    await treatments.save(clinic, [{ before: null, after: mine }])
    await treatments.save(other, [{ before: null, after: theirs }])
    expect((await treatments.list(clinic)).map(({ id }) => id)).toEqual([mine.id])
    expect(await treatments.find(clinic, theirs.id)).toBeNull()
    expect(await treatments.findMany(clinic, [theirs.id])).toEqual(new Map())
  })
})

it('lists by name, without regard to case and accents', async () => {
  const { id: clinic } = await newClinic(db.table)
  const rooms = roomStore(db)
  const names = ['Ördek', 'operation', 'Orbit', 'Lab']
  await rooms.save(
    clinic,
    names.map((name) => ({ before: null, after: aRoom({ name }) })),
  )
  const listed = await rooms.list(clinic)
  expect(listed.map(({ name }) => name)).toEqual(['Lab', 'operation', 'Orbit', 'Ördek'])
})

it('converts prices that were stored when their currency had fewer decimals', async () => {
  const { id: clinic } = await newClinic(db.table)
  const treatment = aTreatment({ price: 25_000, currency: 'EUR' })
  await treatmentStore(db).save(clinic, [{ before: null, after: treatment }])
  const key = treatmentKey(clinic, treatment.id)
  const item = await db.table.get(key)
  await db.table.putMany([{ ...item, ...key, pr: 250, dec: 0 }])
  expect((await treatmentStore(db).find(clinic, treatment.id))?.price).toBe(25_000)
})

it('reads a doctor who was stored before departments existed as one without a department', async () => {
  const { id: clinic } = await newClinic(db.table)
  const id = newUuid()
  const { departmentId: _, ...doctor } = NEW_DOCTOR
  await db.table.putMany([{ ...doctorKey(clinic, id), ...doctor, fullName: 'Dr. Bo Lind', v: 1 }])
  expect((await doctorStore(db).find(clinic, id))?.departmentId).toBeNull()
})
