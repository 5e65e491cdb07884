import { sortableNumber } from '../../../shared/store/keys/key.ts'
import {
  patientHeadKey,
  patientKey,
  patientListPartition,
  patientRowKey,
} from '../../../shared/store/keys/patients.ts'
import { readPatientHead } from '../../../shared/store/patients/head.ts'
import type { Item } from '../../../shared/store/table/table.ts'
import { checkRead, ifRead } from './conditions.ts'
import { eachAbreast } from './each-abreast.ts'
import type { Look } from './fault.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'
import { nameOf } from './record-image.ts'

/**
 * Whether the list of patients is dense, and every row is of a patient whose record names that place. Rows that the
 * records themselves have shown to be wrong are not judged again.
 */
export async function checkPatientPlaces(
  { table, clinic, count, examine }: Inspection,
  wrongRows: ReadonlySet<string>,
): Promise<void> {
  let next = 0
  for await (const rows of partitionPages(table, patientListPartition(clinic))) {
    count('patient_rows', rows.length)
    const ids = new Set(rows.flatMap(({ i }) => (isId(i) ? [i] : [])))
    const items = await table.getMany([...ids].map((id) => patientKey(clinic, id)))
    const records = new Map(items.map((item) => [item.sk, item]))
    const suspects = rows.filter(
      (row) => !wrongRows.has(nameOf(row)) && !stands(row, records.get(String(row.i))),
    )
    await eachAbreast(suspects, (row) => examine(lookAtRow(row)))
    const { n } = await readPatientHead(table, clinic)
    for (const ordinal of rows.map(({ sk }) => Number(sk)).filter((at) => at < n)) {
      for (; next < ordinal; next++) await judgeGap(next)
      next = ordinal + 1
    }
  }

  async function judgeGap(ordinal: number): Promise<void> {
    const key = patientRowKey(clinic, ordinal)
    if (wrongRows.has(nameOf(key))) return
    await examine(async () =>
      (await table.get(key)) ? null : { faults: [{ kind: 'patient_ordinal_missing', key }], mend: null },
    )
  }

  function lookAtRow({ pk, sk }: Item): Look {
    return async () => {
      const key = { pk, sk }
      const row = await table.get(key)
      if (!row) return null
      const record = isId(row.i) ? await table.get(patientKey(clinic, row.i)) : undefined
      if (stands(row, record)) return null
      const head = await readPatientHead(table, clinic)
      const again = await table.get(key)
      if (again?.i !== row.i) return 'moving'
      // The record names a place where it is not listed: that is its own fault, and found there.
      if (record && (await table.get(patientRowKey(clinic, Number(record.o) || 0)))?.i !== row.i) return null
      if (isPlace(sk) && Number(sk) < head.n) {
        return { faults: [{ kind: 'patient_row_without_record', key }], mend: null }
      }
      const mend = () =>
        table.transact([
          ifRead(table.deleteWrite(key), { i: row.i }),
          checkRead(table, patientHeadKey(clinic), { n: head.n }),
        ])
      return { faults: [{ kind: 'patient_row_stray', key }], mend }
    }
  }
}

const isId = (value: unknown): value is string => typeof value === 'string' && value !== ''

const isPlace = (sk: string): boolean => sk === sortableNumber(Number(sk))

const stands = ({ sk }: Item, record: Item | undefined): boolean =>
  record !== undefined && isPlace(sk) && record.o === Number(sk)
