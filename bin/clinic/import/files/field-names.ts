/** Names of columns, compared as people write them. */
import { closestName, foldName } from '../../../../shared/domain/closest-name.ts'

/** Names that were compared. Each row of a file has the same. */
const folded = new Map<string, string>()
const MAX_FOLDED = 10_000

/** {@link foldName}, once for each name. */
export function foldedName(name: string): string {
  const known = folded.get(name)
  if (known !== undefined) return known
  const result = foldName(name)
  if (folded.size >= MAX_FOLDED) folded.clear()
  folded.set(name, result)
  return result
}

/** The letters and digits of a text, in which aliases are compared: `750302/1234` and `7503021234` are the same. */
export const lettersOf = (text: string): string => foldedName(text).replace(/[^\p{L}\p{N}]/gu, '')

/** ` (did you mean x?)`, or nothing if no name is close. */
export function suggestion(name: string, candidates: readonly string[]): string {
  const meant = closestName(name, candidates)
  return meant === undefined ? '' : ` (did you mean ${meant}?)`
}

export const quoted = (names: readonly string[]): string =>
  names.map((name) => JSON.stringify(name)).join(', ')

/** `4`, `4 and 5`, `4, 5 and 7` */
export const listed = (items: readonly (string | number)[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
