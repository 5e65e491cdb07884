/** Pages that are read while records change their status, are created and are moved. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { APPOINTMENT_STATUSES, type Appointment } from '../../../../shared/domain/booking/appointment.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { anAppointment } from '../../../support/sample-records.ts'
import { property } from '../../../support/scale.ts'
import { tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

const DATES = ['2026-04-30', '2026-05-01', '2026-05-02']
const [PATIENT, DOCTOR] = [newUuid(), newUuid()]

const appointmentArbitrary = fc
  .record({
    date: fc.constantFrom(...DATES),
    startTime: fc.constantFrom('09:00', '09:30', '17:45'),
    status: fc.constantFrom(...APPOINTMENT_STATUSES),
  })
  .map((facts) =>
    anAppointment({
      id: newUuid(),
      patient: { id: PATIENT, fullName: 'Ada Kaya' },
      doctor: { id: DOCTOR, fullName: 'Dr. Bo' },
      endTime: '18:00',
      ...facts,
    }),
  )

/** A change, and the call of the table before which it happens. */
const changeArbitrary = fc.record({
  call: fc.nat(12),
  index: fc.nat(100),
  becomes: appointmentArbitrary,
  isNew: fc.boolean(),
})

const order = ({ date, startTime, id }: Appointment): string => `${date} ${startTime} ${id}`
const sorted = (records: Iterable<Appointment>): Appointment[] =>
  [...records].sort((a, b) => (order(a) < order(b) ? 1 : -1))

it('returns a consistent page and total when records change between any two of its reads', async () => {
  let drifts = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(appointmentArbitrary, { minLength: 4, maxLength: 14 }),
      fc.array(changeArbitrary, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(2, 5, 20),
      fc.integer({ min: 1, max: 3 }),
      async (records, changes, limit, page) => {
        const clinic = newUuid() as ClinicId
        const states = new Map(records.map((record) => [record.id, record]))
        const list = appointmentStore(db)
        for (const record of records) {
          const creation = new Changeset(db.table, clinic)
          list.change(creation, null, record)
          await creation.commit()
        }
        const moments = [sorted(states.values())]
        const pending = [...changes]
        let calls = 0
        const apply = async () => {
          const due = pending.filter(({ call }) => call <= calls)
          for (const change of due) {
            pending.splice(pending.indexOf(change), 1)
            const { id } = records[change.index % records.length] as Appointment
            const before = change.isNew ? null : await list.find(clinic, id)
            const after = before ? { ...change.becomes, id } : change.becomes
            const changeset = new Changeset(db.table, clinic)
            list.change(changeset, before, after)
            await changeset.commit()
            states.set(after.id, after)
            moments.push(sorted(states.values()))
          }
          calls++
        }
        // Reads run one after the other, each with what is due before it.
        let last: Promise<unknown> = Promise.resolve()
        const interrupted: Table = {
          ...db.table,
          query: (range) => {
            const read = last.then(apply).then(() => db.table.query(range))
            last = read
            return read
          },
        }
        const read = await appointmentStore({ table: interrupted, onDrift: () => drifts++ }).page(
          clinic,
          {},
          { page, limit },
        )
        const ids = read.items.map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        const start = (page - 1) * limit
        const expected = moments.map((all) => ({
          total: all.length,
          ids: all.slice(start, start + limit).map(({ id }) => id),
        }))
        expect(expected).toContainEqual({ total: read.total, ids })
      },
    ),
    {
      ...property(30, 3000),
      // A new record before each of the first reads: two of them drift, whatever the random rounds do.
      examples: [0, 1, 2, 3].map((call) => [
        DATES.map((date) => anAppointment({ id: newUuid(), date })),
        [{ call, index: 0, becomes: anAppointment({ id: newUuid(), date: '2026-05-01' }), isNew: true }],
        2,
        1,
      ]),
    },
  )
  expect(drifts).toBeGreaterThanOrEqual(2)
})
