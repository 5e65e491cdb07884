import { distance } from 'fastest-levenshtein'

const MAX_TYPING_ERRORS = 2

/** Longer names are compared with nothing: the effort grows with their length. */
const MAX_LENGTH = 60

/** The name that was probably meant, whatever its case and separators; undefined if none is close. */
export function closestName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > MAX_LENGTH) return undefined
  const letters = lettersOf(name)
  const [closest] = candidates
    .map((candidate) => ({ candidate, errors: distance(letters, lettersOf(candidate)) }))
    .sort((a, b) => a.errors - b.errors)
  const allowed = Math.min(MAX_TYPING_ERRORS, Math.floor(name.length / 3))
  return closest && closest.errors <= allowed ? closest.candidate : undefined
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

/** ` (did you mean x?)`, or nothing if no name is close. */
export function suggestion(name: string, candidates: readonly string[]): string {
  const meant = closestName(name, candidates)
  return meant === undefined ? '' : ` (did you mean ${meant}?)`
}

export const quoted = (names: readonly string[]): string =>
  names.map((name) => JSON.stringify(name)).join(', ')
