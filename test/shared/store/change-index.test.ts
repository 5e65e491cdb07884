import { beforeAll, describe, expect, it } from 'vitest'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import {
  changedId,
  changeIndexKey,
  changeIndexPartition,
  INDEXED_KINDS,
  type IndexedKind,
} from '../../../shared/store/keys/change-index.ts'
import { messageDispatch } from '../../../shared/store/messages/dispatch.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../support/records.ts'
import { tableOfFile } from '../../support/table.ts'

const db = tableOfFile()
let made: PopulatedClinic
beforeAll(async () => {
  made = await createPopulatedClinic(db.table)
})

const items = (kind: IndexedKind, clinic: Clinic = made.clinic) =>
  db.table.query({ pk: changeIndexPartition(clinic.id, kind), limit: 100 })

/** The only item of a kind. */
async function indexItem(kind: IndexedKind) {
  const found = await items(kind)
  expect(found).toHaveLength(1)
  return found[0]?.sk
}

const positions = () => Promise.all(INDEXED_KINDS.map(indexItem))

describe('the index of changes', () => {
  it('lists each record under its own time and id, with nothing but its key', async () => {
    const { patient, appointment, invoice, payment, message } = made
    const ids = [patient, appointment, invoice, payment, message].map(({ id }) => id)
    const found = (await Promise.all(INDEXED_KINDS.map((kind) => items(kind)))).flat()
    expect(found.map(changedId)).toEqual(ids)
    for (const item of found) expect(Object.keys(item).sort()).toEqual(['pk', 'sk'])
    const stored = await appointmentStore(db).find(made.clinic.id, appointment.id)
    const key = changeIndexKey(made.clinic.id, 'A', {
      id: appointment.id,
      updatedAt: stored?.record.updatedAt ?? '',
    })
    expect(await db.table.get(key)).toEqual(key)
  })

  it('sorts by time whatever the ids are', () => {
    const key = (updatedAt: string, id: string) => changeIndexKey(made.clinic.id, 'P', { id, updatedAt }).sk
    const [low, high] = ['00000000-0000-4000-8000-000000000000', 'ffffffff-ffff-4fff-8fff-ffffffffffff']
    expect(key('2026-05-01T07:00:00.001Z', low) > key('2026-05-01T07:00:00.000Z', high)).toBe(true)
    expect(key('2199-12-31T23:59:59.999Z', low) > key('0001-01-01T00:00:00.000Z', high)).toBe(true)
  })

  it('moves a record with every change of it: a status, feedback of a provider', async () => {
    const before = await positions()
    const list = appointmentStore(db)
    const stored = await list.find(made.clinic.id, made.appointment.id)
    const changes = new Changeset(db.table, made.clinic.id)
    if (stored) list.change(changes, stored, { ...stored.record, status: 'completed' })
    await changes.commit()
    await messageDispatch(db).recordFeedback(made.clinic.id, made.message.id, {
      kind: 'complaint',
      at: made.message.acceptedAt,
      providerMessageId: null,
      reason: 'complaint',
    })
    const moved = (await positions()).map((position, at) => position !== before[at])
    expect(moved).toEqual([false, true, false, false, true])
  })

  it('moves only the patient when the name changes, whose copies are rewritten', async () => {
    const other = await createPopulatedClinic(db.table)
    const list = appointmentStore(db)
    const before = await list.find(other.clinic.id, other.appointment.id)
    const [position] = await items('P', other.clinic)
    await patientChanges(db.table).update(other.clinic.id, other.patient.id, { lastName: 'New' })
    const after = await list.find(other.clinic.id, other.appointment.id)
    expect(after?.record.patient.fullName).toMatch(/ New$/)
    expect(after?.record.updatedAt).toBe(before?.record.updatedAt)
    expect(await items('P', other.clinic)).not.toEqual([position])
  })

  it('moves every record that an erasure rewrites', async () => {
    const before = await positions()
    await patientChanges(db.table).erase(made.clinic.id, made.patient.id)
    const moved = (await positions()).map((position, at) => position !== before[at])
    expect(moved).toEqual([true, true, true, true, true])
  })
})
