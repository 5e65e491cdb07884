/** Names of columns, compared as people write them. */

/** Names that were compared. Each row of a file has the same. */
const folded = new Map<string, string>()
const MAX_FOLDED = 10_000

/** The form in which names are compared: `First Name`, `FIRST_NAME` and `first-name` are one, as are `İ`, `I`, `ı` and `i`. */
export function foldedName(name: string): string {
  const known = folded.get(name)
  if (known !== undefined) return known
  const result = name
    .normalize('NFKC')
    .trim()
    .replace(/[İIı]/g, 'i')
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')
  if (folded.size >= MAX_FOLDED) folded.clear()
  folded.set(name, result)
  return result
}

/** The letters and digits of a text, in which aliases are compared: `750302/1234` and `7503021234` are the same. */
export const lettersOf = (text: string): string => foldedName(text).replace(/[^\p{L}\p{N}]/gu, '')

const MAX_TYPING_ERRORS = 2

/** The name that was probably meant; undefined if none is close. */
function closestName(name: string, candidates: readonly string[]): string | undefined {
  const distances = candidates.map((candidate) => ({
    candidate,
    distance: editDistance(foldedName(name), foldedName(candidate)),
  }))
  const [closest] = distances.sort((a, b) => a.distance - b.distance)
  const allowed = Math.min(MAX_TYPING_ERRORS, Math.floor(name.length / 3))
  return closest && closest.distance <= allowed ? closest.candidate : undefined
}

/** ` (did you mean x?)`, or nothing if no name is close. */
export function suggestion(name: string, candidates: readonly string[]): string {
  const meant = closestName(name, candidates)
  return meant === undefined ? '' : ` (did you mean ${meant}?)`
}

/** How many letters have to be inserted, removed or replaced. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1]
    for (let at = 1; at <= to.length; at++) {
      const replaced = (row[at - 1] ?? 0) + (letter === to[at - 1] ? 0 : 1)
      next.push(Math.min((row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, replaced))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

export const quoted = (names: readonly string[]): string =>
  names.map((name) => JSON.stringify(name)).join(', ')

/** `4`, `4 and 5`, `4, 5 and 7` */
export const listed = (items: readonly (string | number)[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
