import { SEGMENT_SIZE } from '../../../domain/patients/search-index.ts'
import { sortableNumber } from '../../../store/keys/key.ts'
import { patientHeadKey, patientListPartition } from '../../../store/keys/patients.ts'
import { readPatientHead } from '../../../store/patients/head.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { rewriteSegments } from './segment-rewrite.ts'

/** Greater than every possible position. */
const MAX_ORDINAL_KEY = sortableNumber(9_999_999_999)

/** Whether the head is consistent with the search segments: no more patients than exist, and a version for each segment. */
export async function checkSearchHead({ table, clinic, examine }: Inspection): Promise<void> {
  await examine(async () => {
    const { n, sn, u, su, lf, sv } = await readPatientHead(table, clinic)
    const pk = patientListPartition(clinic)
    const [last] = await table.query({ pk, to: MAX_ORDINAL_KEY, descending: true, limit: 1 })
    const listed = Math.max(n, last ? Number(last.sk) + 1 : 0)
    const isValid =
      [sn, su, lf].every((counter) => Number.isInteger(counter) && counter >= 0) &&
      sn <= listed &&
      su <= u &&
      lf <= su &&
      Array.isArray(sv) &&
      sv.length >= Math.ceil(sn / SEGMENT_SIZE) &&
      sv.length <= Math.ceil(listed / SEGMENT_SIZE) &&
      sv.every(Number.isInteger)
    if (isValid) return null
    return {
      differences: [{ kind: 'search_head_wrong', key: patientHeadKey(clinic) }],
      repair: () => rewriteSegments(table, clinic, 'all'),
    }
  })
}
