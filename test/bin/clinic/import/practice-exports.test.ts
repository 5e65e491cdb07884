/** Exports of three practice systems go in with the maps that ship with the tool, and so do their corrected rejects. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { importEntities } from '../../../../bin/clinic/import/entities/entities.ts'
import { rowsFile } from '../../../../bin/clinic/import/files/rejections.ts'
import { readColumnMap } from '../../../../bin/clinic/import/maps/column-map.ts'
import { trialTable } from '../../../../bin/clinic/import/run/trial-table.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { importRecords } from '../../../support/imports.ts'
import { practiceExports } from '../../../support/practice-exports.ts'
import { rounds } from '../../../support/scale.ts'
import { NOW, newClinic, tableOfFile } from '../../../support/table.ts'

const SIZE = rounds(220, 10_000)

const db = tableOfFile()
const folder = mkdtempSync(join(tmpdir(), 'practice-exports-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function load(table: Table, clinic: Clinic, file: string, map: string, isTrial = false) {
  const entities = importEntities(table, () => NOW)
  const name = entities.find(({ name }) => file.includes(`${name}.`))?.name ?? file
  return importRecords(table, clinic, name, file, { map: readColumnMap(map, entities), isTrial })
}

describe.each(practiceExports(SIZE, NOW).map((one) => [one.map, one] as const))(
  'an export of %s',
  (_, practice) => {
    it('goes in but for the rows that are wrong, as the check says, and those go in once they are corrected', async () => {
      const clinic = await newClinic(db.table)
      const paths = practice.files.map(({ name, content }) => {
        const path = join(folder, `${practice.map}-${name}`)
        writeFileSync(path, content)
        return path
      })
      using trial = trialTable(db.table)
      const checked: object[] = []
      for (const path of paths) checked.push(await load(trial, clinic, path, practice.map, true))
      expect((await patientStore(db).page(clinic.id, { page: 1, limit: 1 })).total).toBe(0)

      for (const [at, { rows, mistakes }] of practice.files.entries()) {
        const path = paths[at] ?? ''
        const result = await load(db.table, clinic, path, practice.map)
        expect(result.reasons.length, result.reasons.slice(0, 3).join('\n')).toBe(mistakes.length)
        expect(result).toMatchObject({ imported: rows - mistakes.length, warnings: 0 })
        expect(result).toEqual(checked[at])

        const rejected = rowsFile(path, 'rejected')
        expect(existsSync(rejected)).toBe(mistakes.length > 0)
        if (mistakes.length === 0) continue
        // In UTF-8, whose mark overrules the encoding of the map.
        const text = readFileSync(rejected, 'utf8')
        const corrected = mistakes.reduce((all, { wrong, right }) => {
          expect(all).toContain(shown(wrong))
          return all.replace(shown(wrong), shown(right))
        }, text)
        writeFileSync(rejected, corrected)
        expect(await load(db.table, clinic, rejected, practice.map)).toMatchObject({
          imported: mistakes.length,
          rejected: 0,
          reasons: [],
        })
        expect(await load(db.table, clinic, path, practice.map)).toMatchObject({ imported: 0, updated: 0 })
      }
    })
  },
)

/** A cell without the signs by which Excel reads it as text. */
const shown = (cell: string): string => cell.replace(/^="(.*)"$/, '$1')
