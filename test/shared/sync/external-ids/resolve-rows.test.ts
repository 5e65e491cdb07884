import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { exportClinic } from '../../../../bin/clinic/export/export-clinic.ts'
import type { SourceRow } from '../../../../bin/clinic/import/files/row.ts'
import type { ImportedKind } from '../../../../shared/store/external-ids/derive.ts'
import { externalIdLinkKey } from '../../../../shared/store/keys/external-ids.ts'
import { importEntities } from '../../../../shared/sync/entities/entities.ts'
import { ownRecords, withOwnRecords } from '../../../../shared/sync/external-ids/resolve-rows.ts'
import { appointment } from '../../../bin/clinic/import/calendar-fixtures.ts'
import { importAlone } from '../../../support/imports.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { tableOfFile } from '../../../support/table.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const db = tableOfFile()
const root = temporaryFolder()

it('finds records that no import made by their own ids, and asks only for what has the form of one', async () => {
  const { table } = db
  const { clinic, patient, doctor } = await createPopulatedClinic(table)
  const other = await createPopulatedClinic(table)
  const linked = other.patient.id
  await table.transact([table.putWrite({ ...externalIdLinkKey(other.clinic.id, 'patient:x'), r: linked })])
  const imported: Record<string, string> = {}
  const asked: number[] = []
  const counting: typeof table = {
    ...table,
    getMany: (keys) => {
      asked.push(keys.length)
      return table.getMany(keys)
    },
  }
  /** The ids that rows with external ids of a patient and a doctor mean. */
  async function idsOf(of: typeof clinic.id, rows: readonly [patient: string, doctor: string][]) {
    const own = ownRecords(counting, of, {
      derivedIdOf: (kind, externalId) => imported[externalId] ?? `${kind}:${externalId}`,
    })
    async function* sources() {
      for (const [line, [patient, doctor]] of rows.entries()) yield { line, values: { patient, doctor } }
    }
    const read = (source: SourceRow): string[] =>
      Object.entries('values' in source ? source.values : {}).map(([kind, id]) =>
        own.idOf(kind as ImportedKind, String(id)),
      )
    const found: string[][] = []
    for await (const { row } of withOwnRecords(sources(), read, own)) found.push(row)
    return found
  }

  expect(await idsOf(clinic.id, [['1', '2']])).toEqual([['patient:1', 'doctor:2']])
  // Links are looked up by the ids that external ids have.
  expect(asked).toEqual([2])
  // These are more than are looked up at once. The last ones are looked up together with one that was found before.
  const many = Array<[string, string]>(100).fill(['1', doctor.id])
  const last: [string, string] = [patient.id.toUpperCase(), doctor.id]
  expect(new Set((await idsOf(clinic.id, [...many, last])).map(String))).toEqual(
    new Set([`patient:1,${doctor.id}`, `${patient.id},${doctor.id}`]),
  )
  expect(asked).toEqual([2, 1, 2, 2, 3])
  expect(await idsOf(other.clinic.id, [[patient.id, patient.id]])).toEqual([
    [`patient:${patient.id}`, `doctor:${patient.id}`],
  ])
  // It was exported before it was linked.
  expect(await idsOf(other.clinic.id, [[linked, linked]])).toEqual([[linked, `doctor:${linked}`]])
  expect(await idsOf(other.clinic.id, [['x', 'x']])).toEqual([[linked, 'doctor:x']])
})

const filesOf = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name !== 'manifest.json')
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')])

it.each(['ndjson', 'csv'])(
  'changes nothing in the clinic of an export that is imported as .%s',
  async (extension) => {
    const { clinic, doctor, room } = await createPopulatedClinic(db.table)
    const entities = importEntities(db.table, Date.now)
    /** Imports the files that exist in a folder, and returns the outcomes of their rows. */
    async function loadAll(folder: string, ending: string) {
      const outcomes: unknown[] = []
      for (const entity of entities) {
        const file = `${entity.name}.${ending}`
        if (!readdirSync(folder).includes(file)) continue
        const { warnings: _, ...outcome } = await importAlone(join(folder, file), entity, clinic, {
          now: Date.now,
        })
        outcomes.push([entity.name, outcome])
      }
      return outcomes
    }
    const files = {
      patients: { external_id: 1, first_name: 'Ada', last_name: 'Kaya' },
      appointments: {
        ...appointment,
        doctor_external_id: doctor.id,
        room_external_id: room.id.toUpperCase(),
      },
    }
    for (const [name, row] of Object.entries(files))
      writeFileSync(join(root, `${name}.ndjson`), `${JSON.stringify(row)}\n`)
    const none = { imported: 0, updated: 0, unchanged: 0, rejected: 0 }
    expect(await loadAll(root, 'ndjson')).toMatchObject(
      Object.keys(files).map((name) => [name, { ...none, imported: 1 }]),
    )

    const sleep = async () => {}
    const [folder, again] = ['first', 'again'].map((name) => join(root, `${extension}-${name}`)) as [
      string,
      string,
    ]
    await exportClinic(db.table, clinic, folder, { sleep })
    const outcomes = await loadAll(folder, extension)
    const twoOf = ['patients', 'appointments']
    expect(outcomes).toMatchObject(
      outcomes.map((one) => {
        const [name] = one as [string]
        return [name, { ...none, unchanged: twoOf.includes(name) ? 2 : 1 }]
      }),
    )
    expect(outcomes).toHaveLength(10)
    await exportClinic(db.table, clinic, again, { sleep })
    expect(filesOf(again)).toEqual(filesOf(folder))
  },
)
