/** Patients who are linked to an external id, or no longer, while an export reads or after it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { exportClinic } from '../../../../bin/clinic/export/export-clinic.ts'
import { changesSince } from '../../../../bin/clinic/export/later-changes.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { linkRecord, unlinkRecord } from '../../../../shared/store/external-ids/manual-links.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import { patientKey } from '../../../../shared/store/keys/patients.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()
const root = mkdtempSync(join(tmpdir(), 'read-records-test-'))
afterAll(() => rmSync(root, { recursive: true }))

const LONG_AGO = Date.parse('2026-05-01T07:00:00Z')
const sleep = async () => {}
const externalIds = (folder: string) =>
  readFileSync(join(folder, 'patients.ndjson'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).external_id)

it('have the external id of the end of the export, which notices later ones', async () => {
  const { clinic, patient } = await createPopulatedClinic({ ...db.table, now: () => LONG_AGO })
  const key = patientKey(clinic.id, patient.id)
  const derived = newUuid()
  const link = (version: number) =>
    linkRecord(db.table, clinic.id, { id: patient.id, key, version }, 'P17', {
      id: derived,
      key: patientKey(clinic.id, derived),
    })
  const unlink = (version: number) =>
    unlinkRecord(db.table, clinic.id, { id: patient.id, key, version }, derived)
  const changed = (manifest: Awaited<ReturnType<typeof exportClinic>>) =>
    changesSince(db.table, clinic, manifest)

  const before = await exportClinic(db.table, clinic, join(root, 'before'), { sleep })
  expect([externalIds(join(root, 'before')), await changed(before)]).toEqual([[patient.id], []])
  const linked = await exportClinic(
    afterPatients(clinic, () => link(1)),
    clinic,
    join(root, 'linked'),
    { sleep },
  )
  expect(linked).toMatchObject({ read_again: 1 })
  expect([externalIds(join(root, 'linked')), await changed(linked)]).toEqual([['P17'], []])
  expect(await changed(before)).toEqual(['external ids'])
  const unlinked = await exportClinic(
    afterPatients(clinic, () => unlink(2)),
    clinic,
    join(root, 'unlinked'),
    { sleep },
  )
  expect([externalIds(join(root, 'unlinked')), await changed(unlinked)]).toEqual([[patient.id], []])
  expect(await changed(linked)).toEqual(['external ids'])
  // An earlier version of the tool has not stored it.
  expect(await changed({ ...before, links_version: undefined })).toEqual([])
})

/** The table; `work` runs once, after the patients of the clinic were read. */
function afterPatients(clinic: Clinic, work: () => Promise<unknown>): Table {
  let isDone = false
  const query: Table['query'] = async (range) => {
    const items = await db.table.query(range)
    if (range.pk === `${shortId(clinic.id)}#P` && !isDone) {
      isDone = true
      await work()
    }
    return items
  }
  return { ...db.table, query }
}
