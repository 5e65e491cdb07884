/** The same rows by import, and by POST /sync in random portions, once and twice, make the same clinic. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { clinicRows } from '../../../bin/bench/clinic-files.ts'
import { exportClinic } from '../../../bin/clinic/export/export-clinic.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { issueCredential } from '../../support/credentials.ts'
import { request, stubFunctionEnvironment } from '../../support/functions.ts'
import { exportedRows, importRows } from '../../support/imports.ts'
import { seeded } from '../../support/random.ts'
import { rounds } from '../../support/scale.ts'
import { newClinic, tableOfFile } from '../../support/table.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const db = tableOfFile()
const folder = temporaryFolder()

/** Ten rows for each patient, by entity in the order of references. */
const { patients, doctors, appointments, invoices, payments } = clinicRows(rounds(12, 200))
const FILES = Object.entries({ doctors, patients, appointments, invoices, payments })

const folderOf = (clinic: Clinic): string => {
  const path = join(folder, clinic.id)
  mkdirSync(path, { recursive: true })
  return path
}

async function imported(): Promise<Clinic> {
  const clinic = await newClinic(db.table)
  for (const [name, rows] of FILES) {
    const { rejections } = await importRows(folderOf(clinic), db.table, clinic, name, rows)
    expect(rejections).toEqual([])
  }
  return clinic
}

async function synced(seed: number, times: number): Promise<Clinic> {
  stubFunctionEnvironment(db.name)
  const clinic = await newClinic(db.table)
  const { headers } = await issueCredential(db.table, clinic)
  const random = seeded(seed)
  for (const [entity, rows] of FILES)
    for (let time = 0; time < times; time++)
      for (let at = 0, size = 0; at < rows.length; at += size) {
        size = random.integer(1, 50)
        const records = rows.slice(at, at + size)
        const { status, body } = await request('sync-records', { headers, body: { entity, records } })
        const outcome = time === 0 ? 'created' : 'unchanged'
        expect([status, body.meta[outcome]]).toEqual([200, records.length])
      }
  return clinic
}

/** What an export has, but for times of writing. */
async function contentsOf(clinic: Clinic): Promise<string[][]> {
  const path = join(folder, `export-${clinic.id}`)
  await exportClinic(db.table, clinic, path, { sleep: async () => {} })
  return FILES.map(([name]) =>
    exportedRows(path, name)
      .map(({ created_at: _, ...row }) => JSON.stringify(row))
      .sort(),
  )
}

it('exports of the clinics are equal, but for times of writing', async () => {
  const expected = await contentsOf(await imported())
  expect(await contentsOf(await synced(1, 1))).toEqual(expected)
  expect(await contentsOf(await synced(2, 2))).toEqual(expected)
}, 1_200_000)
