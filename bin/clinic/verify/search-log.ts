import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { sortableNumber } from '../../../shared/store/keys/key.ts'
import {
  patientChangeKey,
  patientChangesPartition,
  patientKey,
  patientRowKey,
} from '../../../shared/store/keys/patients.ts'
import { readPatientHead } from '../../../shared/store/patients/head.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import type { Recheck } from './fault.ts'
import { forEachConcurrent } from './for-each-concurrent.ts'
import type { Inspection } from './inspection.ts'
import { partitionPages } from './partition-pages.ts'
import { decodeStoredPatient, isOrdinal } from './patient-image.ts'
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
      faults: [
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
      return { faults: [{ kind: 'search_log_wrong', key: { pk, sk } }], repair }
    }
  }
}
