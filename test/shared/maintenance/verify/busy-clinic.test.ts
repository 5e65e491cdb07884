import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { appointmentStore } from '../../../../shared/store/calendar/appointments.ts'
import { rowKeys } from '../../../../shared/store/calendar/calendar-row.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { doctorDayKey, tallyPartition } from '../../../../shared/store/keys/calendar.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { patientRowKey } from '../../../../shared/store/keys/patients.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { rounds } from '../../../support/scale.ts'
import { aPatient, tableOfFile } from '../../../support/table.ts'
import { faultInjection } from './comparison/fault-injection.ts'
import {
  addPayment,
  aMessage,
  anAppointment,
  aPayment,
  createAll,
  createPractice,
  type Practice,
  pickOne,
  runVerification,
  setStatus,
} from './practice.ts'

const LONG = rounds(60_000, 900_000)

const db = tableOfFile()
let made: Practice
let raw: ReturnType<typeof faultInjection>

beforeAll(async () => {
  raw = faultInjection(db)
})
beforeEach(async () => {
  made = await createPractice(db.table, {
    patients: 6,
    doctors: 2,
    appointments: 20,
    invoices: 4,
    payments: 4,
    messages: 4,
  })
  await patientWriter(db).snapshot(made.clinic)
})

/** Creates and changes records of every kind for as long as `work` takes; `rest` milliseconds between two of a kind. */
async function whileWriting<T>(work: () => Promise<T>, rest = 0): Promise<{ result: T; written: number }> {
  const { clinic } = made
  let done = false
  let written = 0
  const writer = async (write: () => Promise<unknown>) => {
    while (!done) {
      await write()
      written++
      await new Promise((resolve) => setTimeout(resolve, rest))
    }
  }
  const entry = patientWriter(db)
  const changes = patientChanges(db.table)
  const writing = [
    writer(async () => {
      const appointment = anAppointment(made)
      await createAll(db.table, clinic, appointmentStore(db), [appointment])
      made.appointments.push(appointment)
    }),
    writer(() =>
      setStatus(
        db.table,
        clinic,
        pickOne(made, made.appointments).id,
        pickOne(made, ['cancelled', 'completed', 'scheduled'] as const),
      ),
    ),
    writer(() => addPayment(db.table, clinic, aPayment(made))),
    writer(() => createAll(db.table, clinic, messageStore(db), [aMessage(made)])),
    writer(async () => {
      await entry.createMany(clinic, [aPatient()])
      const { id } = pickOne(made, made.patients)
      await changes.update(clinic, id, { phoneNumber: `+9055${String(made.random()).slice(2, 10)}` })
    }),
  ]
  const result = await work().finally(() => {
    done = true
  })
  await Promise.all(writing)
  return { result, written }
}

describe('verifying a clinic while others write to it', () => {
  it(
    'reports no difference',
    async () => {
      for (let round = 0; round < rounds(1, 30); round++) {
        const { result, written } = await whileWriting(() => runVerification(db.table, made.clinic))
        expect(result.found).toEqual([])
        expect(written).toBeGreaterThan(10)
      }
    },
    LONG,
  )

  it('reports no difference while copies of a renamed patient are being refreshed', async () => {
    const patient = made.patients[0]?.id ?? ''
    let done = false
    const renaming = (async () => {
      for (let number = 1; !done; number++) {
        await patientChanges(db.table).update(made.clinic, patient, { lastName: `Name${number}` })
      }
    })()
    const { found } = await runVerification(db.table, made.clinic)
    done = true
    await renaming
    expect(found).toEqual([])
    expect((await runVerification(db.table, made.clinic)).found).toEqual([])
  })

  it(
    'repairs the damage and keeps what others write meanwhile',
    async () => {
      for (let round = 0; round < rounds(1, 30); round++) {
        await damage()
        const { result } = await whileWriting(() => runVerification(db.table, made.clinic, true), 20)
        expect(result.found.filter(({ repaired }) => !repaired)).toEqual([])
        expect(result.repaired).toBeGreaterThan(4)
        expect((await runVerification(db.table, made.clinic)).found).toEqual([])
      }
    },
    LONG,
  )
})

/** Damages some rows and counters, a doctor's day and a patient's row. */
async function damage(): Promise<void> {
  const { clinic } = made
  const list = appointmentStore(db)
  const stored = (await list.find(clinic, pickOne(made, made.appointments).id))?.record
  if (!stored) throw new Error('An appointment is missing.')
  const rows = rowKeys(clinic, 'A', list.entity.position(stored))
  // The row in between confirms the record.
  for (const row of rows.slice(0, 1)) await raw.remove(row)
  for (const row of rows.slice(2)) await raw.alter(row, () => ({ b: '00:00' }))
  await raw.put({
    pk: rows[0]?.pk ?? '',
    sk: `c#2026-05-02#09:00#${shortId(made.patients[0]?.id ?? '')}`,
  })
  const day = doctorDayKey(clinic, stored.doctor.id, stored.date)
  const stranger = shortId(made.patients[0]?.id ?? '')
  await raw.put({ ...(await db.table.get(day)), ...day, [stranger]: '01:00-02:00' })
  const tallies = await db.table.query({ pk: tallyPartition(clinic, 'A', null), limit: 10 })
  for (const { pk, sk } of tallies) {
    await db.table.update(
      { pk, sk },
      {
        UpdateExpression: 'ADD #counter :wrong, v :one',
        ExpressionAttributeNames: { '#counter': '5s' },
        ExpressionAttributeValues: { ':wrong': 7, ':one': 1 },
      },
    )
  }
  await raw.alter(patientRowKey(clinic, 1), () => ({ l: 'Damaged' }))
}
