/** Small lists, settings and links of patients that change while an export reads. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { exportClinic } from '../../../../bin/clinic/export/export-clinic.ts'
import { readManifest } from '../../../../bin/clinic/export/manifest.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { priceListStore, roomStore } from '../../../../shared/store/catalogue.ts'
import { setPaused } from '../../../../shared/store/clinic-pause.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { doctorsPartition } from '../../../../shared/store/keys/clinics.ts'
import { shortId } from '../../../../shared/store/keys/key.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { exportedRows } from '../../../support/imports.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { tableOfFile } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const db = tableOfFile()
const root = temporaryFolder()
let folders = 0

const LONG_AGO = Date.parse('2026-05-01T07:00:00Z')
const newFolder = () => join(root, `export-${++folders}`)
const newWorld = () => createPopulatedClinic({ ...db.table, now: () => LONG_AGO })
const paused = async ({ clinic }: PopulatedClinic) => {
  const now = Date.now() - 60_000
  await setPaused({ ...db.table, now: () => now }, clinic.id, new Date(now).toISOString())
  return (await clinicStore(db).find(clinic.id)) as Clinic
}
const sleep = async () => {
  throw new Error('no pause to wait for')
}
const namesIn = (folder: string, entity: string) => exportedRows(folder, entity).map(({ name }) => name)

/** The table; `work` runs once, before a partition is first read or after it. */
function changingAt(pk: string, work: () => Promise<unknown>, when: 'before' | 'after' = 'before'): Table {
  let isDone = false
  const query: Table['query'] = async (range) => {
    const isFirst = range.pk === pk && !isDone
    isDone ||= isFirst
    if (isFirst && when === 'before') await work()
    const items = await db.table.query(range)
    if (isFirst && when === 'after') await work()
    return items
  }
  return { ...db.table, query }
}

const addRoom = (clinic: Clinic) =>
  roomStore(db).save(clinic.id, [
    { before: null, after: { id: newUuid(), name: 'Late', departmentId: null, isActive: true } },
  ])

describe('a small list that changes while an export reads', () => {
  it.each([
    ['records are read', 'A'],
    ['the other lists are read', 'doctors'],
  ])('is read again, which the manifest says: %s', async (_, when) => {
    const world = await newWorld()
    const clinic = await paused(world)
    const pk = when === 'A' ? `${shortId(clinic.id)}#A` : doctorsPartition(clinic.id)
    const table = changingAt(pk, () => addRoom(clinic))
    const folder = newFolder()
    expect(await exportClinic(table, clinic, folder, { sleep })).toMatchObject({
      is_one_moment: false,
      read_again: 1,
    })
    expect(namesIn(folder, 'rooms')).toContain('Late')
  })

  it('loses what was removed meanwhile', async () => {
    const world = await newWorld()
    const clinic = await paused(world)
    const [list] = await priceListStore(db).list(clinic.id)
    if (!list) throw new Error('no price list')
    const table = changingAt(`${shortId(clinic.id)}#A`, () => priceListStore(db).remove(clinic.id, list))
    const folder = newFolder()
    expect(await exportClinic(table, clinic, folder, { sleep })).toMatchObject({ read_again: 1 })
    expect(readManifest(folder)?.files).not.toHaveProperty('price-lists.ndjson')
  })

  it('that never rests does not keep the export from ending', async () => {
    const world = await newWorld()
    const query: Table['query'] = async (range) => {
      if (range.pk === doctorsPartition(world.clinic.id)) await addRoom(world.clinic)
      return db.table.query(range)
    }
    const { read_again } = await exportClinic({ ...db.table, query }, world.clinic, newFolder(), { sleep })
    expect(read_again).toBeGreaterThan(1)
  })

  it('is read with settings that have changed, which count as a record', async () => {
    const world = await newWorld()
    const clinic = await paused(world)
    const change = () => clinicStore(db).update(clinic.id, { website: 'https://x.example' })
    const table = changingAt(`${shortId(clinic.id)}#A`, change)
    expect(await exportClinic(table, clinic, newFolder(), { sleep })).toMatchObject({
      clinic: { website: 'https://x.example' },
      is_one_moment: false,
      read_again: 1,
    })
  })
})
