import { expect, it } from 'vitest'
import { OwnRecords, withOwnRecords } from '../../../../bin/clinic/import/own-records.ts'
import type { SourceRow } from '../../../../bin/clinic/import/row.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import type { ImportedKind } from '../../../../shared/store/import-ids.ts'
import { linkRecord } from '../../../../shared/store/import-links.ts'
import { patientKey } from '../../../../shared/store/keys/patients.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { freshTable } from '../../../support/table.ts'

it('finds records without an external id by their own ids, and asks only for what has the form of one', async () => {
  const { table } = await freshTable()
  const { clinic, patient, doctor } = await createPopulatedClinic(table)
  const other = await createPopulatedClinic(table)
  const linked = other.patient.id
  const link = { id: linked, key: patientKey(other.clinic.id, linked), version: 1 }
  const derived = newUuid()
  await linkRecord(table, other.clinic.id, link, 'x', {
    id: derived,
    key: patientKey(other.clinic.id, derived),
  })
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
    const own = new OwnRecords(counting, of, (kind, externalId) => `${kind}:${externalId}`)
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
  expect(asked).toEqual([])
  // More than are looked up at once. The last ones are looked up beside one that was found before.
  const many = Array<[string, string]>(100).fill(['1', doctor.id])
  const last: [string, string] = [patient.id.toUpperCase(), doctor.id]
  expect(new Set((await idsOf(clinic.id, [...many, last])).map(String))).toEqual(
    new Set([`patient:1,${doctor.id}`, `${patient.id},${doctor.id}`]),
  )
  expect(asked).toEqual([1, 2])
  expect(await idsOf(other.clinic.id, [[patient.id, patient.id]])).toEqual([
    [`patient:${patient.id}`, `doctor:${patient.id}`],
  ])
  expect(await idsOf(other.clinic.id, [[linked, linked]])).toEqual([
    [`patient:${linked}`, `doctor:${linked}`],
  ])
})
