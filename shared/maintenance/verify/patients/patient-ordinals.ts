import { sortableNumber } from '../../../store/keys/key.ts'
import {
  patientHeadKey,
  patientKey,
  patientListPartition,
  patientRowKey,
} from '../../../store/keys/patients.ts'
import { readPatientHead } from '../../../store/patients/head.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { ifUnchanged, requireUnchangedAttributes } from '../comparison/conditions.ts'
import { keyText } from '../comparison/derived-items.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'

/**
 * Verifies that the list of patients has no gaps, and that every row belongs to a patient whose record has that
 * position. Rows already reported by the verification of records are skipped. Returns the patients whose records are missing.
 */
export async function checkPatientOrdinals(
  { table, clinic, count, examine }: Inspection,
  wrongRows: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const lost = new Set<string>()
  let next = 0
  for await (const rows of partitionPages(table, patientListPartition(clinic))) {
    count('patient_rows', rows.length)
    const ids = new Set(rows.flatMap(({ i }) => (isId(i) ? [i] : [])))
    const items = await table.getMany([...ids].map((id) => patientKey(clinic, id)))
    const records = new Map(items.map((item) => [item.sk, item]))
    const suspects = rows.filter(
      (row) => !wrongRows.has(keyText(row)) && !matchesRecord(row, records.get(String(row.i))),
    )
    await forEachConcurrent(suspects, (row) => examine(recheckRow(row)))
    const { n } = await readPatientHead(table, clinic)
    for (const ordinal of rows.map(({ sk }) => Number(sk)).filter((at) => at < n)) {
      for (; next < ordinal; next++) await checkGap(next)
      next = ordinal + 1
    }
  }

  return lost

  async function checkGap(ordinal: number): Promise<void> {
    const key = patientRowKey(clinic, ordinal)
    if (wrongRows.has(keyText(key))) return
    await examine(async () =>
      (await table.get(key))
        ? null
        : { differences: [{ kind: 'patient_ordinal_missing', key }], repair: null },
    )
  }

  function recheckRow({ pk, sk }: Item): Recheck {
    return async () => {
      const key = { pk, sk }
      const row = await table.get(key)
      if (!row) return null
      const record = isId(row.i) ? await table.get(patientKey(clinic, row.i)) : undefined
      if (matchesRecord(row, record)) return null
      const head = await readPatientHead(table, clinic)
      const again = await table.get(key)
      if (again?.i !== row.i) return 'moving'
      // The record has another position: the verification of records reports that.
      if (record && (await table.get(patientRowKey(clinic, Number(record.o) || 0)))?.i !== row.i) return null
      if (isOrdinalKey(sk) && Number(sk) < head.n) {
        if (isId(row.i)) lost.add(row.i)
        return { differences: [{ kind: 'patient_row_without_record', key }], repair: null }
      }
      const repair = () =>
        table.transact([
          ifUnchanged(table.deleteWrite(key), { i: row.i }),
          requireUnchangedAttributes(table, patientHeadKey(clinic), { n: head.n }),
        ])
      return { differences: [{ kind: 'patient_row_stray', key }], repair }
    }
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && value !== ''

const isOrdinalKey = (sk: string): boolean => sk === sortableNumber(Number(sk))

const matchesRecord = ({ sk }: Item, record: Item | undefined): boolean =>
  record !== undefined && isOrdinalKey(sk) && record.o === Number(sk)
