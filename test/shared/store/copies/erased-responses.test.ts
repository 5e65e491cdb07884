/** Stored responses that change while a patient is erased. */
import { beforeEach, describe, expect, it } from 'vitest'
import { renderPatient } from '../../../../shared/api/patients.ts'
import {
  type BookingFacts,
  type BookingRequest,
  bookAppointment,
} from '../../../../shared/domain/booking/book-appointment.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { wallClock } from '../../../../shared/domain/clock.ts'
import type { Patient } from '../../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import type { WithUpdatedAt } from '../../../../shared/domain/with-updated-at.ts'
import { requestedWrite } from '../../../../shared/requests/requested-write.ts'
import { bookingStore } from '../../../../shared/store/calendar/booking.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { storedResponsesPartition } from '../../../../shared/store/keys/idempotency.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { IdempotencyKeyReused, idempotencyGuard } from '../../../../shared/store/table/idempotency.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { interruptedTable } from '../../../support/intercepted-table.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { aPatient, NOW, newClinic, tableOfFile } from '../../../support/table.ts'
import { tableText } from '../../../support/table-text.ts'

const db = tableOfFile()
let clinic: Clinic
let patient: WithUpdatedAt<Patient>

const guard = () =>
  idempotencyGuard(
    { table: db.table, now: () => NOW },
    { clinic: clinic.id, credential: 'ck_test', route: 'create-patient', key: 'key', body: '{}' },
  )

const storedBody = async () => JSON.parse((await guard().find())?.body ?? 'null')

beforeEach(async () => {
  clinic = await newClinic(db.table)
  patient = aPatient()
  await patientWriter(db).createMany(clinic.id, [patient])
  const changes = new Changeset(db.table, clinic.id)
  guard().store(changes, 202, { data: { id: '1', recipient: patient.emailAddress } }, patient.id)
  await changes.commit()
})

/** Erases the patient; the stored response changes between its reading and its update. */
async function eraseWhile(change: (response: Item) => Item): Promise<void> {
  let isChanged = false
  const table: Table = {
    ...db.table,
    update: async (key, parts) => {
      const item = await db.table.get({ pk: key.pk, sk: key.sk })
      if (item?.body && !isChanged) {
        isChanged = true
        await db.table.transact([db.table.putWrite(change(item))])
      }
      return db.table.update(key, parts)
    },
  }
  await patientChanges(table).erase(clinic.id, patient.id)
  expect(isChanged).toBe(true)
}

describe('erasing a patient', () => {
  it('changes no response of another patient for whom the expired key was used again', async () => {
    const other = aPatient()
    const body = { data: renderPatient(other, clinic) }
    await eraseWhile((response) => ({ ...response, p: other.id, body: JSON.stringify(body) }))
    expect(await storedBody()).toEqual(body)
  })

  it('empties a response that was completed in the meantime', async () => {
    await eraseWhile((response) => ({ ...response, body: JSON.stringify({ data: { name: 'Canary' } }) }))
    expect(await tableText(db)).not.toContain('canary')
    await expect(guard().find()).rejects.toThrow(IdempotencyKeyReused)
  })
})

it('stores no response to a booking of a taken time whose patient is erased meanwhile', async () => {
  const { clinic: id, doctor, appointment, patient: owner } = await createPopulatedClinic(db.table)
  const request: BookingRequest = {
    id: newUuid(),
    patient: owner.id,
    doctor: doctor.id,
    notes: 'Canary',
    externalId: null,
    date: appointment.date,
    startTime: appointment.startTime,
    minutes: 30,
    treatments: [],
    room: null,
    timezone: 'UTC',
    clock: wallClock(NOW, 'UTC'),
    createdAt: new Date(NOW).toISOString(),
  }
  const table = interruptedTable(db.table, () => patientChanges(db.table).erase(id.id, owner.id))
  const idempotency = idempotencyGuard(
    { table, now: () => NOW },
    { clinic: id.id, credential: 'ck_test', route: 'create-appointment', key: 'key', body: '{}' },
  )
  const decide = (facts: BookingFacts) => bookAppointment(request, facts)
  const write = requestedWrite({ checkIfMatch: () => {} }, { status: 201 }, idempotency, () => ({}))
  const outcome = await bookingStore({ table, now: Date.now }).book(id.id, request, decide, write)
  const stored = await db.table.query({ pk: storedResponsesPartition(id.id), limit: 100 })
  expect([outcome, stored]).toEqual([{ kind: 'patient_not_found' }, []])
})

it('keeps nothing of the response under a key that is freed', async () => {
  const freed = idempotencyGuard(
    { table: db.table, now: () => NOW },
    { clinic: clinic.id, credential: 'ck_test', route: 'send-message', key: 'freed', body: '{}' },
  )
  const reserved = new Changeset(db.table, clinic.id)
  freed.reserve(reserved, 202, { data: { recipient: 'canary@x.org' } }, patient.id, NOW + 1000)
  await reserved.commit()
  const completed = new Changeset(db.table, clinic.id)
  await freed.complete(completed, 202, null)
  await completed.commit()

  expect(await tableText(db)).not.toContain('canary@x.org')
  expect(await freed.find()).toBeNull()
  await patientChanges(db.table).erase(clinic.id, patient.id)
})
