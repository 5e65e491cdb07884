import { isDeepStrictEqual } from 'node:util'
import type { ClinicId } from '../../../domain/clinic.ts'
import type { Key } from '../../../store/keys/key.ts'
import {
  patientHeadKey,
  patientKey,
  patientListPartition,
  patientRowKey,
} from '../../../store/keys/patients.ts'
import { readPatientHead } from '../../../store/patients/head.ts'
import type { StoredPatient } from '../../../store/patients/patients.ts'
import type { Table } from '../../../store/table/table.ts'
import type { Item, Write } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { ifUnchanged, requireUnchangedAttributes } from '../comparison/conditions.ts'
import { keyText } from '../comparison/derived-items.ts'
import type { Finding, Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { decodeStoredPatient, isOrdinal, listRowOf } from '../comparison/patient-image.ts'

/** Verifies that every patient is listed at the record's position with the record's data. */
export async function checkListedPatients(inspection: Inspection) {
  const { table, clinic, count, examine } = inspection
  /** Rows with differences that remain. */
  const wrongRows = new Set<string>()
  let highest = -1

  for await (const items of partitionPages(table, patientKey(clinic, '').pk)) {
    count('patients', items.length)
    const patients = items.map((item) => ({ item, patient: decodeStoredPatient(item) }))
    const wanted = patients.flatMap(({ patient }) =>
      patient && isOrdinal(patient.ordinal) ? [listRowOf(clinic, patient)] : [],
    )
    const keys = new Map(wanted.map(({ pk, sk }) => [sk, { pk, sk }]))
    const rows = new Map((await table.getMany([...keys.values()])).map((row) => [row.sk, row]))
    const suspects = patients.filter(({ patient }) => {
      if (!patient || !isOrdinal(patient.ordinal)) return true
      const row = listRowOf(clinic, patient)
      return !isDeepStrictEqual(rows.get(row.sk), row)
    })
    const { n } = await readPatientHead(table, clinic)
    for (const { patient } of patients) {
      // A position far beyond the others is damaged and does not tell how many patients there are.
      if (patient && isOrdinal(patient.ordinal) && patient.ordinal < n)
        highest = Math.max(highest, patient.ordinal)
    }
    await forEachConcurrent(suspects, async ({ item }) => {
      for (const { key } of await examine(recheck(item.sk))) wrongRows.add(keyText(key))
    })
  }

  function recheck(id: string): Recheck {
    return async () => {
      const key = patientKey(clinic, id)
      const item = await table.get(key)
      if (!item) return null
      const patient = decodeStoredPatient(item)
      if (!patient) return { differences: [{ kind: 'record_unreadable', key }], repair: null }
      const rowKey = isOrdinal(patient.ordinal) ? patientRowKey(clinic, patient.ordinal) : null
      const row = rowKey ? await table.get(rowKey) : undefined
      const { n } = await readPatientHead(table, clinic)
      const again = await table.get(key)
      if (again?.v !== item.v) return 'moving'
      if (rowKey && row && isDeepStrictEqual(row, listRowOf(clinic, patient))) return null
      if (rowKey && (row ? !(await belongsToOther(row, patient)) : patient.ordinal < n))
        return rowFinding(patient, rowKey, row)
      return ordinalFinding(patient, key)
    }
  }

  /** Whether a row belongs to another patient whose record has the same position. */
  async function belongsToOther({ i }: Item, { id, ordinal }: StoredPatient): Promise<boolean> {
    if (typeof i !== 'string' || i === '' || i === id) return false
    const other = await table.get(patientKey(clinic, i))
    return other?.o === ordinal
  }

  function rowFinding(patient: StoredPatient, key: Key, row: Item | undefined): Finding {
    const put = table.putWrite(listRowOf(clinic, patient), row ? 'any' : 'new')
    const repair = () =>
      table.transact([
        row ? ifUnchanged(put, { i: row.i }) : put,
        table.checkWrite(patientKey(clinic, patient.id), patient.version),
      ])
    return { differences: [{ kind: row ? 'patient_row_differs' : 'patient_row_missing', key }], repair }
  }

  /** The record's position is invalid or another patient's. The patient may be listed elsewhere or not at all. */
  async function ordinalFinding(patient: StoredPatient, key: Key): Promise<Finding> {
    const note = `place ${patient.ordinal}`
    const listed = await listedAt(table, clinic, patient.id)
    if (listed === null) {
      return {
        differences: [{ kind: 'patient_row_missing', key, note }],
        repair: () => appendToList(table, clinic, patient),
      }
    }
    const row = patientRowKey(clinic, listed)
    const repair = () =>
      table.transact([
        ordinalWrite(table, clinic, patient, listed),
        requireUnchangedAttributes(table, row, { i: patient.id }),
      ])
    return {
      differences: [{ kind: 'patient_ordinal_wrong', key, note: `${note}, listed at ${listed}` }],
      repair,
    }
  }

  return { wrongRows, highest }
}

/** The position of the patient's row; null if there is none. */
async function listedAt(table: Table, clinic: ClinicId, id: string): Promise<number | null> {
  for await (const rows of partitionPages(table, patientListPartition(clinic))) {
    const row = rows.find(({ i }) => i === id)
    if (row) return Number(row.sk)
  }
  return null
}

async function appendToList(table: Table, clinic: ClinicId, patient: StoredPatient): Promise<void> {
  const { n } = await readPatientHead(table, clinic)
  await table.transact([
    ordinalWrite(table, clinic, patient, n),
    table.putWrite(listRowOf(clinic, { ...patient, ordinal: n }), 'new'),
    table.updateWrite(patientHeadKey(clinic), {
      UpdateExpression: 'SET n = :next',
      ConditionExpression: 'n = :n',
      ExpressionAttributeValues: { ':n': n, ':next': n + 1 },
    }),
  ])
}

function ordinalWrite(
  table: Table,
  clinic: ClinicId,
  { id, version }: StoredPatient,
  ordinal: number,
): Write {
  return table.updateWrite(patientKey(clinic, id), {
    UpdateExpression: 'SET o = :ordinal, v = :next',
    ConditionExpression: 'v = :read',
    ExpressionAttributeValues: { ':ordinal': ordinal, ':next': version + 1, ':read': version },
  })
}
