import type { ClinicId } from '../../../domain/clinic.ts'
import { sortableNumber } from '../../../store/keys/key.ts'
import {
  patientChangeKey,
  patientChangesPartition,
  patientKey,
  patientRowKey,
} from '../../../store/keys/patients.ts'
import { readPatientHead } from '../../../store/patients/head.ts'
import type { Table } from '../../../store/table/table.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { decodeStoredPatient, isOrdinal } from '../comparison/patient-image.ts'
import { rewriteSegments, searchLineOf } from './segment-rewrite.ts'

/** Maximum number of entries of the change log to read; a snapshot is taken long before. */
export async function readLog(table: Table, clinic: ClinicId, after: number): Promise<Item[]> {
  const entries: Item[] = []
  const bounds = { from: sortableNumber(after + 1) }
  for await (const page of partitionPages(table, patientChangesPartition(clinic), bounds)) {
    entries.push(...page)
  }
  return entries
}

/** The latest entry of each patient, by ordinal. */
const lastEntries = (log: readonly Item[]): Map<number, Item> =>
  new Map(log.map((entry) => [entry.o as number, entry]))

/**
 * Verifies that the change log has every update that the segments lack, with the patients' current data. Returns false
 * if entries are missing and remain so.
 */
export async function checkSearchLog({ table, clinic, count, examine }: Inspection): Promise<boolean> {
  const lost = await examine(async () => {
    const head = await readPatientHead(table, clinic)
    const log = await readLog(table, clinic, head.su)
    const again = await readPatientHead(table, clinic)
    if (head.v !== again.v) return 'moving'
    const pending = log.filter(({ sk }) => Number(sk) <= head.u)
    const listed = await listedOrdinals(pending.map(({ o }) => o).filter(isOrdinal))
    const isUnmatched = ({ o, line }: Item) =>
      typeof line !== 'string' || !isOrdinal(o) || (o >= again.n && !listed.has(o))
    const unmatched = pending.filter(isUnmatched)
    const missing = head.u - head.su - pending.length
    if (missing === 0 && unmatched.length === 0) return null
    return {
      differences: [
        {
          kind: 'search_log_wrong',
          key: patientChangeKey(clinic, head.su + 1),
          note: `${missing} entries are missing, ${unmatched.length} have no patient`,
        },
      ],
      repair: () => rewriteSegments(table, clinic, 'all'),
    }
  })

  const { lf } = await readPatientHead(table, clinic)
  const log = await readLog(table, clinic, lf)
  count('log_entries', log.length)
  const last = [...lastEntries(log)].filter(([ordinal]) => isOrdinal(ordinal))
  const rows = await table.getMany(last.map(([ordinal]) => patientRowKey(clinic, ordinal)))
  const lines = new Map(rows.map((row) => [Number(row.sk), searchLineOf(row)]))
  const suspects = last.filter(([ordinal, { line }]) => lines.get(ordinal) !== line)
  await forEachConcurrent(suspects, ([ordinal]) => examine(recheck(ordinal)))
  return lost.length === 0

  async function listedOrdinals(ordinals: readonly number[]): Promise<Set<unknown>> {
    const keys = [...new Set(ordinals)].map((ordinal) => patientRowKey(clinic, ordinal))
    return new Set((await table.getMany(keys)).map(({ sk }) => Number(sk)))
  }

  function recheck(ordinal: number): Recheck {
    return async () => {
      const row = await table.get(patientRowKey(clinic, ordinal))
      if (typeof row?.i !== 'string') return null
      const key = patientKey(clinic, row.i)
      const item = await table.get(key)
      const entry = lastEntries(await readLog(table, clinic, lf)).get(ordinal)
      const again = await table.get(key)
      if (item?.v !== again?.v) return 'moving'
      const patient = item && decodeStoredPatient(item)
      const line = item && searchLineOf(item)
      if (!entry || patient?.ordinal !== ordinal || entry.line === line) return null
      const { pk, sk } = entry
      const repair = () =>
        table.transact([
          table.updateWrite(
            { pk, sk },
            {
              UpdateExpression: 'SET line = :line',
              ConditionExpression: 'attribute_exists(pk)',
              ExpressionAttributeValues: { ':line': line },
            },
          ),
          table.checkWrite(key, patient.version),
        ])
      return { differences: [{ kind: 'search_log_wrong', key: { pk, sk } }], repair }
    }
  }
}
