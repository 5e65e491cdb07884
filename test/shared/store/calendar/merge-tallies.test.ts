/** Tallies with shards, which writers that collide use: their sums, and how shards are merged. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type Appointment, NEW_APPOINTMENT } from '../../../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { tallyMerging } from '../../../../shared/store/calendar/merge-tallies.ts'
import {
  DIRTY_PARTITIONS,
  isTallyShard,
  tallyKey,
  tallyPartition,
} from '../../../../shared/store/keys/calendar.ts'
import { Changeset, COUNTER_SHARDS } from '../../../../shared/store/table/changeset.ts'
import { WriteConflict } from '../../../../shared/store/table/errors.ts'
import { openTable, type Table } from '../../../../shared/store/table/table.ts'
import { tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()
let now = Date.parse('2026-05-01T07:00:00Z')
let table: Table
beforeAll(async () => {
  table = openTable(db.client, db.name, { now: () => now })
})

const DAY = '2026-05-04'
const appointment = (minute: number): Appointment => ({
  id: newUuid(),
  ...NEW_APPOINTMENT,
  patient: { id: PATIENT, fullName: 'Ada Kaya' },
  doctor: { id: DOCTOR, fullName: 'Dr. Bo' },
  date: DAY,
  startTime: `09:${String(minute).padStart(2, '0')}`,
  endTime: '10:00',
  createdAt: '2026-01-01T00:00:00.000Z',
})
const [PATIENT, DOCTOR] = [newUuid(), newUuid()]

const create = async (clinic: ClinicId, minute: number): Promise<void> => {
  const changes = new Changeset(table, clinic)
  appointmentStore({ table }).change(changes, null, appointment(minute))
  await changes.commit()
}
const tallies = (clinic: ClinicId) =>
  table.query({ pk: tallyPartition(clinic, 'A', null), limit: 100, descending: true })
const total = async (clinic: ClinicId, filter = {}) =>
  (await appointmentStore({ table }).page(clinic, filter, { page: 1, limit: 5 })).total

describe('a tally whose writers collide', () => {
  it('has shards that every page sums, and is one item again after they are merged', async () => {
    const clinic = newUuid() as ClinicId
    await create(clinic, 0)
    expect((await tallies(clinic)).length).toBe(1)

    table.recentConflicts.recordConflict(tallyKey(tallyPartition(clinic, 'A', null), '2026-05'))
    for (let minute = 1; minute < 30; minute++) await create(clinic, minute)
    const sharded = await tallies(clinic)
    expect(sharded.length).toBeGreaterThan(2)
    expect(sharded.length).toBeLessThanOrEqual(1 + COUNTER_SHARDS)
    expect(await total(clinic)).toBe(30)
    expect(await total(clinic, { from: DAY, to: DAY })).toBe(30)
    expect(await total(clinic, { to: '2026-05-03' })).toBe(0)
    expect(await total(clinic, { from: '2026-05-05' })).toBe(0)

    const merging = tallyMerging({ table, now: () => now })
    const lags: number[] = []
    const reportLag = (ms: number) => void lags.push(ms)
    expect(await merging.mergeQuiet(reportLag)).toBe(0)
    now += 61_000
    expect(await merging.mergeQuiet(reportLag)).toBe(sharded.filter(isTallyShard).length)
    expect(lags).toEqual([0, 1000])
    const merged = await tallies(clinic)
    expect(merged.map(({ sk }) => sk)).toEqual(['2026-05'])
    expect(await total(clinic)).toBe(30)
    const markers = await Promise.all(DIRTY_PARTITIONS.map((pk) => table.query({ pk, limit: 10 })))
    expect(markers.flat()).toEqual([])
  })

  it('has shards for some seconds after the first conflict', async () => {
    const clinic = newUuid() as ClinicId
    const rejecting: Table = {
      ...table,
      tryTransact: async (writes) => {
        const index = writes.findIndex(({ Update }) => Update?.Key?.sk === '2026-05')
        if (index >= 0) throw new WriteConflict([index])
        await table.tryTransact(writes)
      },
    }
    const attempt = async () => {
      const changes = new Changeset(rejecting, clinic)
      appointmentStore({ table: rejecting }).change(changes, null, appointment(0))
      await changes.commit()
    }
    await expect(attempt()).rejects.toThrow(WriteConflict)
    // The doctor's tally is a counter of its own, and collides on its own.
    await expect(attempt()).rejects.toThrow(WriteConflict)
    await attempt()
    expect(await total(clinic)).toBe(1)
    now += 11_000
    await expect(attempt()).rejects.toThrow(WriteConflict)
  })
})
