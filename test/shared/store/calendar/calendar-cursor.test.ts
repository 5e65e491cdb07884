import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { APPOINTMENT_STATUSES, type Appointment } from '../../../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import type { CalendarFilter } from '../../../../shared/store/calendar/calendar-filter.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { retryOnConflict } from '../../../../shared/store/table/retries.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { anAppointment } from '../../../support/sample-records.ts'
import { property } from '../../../support/scale.ts'
import { tableOfFile } from '../../../support/table.ts'

type Filter = CalendarFilter<Appointment['status']>

const db = tableOfFile()

const PEOPLE = Array.from({ length: 3 }, () => newUuid())

const appointmentArbitrary = fc.record({
  date: fc.constantFrom('2026-03-31', '2026-04-01', '2026-05-04', '2026-05-05', '2026-05-06'),
  startTime: fc.constantFrom('09:00', '10:00', '11:00'),
  status: fc.constantFrom(...APPOINTMENT_STATUSES),
  patient: fc.constantFrom(...PEOPLE),
  doctor: fc.constantFrom(...PEOPLE),
  room: fc.constantFrom(...PEOPLE, null),
  // Long notes make rows thin.
  notes: fc.constantFrom(null, 'x'.repeat(800)),
})

const filterArbitrary: fc.Arbitrary<Filter> = fc.record(
  {
    patient: fc.constantFrom(...PEOPLE),
    doctor: fc.constantFrom(...PEOPLE),
    facets: fc.subarray([...APPOINTMENT_STATUSES], { minLength: 1 }),
    room: fc.constantFrom(...PEOPLE),
    order: fc.constantFrom('asc' as const, 'desc' as const),
    from: fc.constantFrom('2026-04-01', '2026-05-05'),
    to: fc.constantFrom('2026-05-05', '2026-05-06'),
  },
  { requiredKeys: [] },
)

type Facts = typeof appointmentArbitrary extends fc.Arbitrary<infer Facts> ? Facts : never
const toAppointment = ({ patient, doctor, room, ...facts }: Facts) =>
  anAppointment({
    ...facts,
    id: newUuid(),
    patient: { id: patient, fullName: 'Ada Kaya' },
    doctor: { id: doctor, fullName: 'Dr. Bo Lind' },
    room: room ? { id: room, name: 'Room 1' } : null,
    endTime: '23:00',
  })

async function save(clinic: ClinicId, after: Appointment, table: Table = db.table): Promise<void> {
  const list = appointmentStore({ table })
  await retryOnConflict(async () => {
    const changes = new Changeset(table, clinic)
    list.change(changes, await list.find(clinic, after.id), after)
    await changes.commit()
  })
}

/** Follows the cursors from the first page to the end; `between` runs before each further request. */
async function readAll(
  clinic: ClinicId,
  filter: Filter,
  limit: number,
  between: () => Promise<unknown> = async () => {},
  table: Table = db.table,
): Promise<Appointment[]> {
  const list = appointmentStore({ table })
  const first = await list.page(clinic, filter, { page: 1, limit })
  const found: Appointment[] = [...first.items]
  for (let next = first.next; next !== null; ) {
    await between()
    const more = await list.after(clinic, filter, next, limit)
    expect(more.items.length).toBeLessThanOrEqual(limit)
    found.push(...more.items)
    next = more.next
  }
  return found
}

const matches = (one: Appointment, { patient, doctor, facets, room, from, to }: Filter): boolean =>
  (patient ?? one.patient.id) === one.patient.id &&
  (doctor ?? one.doctor.id) === one.doctor.id &&
  (facets ?? [one.status]).includes(one.status) &&
  (room ?? one.room?.id) === one.room?.id &&
  (from ?? '') <= one.date &&
  one.date <= (to ?? '9')

const idsOf = (records: readonly Appointment[]) => records.map(({ id }) => id)

