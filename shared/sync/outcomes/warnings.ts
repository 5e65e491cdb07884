/** Warnings: values of a row that look wrong, but are possible. Some need stored records, so they are found on writing the row. */

import type { RowIssue } from './row-rejected.ts'

/** Most are about a value alone. None quotes it. */
export type Warning = RowIssue & { readonly kind: 'value' | 'outside_hours' | 'same_person' }

/**
 * UTF-8 that was read as windows-1252 or windows-1250 and saved as UTF-8 again: `Ã¼` for `ü`, `ÅŸ` for `ş`, `â€™` for an apostrophe, `Ĺ‚` for `ł`.
 */
const DOUBLY_ENCODED =
  /[ÃÄÅ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|Â[\u00a0-\u00bf]|â€[\u0080-\u00bf€‚„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|Ĺ[\u0080-\u00bf‚„…‡‹›ˇ˘˝šźşŠŹĽľ]|Ă[\u0080-\u00bfłˇş˝]/

const YEAR_MS = 365.25 * 86_400_000

/** @param fields A row's fields as their columns name them. */
export function warningsOf(fields: { readonly [field: string]: unknown }, now: number): Warning[] {
  const limit = new Date(now + YEAR_MS).toISOString().slice(0, 10)
  return Object.entries(fields).flatMap(([field, value]): Warning[] => {
    if (typeof value !== 'string') return []
    if (/_(date|at)$/.test(field) && value.trim().slice(0, 10) > limit)
      return [{ kind: 'value', field, issue: 'is more than a year ahead' }]
    if (DOUBLY_ENCODED.test(value))
      return [{ kind: 'value', field, issue: 'looks doubly encoded, as Ã¼ for ü' }]
    return []
  })
}
