import { expect, it } from 'vitest'
import { type Appointment, NEW_APPOINTMENT } from '../../../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { tallyMerging } from '../../../../shared/store/calendar/merge-tallies.ts'
import { tallyKey, tallyPartition } from '../../../../shared/store/keys/calendar.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { freshTable } from '../../../support/table.ts'

it('counts no record twice when a shard of a tally is merged while a query reads it', async () => {
  const { table } = await freshTable()
  const clinic = newUuid() as ClinicId
  const pk = tallyPartition(clinic, 'A', null)
  const list = appointmentStore({ table })
  const add = async (date: string) => {
    const changes = new Changeset(table, clinic)
    const appointment: Appointment = {
      id: newUuid(),
      ...NEW_APPOINTMENT,
      patient: { id: newUuid(), fullName: 'A' },
      doctor: { id: newUuid(), fullName: 'B' },
      date,
      startTime: '09:00',
      endTime: '09:30',
      createdAt: '2026-01-01T00:00:00.000Z',
    }
    list.change(changes, null, appointment)
    await changes.commit()
  }
  await add('2026-04-01')
  await add('2026-06-01')
  table.recentConflicts.recordConflict(tallyKey(pk, '2026-04'))
  await add('2026-04-02')
  let isFirst = true
  // A query is not atomic: a merge commits between its reads of a shard and of the month's item.
  const torn: Table = {
    ...table,
    query: async (range) => {
      if (range.pk !== pk || !isFirst) return table.query(range)
      isFirst = false
      const newer = await table.query({ ...range, from: '2026-04~' })
      await tallyMerging({ table, now: () => Date.now() + 120_000 }).mergeQuiet()
      return [...newer, ...(await table.query({ ...range, to: '2026-04' }))]
    },
  }
  const page = await appointmentStore({ table: torn }).page(clinic, {}, { page: 1, limit: 1 })
  expect(page.total).toBe(3)
})
