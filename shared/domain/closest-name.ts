const MAX_TYPING_ERRORS = 2

/** Longer names are compared with nothing: the effort grows with their length. */
const MAX_LENGTH = 60

/** The name that was probably meant, whatever its case and separators; undefined if none is close. */
export function closestName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined
  const letters = lettersOf(name)
  const distances = candidates.map((candidate) => ({
    candidate,
    distance: editDistance(letters, lettersOf(candidate)),
  }))
  const [closest] = distances.sort((a, b) => a.distance - b.distance)
  const allowed = Math.min(MAX_TYPING_ERRORS, Math.floor(name.length / 3))
  return closest && closest.distance <= allowed ? closest.candidate : undefined
}

/** The form in which names are compared: `First Name`, `FIRST_NAME` and `first-name` are one, as are `İ`, `I`, `ı` and `i`. */
export const foldName = (name: string): string =>
  name
    .normalize('NFKC')
    .trim()
    .replace(/[İIı]/g, 'i')
    .toLowerCase()
    .replace(/[\s_-]+/g, '_')

const lettersOf = (name: string): string => foldName(name).replaceAll('_', '')

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
