/** The event of a finished file: once for each content, whenever the import was killed. */
import { createHash, createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { announceImport } from '../../../../../bin/clinic/import/run/announce-import.ts'
import type { Clinic } from '../../../../../shared/domain/clinic.ts'
import { clinicStore } from '../../../../../shared/store/clinics.ts'
import { patientChanges } from '../../../../../shared/store/copies/patient-changes.ts'
import { readImportIds } from '../../../../../shared/store/external-ids/derive.ts'
import { announcedPartition, announcedRange } from '../../../../../shared/store/keys/events.ts'
import { UnavailableError } from '../../../../../shared/store/table/errors.ts'
import { importEntities } from '../../../../../shared/sync/entities/entities.ts'
import type { ImportableEntity } from '../../../../../shared/sync/entities/entity.ts'
import type { Counts } from '../../../../../shared/sync/outcomes/batch-outcomes.ts'
import { deployedTable } from '../../../../support/deployed-stack.ts'
import { importAlone } from '../../../../support/imports.ts'
import { interceptedTable } from '../../../../support/intercepted-table.ts'
import { newClinic } from '../../../../support/table.ts'
import { tableText } from '../../../../support/table-text.ts'
import { temporaryFolder } from '../../../../support/temporary-folder.ts'

const { db, run } = deployedTable()
let clinic: Clinic
const folder = temporaryFolder()
const file = join(folder, 'departments.ndjson')

beforeEach(async () => {
  clinic = await newClinic(db.table)
})

const SURGERY = '{"external_id":1,"name":"Surgery"}\n'
const RADIOLOGY = '{"external_id":2,"name":"Radiology"}\n'

async function imported(content: string): Promise<void> {
  writeFileSync(file, content)
  expect((await run('import', '--yes', file, '--clinic', clinic.id)).errors).toBe('')
}
const stored = () => clinicStore(db).requireNotDeleting(clinic.id)
const departments = () => importEntities(db.table, Date.now)[0] as ImportableEntity
/** The numbers of new and changed records of each event. */
const announced = async () => {
  const range = { pk: announcedPartition(clinic.id), ...announcedRange(clinic.id), limit: 100 }
  const items = (await db.table.query(range)).toSorted((a, b) => Number(a.c) - Number(b.c))
  return items.map(({ d }) => d as Counts).map(({ imported, updated }) => [imported, updated])
}

describe('import.completed', () => {
  it('is announced by the repetition of an import that was killed after its last row, and by no later one', async () => {
    writeFileSync(file, SURGERY)
    await importAlone(file, departments(), clinic, { now: Date.now })
    expect(await announced()).toEqual([])
    await imported(SURGERY)
    expect(await announced()).toEqual([[0, 0]])
    await imported(SURGERY)
    expect(await announced()).toEqual([[0, 0]])
  })

  it('is announced once for each content, also if it changes nothing, and whenever records change', async () => {
    await imported(SURGERY)
    await imported(SURGERY)
    expect(await announced()).toEqual([[1, 0]])
    await imported(SURGERY + RADIOLOGY)
    await imported(RADIOLOGY)
    expect(await announced()).toEqual([
      [1, 0],
      [1, 0],
      [0, 0],
    ])
    await imported(SURGERY.replace('Surgery', 'Neurology'))
    // Its content was announced, but its record is changed again.
    await imported(SURGERY)
    await imported(SURGERY)
    expect((await announced()).slice(3)).toEqual([
      [0, 1],
      [0, 1],
    ])
  })

  it.each([1, 0])('is announced once if the response was lost: %i new records', async (count) => {
    let attempts = 0
    const lossy = interceptedTable(db.table, async (write, number) => {
      attempts = number
      await write()
      if (number > 1) return
      // The event is read, and forwarded, before the next attempt.
      const range = { pk: announcedPartition(clinic.id), ...announcedRange(clinic.id), limit: 1 }
      await db.table.deleteMany(await db.table.query(range))
      throw new UnavailableError(new Error('lost'))
    })
    const counts = { imported: count, updated: 0, unchanged: 1 - count, rejected: 0 }
    await announceImport(lossy, await stored(), 'departments', { content: 'abc', counts })
    expect([attempts, await announced()]).toEqual([1, []])
  })

  it('is announced for each import with rejected rows, without a digest that confirms the file of an erased patient', async () => {
    const patient = '{"external_id":1,"first_name":"Ada","last_name":"Kaya","date_of_birth":"1931-07-13"}\n'
    const patients = join(folder, 'patients.ndjson')
    writeFileSync(patients, patient)
    await run('import', '--yes', patients, '--clinic', clinic.id)
    await patientChanges(db.table).erase(
      clinic.id,
      (await readImportIds(db.table, clinic.id))('patient', '1'),
    )
    await run('import', '--yes', patients, '--clinic', clinic.id)
    await run('import', '--yes', patients, '--clinic', clinic.id)
    expect(await announced()).toHaveLength(4)
    const { recipientSecret } = await clinicStore(db).requireNotDeleting(clinic.id)
    const content = createHash('sha256').update(patient).digest('hex')
    const guess = createHmac('sha256', recipientSecret).update(`content of patients: ${content}`).digest()
    const text = await tableText(db)
    expect(text).not.toContain(guess.subarray(0, 16).toString('base64url').toLowerCase())
  })

  it('is announced by both of two imports of one file that have each changed records', async () => {
    const counts = { imported: 1, updated: 0, unchanged: 0, rejected: 0 }
    const announce = async () =>
      announceImport(db.table, await stored(), 'departments', { content: 'abc', counts })
    await Promise.all([announce(), announce()])
    expect(await announced()).toEqual([
      [1, 0],
      [1, 0],
    ])
    const nothing = { imported: 0, updated: 0, unchanged: 1, rejected: 0 }
    await announceImport(db.table, await stored(), 'departments', { content: 'abc', counts: nothing })
    expect(await announced()).toHaveLength(2)
  })
})
