import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  APPOINTMENT_STATUSES,
  type Appointment,
  type AppointmentStatus,
} from '../../../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { APPOINTMENTS, appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import type { StoredRecord } from '../../../../shared/store/calendar/calendar-entity.ts'
import type { CalendarFilter } from '../../../../shared/store/calendar/calendar-filter.ts'
import { rowKeys } from '../../../../shared/store/calendar/calendar-row.ts'
import { toDayTallies } from '../../../../shared/store/calendar/tally.ts'
import { doctorDayKey, tallyPartition } from '../../../../shared/store/keys/calendar.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { ConditionFailed } from '../../../../shared/store/table/errors.ts'
import { repeatOnConflict } from '../../../../shared/store/table/retries.ts'
import { openTable, type Table } from '../../../../shared/store/table/table.ts'
import { anAppointment } from '../../../support/sample-records.ts'
import { property } from '../../../support/scale.ts'
import { engineClient, tableOfFile } from '../../../support/table.ts'
import { withoutUpdatedAt } from '../../../support/without-updated-at.ts'

const db = tableOfFile()

const PEOPLE = Array.from({ length: 3 }, newUuid).sort()
const DATES = [
  '2025-12-31',
  '2026-01-01',
  '2026-01-02',
  '2026-01-31',
  '2026-02-01',
  '2026-02-28',
  '2027-06-15',
]
type Filter = CalendarFilter<AppointmentStatus>

const appointmentArbitrary = fc
  .record({
    patient: fc.constantFrom(...PEOPLE),
    doctor: fc.constantFrom(...PEOPLE),
    date: fc.constantFrom(...DATES),
    // Few times, so that many are equal and the id must decide.
    startTime: fc.constantFrom('09:00', '09:30', '17:45'),
    status: fc.constantFrom(...APPOINTMENT_STATUSES),
    room: fc.constantFrom(...PEOPLE, null),
    notes: fc.constantFrom(null, 'short', 'long '.repeat(300)),
  })
  .map(({ patient, doctor, room, ...facts }) =>
    anAppointment({
      id: newUuid(),
      patient: { id: patient, fullName: 'Ada Kaya' },
      doctor: { id: doctor, fullName: 'Dr. Bo' },
      endTime: '18:00',
      ...facts,
      room: room === null ? null : { id: room, name: 'Room 1' },
    }),
  )

const filterArbitrary: fc.Arbitrary<Filter> = fc
  .record(
    {
      patient: fc.constantFrom(...PEOPLE),
      doctor: fc.constantFrom(...PEOPLE),
      facets: fc.subarray([...APPOINTMENT_STATUSES], { minLength: 1 }),
      room: fc.constantFrom(...PEOPLE),
      order: fc.constantFrom('asc' as const, 'desc' as const),
      from: fc.constantFrom(...DATES, '2026-01-15'),
      to: fc.constantFrom(...DATES, '2026-01-15'),
    },
    { requiredKeys: [] },
  )
  .filter(({ from, to }) => !from || !to || from <= to)

const sortKeyOf = ({ date, startTime, id }: Appointment): string => `${date} ${startTime} ${id}`

function oracle(
  all: Iterable<Appointment>,
  { patient, doctor, facets, room, order, from, to }: Filter,
): Appointment[] {
  const newestFirst = [...all]
    .filter(
      (one) =>
        (!patient || one.patient.id === patient) &&
        (!doctor || one.doctor.id === doctor) &&
        (!facets || facets.includes(one.status)) &&
        (!room || one.room?.id === room) &&
        (!from || one.date >= from) &&
        (!to || one.date <= to),
    )
    .sort((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? 1 : -1))
  return order === 'asc' ? newestFirst.reverse() : newestFirst
}

async function save(
  table: Table,
  clinic: ClinicId,
  before: StoredRecord<Appointment> | null,
  after: Appointment,
): Promise<void> {
  await repeatOnConflict(async () => {
    const changes = new Changeset(table, clinic)
    appointmentStore({ table }).change(changes, before, after)
    await changes.commit()
  })
}

async function expectPages(
  table: Table,
  clinic: ClinicId,
  all: Iterable<Appointment>,
  filter: Filter,
  limit: number,
): Promise<void> {
  const list = appointmentStore({ table, onDrift: () => expect.unreachable() })
  const expected = oracle(all, filter)
  for (let page = 1; page === 1 || (page - 1) * limit < expected.length; page++) {
    const { items, total } = await list.page(clinic, filter, { page, limit })
    expect(total).toBe(expected.length)
    expect(items.map(withoutUpdatedAt)).toEqual(expected.slice((page - 1) * limit, page * limit))
  }
}

/** Every tally equals a recount, none is negative, and the doctors' days hold what takes time. */
async function expectInvariants(table: Table, clinic: ClinicId, all: readonly Appointment[]): Promise<void> {
  for (const doctor of [null, ...PEOPLE]) {
    const mine = all.filter((one) => doctor === null || one.doctor.id === doctor)
    const months = await table.query({ pk: tallyPartition(clinic, 'A', doctor), limit: 1000 })
    const counted = months
      .flatMap((month) => toDayTallies(month.sk, month))
      .flatMap(({ date, counts }) => [...counts].map(([facet, count]) => `${date} ${facet} ${count}`))
    const recount = Map.groupBy(mine, ({ date, status }) => `${date} ${APPOINTMENTS.facets[status]}`)
    expect(counted.sort()).toEqual([...recount].map(([key, list]) => `${key} ${list.length}`).sort())
  }
  for (const doctor of PEOPLE) {
    for (const date of DATES) {
      const day = await table.get(doctorDayKey(clinic, doctor, date))
      const busy = Object.entries(day ?? {}).flatMap(([name, value]) =>
        ['pk', 'sk', 'v'].includes(name) ? [] : [value],
      )
      const taken = all.filter(
        (one) =>
          one.doctor.id === doctor && one.date === date && ['scheduled', 'completed'].includes(one.status),
      )
      expect(busy.sort()).toEqual(taken.map(({ startTime, endTime }) => `${startTime}-${endTime}`).sort())
    }
  }
}