describe('the cursors of a calendar list', () => {
  it('shows exactly the records of the pages, in their order, for every filter and limit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(appointmentArbitrary, { maxLength: 25 }),
        fc.array(filterArbitrary, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(1, 2, 3, 7, 30),
        async (facts, filters, limit) => {
          const clinic = newUuid() as ClinicId
          const records = facts.map(toAppointment)
          for (const one of records) await save(clinic, one)
          for (const filter of filters) {
            const { items } = await appointmentStore(db).page(clinic, filter, { page: 1, limit: 100 })
            expect(items).toHaveLength(records.filter((one) => matches(one, filter)).length)
            expect(idsOf(await readAll(clinic, filter, limit))).toEqual(idsOf(items))
          }
        },
      ),
      property(25, 400),
    )
  })

  it('skips and repeats no record that keeps its place while others come, move and go', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(appointmentArbitrary, { minLength: 8, maxLength: 16 }),
        fc.array(fc.tuple(fc.nat(), appointmentArbitrary), { minLength: 10, maxLength: 10 }),
        fc.constantFrom(1, 2, 3),
        fc.constantFrom('asc' as const, 'desc' as const),
        async (facts, plans, limit, order) => {
          const clinic = newUuid() as ClinicId
          const records = facts.map(toAppointment)
          for (const one of records) await save(clinic, one)
          // The first four stay; of the others, and of new ones, anything may change.
          const [kept, others] = [records.slice(0, 4), records.slice(4)]
          const found = await readAll(clinic, { order }, limit, async () => {
            const [which, change] = plans.pop() ?? []
            const one = which !== undefined && which % 2 === 0 ? others[which % others.length] : undefined
            if (change) await save(clinic, { ...toAppointment(change), ...(one && { id: one.id }) })
          })
          const ids = idsOf(found)
          for (const { id } of kept) expect(ids.filter((seen) => seen === id)).toEqual([id])
        },
      ),
      property(20, 300),
    )
  })

  it('finds a record whose status changes between the reads of two statuses', async () => {
    const clinic = newUuid() as ClinicId
    const base = {
      date: '2026-05-04',
      startTime: '09:00',
      patient: PEOPLE[0],
      doctor: PEOPLE[0],
      notes: null,
    }
    const first = toAppointment({ ...base, date: '2026-05-06', status: 'scheduled' } as never)
    const moving = toAppointment({ ...base, status: 'scheduled' } as never)
    const completed = toAppointment({ ...base, status: 'completed' } as never)
    for (const one of [first, moving, completed]) await save(clinic, one)
    let isMoved = false
    // The appointment is completed after the completed ones were read, and before the scheduled ones are.
    const table: Table = {
      ...db.table,
      query: async (range) => {
        const isOf = (facet: string) => range.from?.startsWith(`${facet}#`) && range.pk.endsWith('#AL')
        if (!isMoved && isOf('s')) {
          await new Promise((resolve) => setTimeout(resolve, 50))
          isMoved = true
          await save(clinic, { ...moving, status: 'completed' })
        }
        return db.table.query(range)
      },
    }
    const list = appointmentStore({ table })
    const page = await appointmentStore(db).page(clinic, {}, { page: 1, limit: 1 })
    const { items, next } = await list.after(clinic, {}, page.next ?? '', 10)
    expect(isMoved).toBe(true)
    expect(idsOf(items).sort()).toEqual(idsOf([moving, completed]).sort())
    expect(next).toBeNull()
  })

  it('skips no record after a first page whose every reading was disturbed', async () => {
    const clinic = newUuid() as ClinicId
    const make = (startTime: string, status: string, date = '2026-05-06') =>
      toAppointment({ date, startTime, status, patient: PEOPLE[0], doctor: PEOPLE[0], notes: null } as never)
    const newest = { s: make('11:00', 'scheduled'), c: make('11:00', 'completed') }
    const records = [newest.s, newest.c, make('09:00', 'scheduled'), make('09:00', 'completed')]
    for (const one of records) await save(clinic, one)
    let reads = 0
    let last: Promise<unknown> = Promise.resolve()
    // Another appointment is made during each reading; in the fourth, the newest of the status that is read last gets the other.
    const disturb = async (pk: string, facet: string | undefined) => {
      if (!pk.endsWith('#AL') || ++reads % 2 === 1 || reads > 8) return
      await save(clinic, make('09:00', 'scheduled', '2026-05-01'))
      if (reads < 8) return
      if (facet === 's') await save(clinic, { ...newest.s, status: 'completed' })
      else await save(clinic, { ...newest.c, status: 'scheduled' })
    }
    const table: Table = {
      ...db.table,
      query: (range) => {
        const read = last
          .then(() => disturb(range.pk, range.from?.charAt(0)))
          .then(() => db.table.query(range))
        last = read
        return read
      },
    }
    const seen = idsOf(await readAll(clinic, {}, 4, undefined, table))
    expect(reads).toBeGreaterThanOrEqual(8)
    for (const { id } of records) expect(seen.filter((one) => one === id)).toEqual([id])
  })
})
