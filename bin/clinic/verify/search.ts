import type { Inspection } from './inspection.ts'
import { checkSearchHead } from './search-head.ts'
import { checkSearchLog } from './search-log.ts'
import { checkSearchSegments } from './search-segments.ts'

/** Verifies that search matches the patients. */
export async function checkSearch(inspection: Inspection): Promise<void> {
  await checkSearchHead(inspection)
  const complete = await checkSearchLog(inspection)
  await checkSearchSegments(inspection, { lines: complete })
}