describe('a tallied calendar list', () => {
  it('returns what the oracle returns for every filter, page and limit, after any changes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(appointmentArbitrary, { maxLength: 40 }),
        fc.array(fc.tuple(fc.nat(), appointmentArbitrary), { maxLength: 15 }),
        fc.array(fc.tuple(filterArbitrary, fc.constantFrom(1, 3, 20, 100)), { minLength: 3, maxLength: 6 }),
        async (created, changed, asked) => {
          const clinic = newUuid() as ClinicId
          const all = new Map<string, Appointment>()
          for (const one of created) {
            await save(db.table, clinic, null, one)
            all.set(one.id, one)
          }
          for (const [at, facts] of changed) {
            const ids = [...all.keys()]
            const id = ids[at % ids.length]
            if (id === undefined) continue
            const before = await appointmentStore(db).find(clinic, id)
            const after = { ...facts, id }
            await save(db.table, clinic, before, after)
            all.set(id, after)
          }
          await expectInvariants(db.table, clinic, [...all.values()])
          for (const [filter, limit] of [[{}, 7] as const, ...asked])
            await expectPages(db.table, clinic, all.values(), filter, limit)
        },
      ),
      property(25, 400),
    )
  })

  it('commits several changes together or not at all', async () => {
    const clinic = newUuid() as ClinicId
    const [first, second] = fc.sample(appointmentArbitrary, 2) as [Appointment, Appointment]
    await save(db.table, clinic, null, first)
    const list = appointmentStore(db)
    const both = new Changeset(db.table, clinic)
    list.change(both, null, second)
    list.change(
      both,
      { record: { ...first, updatedAt: first.createdAt }, version: 7, events: 1 },
      { ...first, status: 'completed' },
    )
    await expect(both.commit()).rejects.toThrow(ConditionFailed)
    // Nor does the same creation count twice.
    await expect(save(db.table, clinic, null, first)).rejects.toThrow(ConditionFailed)
    await expectInvariants(db.table, clinic, [first])
    await expectPages(db.table, clinic, [first], {}, 20)
  })

  it('counts a record exactly once under concurrent changes of it, however transactions conflict', async () => {
    const conflicts = { injected: 0 }
    const flaky = openTable(conflicting(0.4, conflicts), db.name)
    await fc.assert(
      fc.asyncProperty(appointmentArbitrary, async (one) => {
        const clinic = newUuid() as ClinicId
        await save(flaky, clinic, null, { ...one, status: 'scheduled' })
        const before = await appointmentStore(db).find(clinic, one.id)
        const results = await Promise.allSettled(
          APPOINTMENT_STATUSES.map((status) => save(flaky, clinic, before, { ...one, status })),
        )
        expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(1)
        const after = await appointmentStore(db).find(clinic, one.id)
        await expectInvariants(db.table, clinic, after ? [after.record] : [])
      }),
      property(10, 200),
    )
    expect(conflicts.injected).toBeGreaterThan(5)
  })

  it('is written completely or not at all when the process crashes between two calls', async () => {
    const [one] = fc.sample(appointmentArbitrary, 1) as [Appointment]
    for (let calls = 0; ; calls++) {
      const clinic = newUuid() as ClinicId
      const dying = openTable(dyingAfter(calls), db.name)
      const died = await save(dying, clinic, null, one).then(
        () => false,
        () => true,
      )
      const stored = await appointmentStore(db).find(clinic, one.id)
      await expectInvariants(db.table, clinic, stored ? [one] : [])
      await expectPages(db.table, clinic, stored ? [one] : [], {}, 20)
      if (!died) break
    }
  })

  it('keeps ids in the order of UUIDs where times are equal', async () => {
    const [one] = fc.sample(appointmentArbitrary, 1) as [Appointment]
    const ids = Array.from({ length: 50 }, () => crypto.randomUUID()).sort()
    const keys = ids.map(
      (id) => rowKeys(newUuid() as ClinicId, 'A', { ...APPOINTMENTS.position({ ...one, id }) })[0]?.sk,
    )
    expect(keys).toEqual([...keys].sort())
  })
})

/** A client whose transactions are rejected for a conflict every so often, as DynamoDB does and the engine does not. */
function conflicting(share: number, conflicts: { injected: number }): DynamoDBDocumentClient {
  const client = engineClient()
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (!commandName?.startsWith('TransactWrite') || Math.random() > share) return next(args)
        conflicts.injected++
        throw Object.assign(new Error('conflict'), {
          name: 'TransactionCanceledException',
          CancellationReasons: [{ Code: 'None' }, { Code: 'TransactionConflict' }],
        })
      },
    { step: 'initialize', priority: 'low' },
  )
  return client
}

/** A client whose process is gone after so many calls. */
function dyingAfter(calls: number): DynamoDBDocumentClient {
  const client = engineClient()
  let left = calls
  client.middlewareStack.add(
    (next) => async (args) => {
      if (left-- <= 0) throw new Error('the process is gone')
      return next(args)
    },
    { step: 'initialize', priority: 'low' },
  )
  return client
}
