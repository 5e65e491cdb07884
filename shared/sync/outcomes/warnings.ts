/** Warnings: values of a row that look wrong, but are possible. Some need stored records, so they are found on writing the row. */

import type { RowIssue } from './row-rejected.ts'

/** Most are about a value alone. None quotes it. */
export type Warning = RowIssue & {
  readonly kind: 'value' | 'outside_hours' | 'same_person'
  /** The patient who is the same person, for those who may read patients. */
  readonly patient?: string
}

/**
 * UTF-8 that was read as windows-1252 or windows-1250 and saved as UTF-8 again: `Ã¼` for `ü`, `ÅŸ` for `ş`, `â€™` for an apostrophe, `Ĺ‚` for `ł`.
 */
const DOUBLY_ENCODED =
  /[ÃÄÅ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|Â[\u00a0-\u00bf]|â€[\u0080-\u00bf€‚„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|Ĺ[\u0080-\u00bf‚„…‡‹›ˇ˘˝šźşŠŹĽľ]|Ă[\u0080-\u00bfłˇş˝]/

const YEAR_MS = 365.25 * 86_400_000

/** Years that are further back than what happens. */
const MAX_YEARS_AGO: Readonly<Record<string, number>> = { date_of_birth: 120, appointment_date: 100 }

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** @param fields A row's fields as their columns name them. */
export function warningsOf(fields: { readonly [field: string]: unknown }, now: number): Warning[] {
  const limit = dayOf(now + YEAR_MS)
  return Object.entries(fields).flatMap(([field, value]): Warning[] => {
    if (typeof value !== 'string') return []
    if (/_(date|at)$/.test(field) && value.trim().slice(0, 10) > limit)
      return [{ kind: 'value', field, issue: 'is more than a year ahead' }]
    const years = MAX_YEARS_AGO[field]
    if (years !== undefined && value.trim() < dayOf(now - years * YEAR_MS))
      return [{ kind: 'value', field, issue: `is more than ${years} years ago` }]
    if (DOUBLY_ENCODED.test(value))
      return [{ kind: 'value', field, issue: 'looks doubly encoded, as Ã¼ for ü' }]
    return []
  })
}
