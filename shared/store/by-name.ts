import { fold } from '../domain/patients/search-text.ts'

/** Sorts by name, without regard to case and accents, then by id. */
export function sortedByName<T extends { readonly id: string }>(
  records: readonly T[],
  nameOf: (record: T) => string,
): T[] {
  const named = records.map((record) => ({ record, name: fold(nameOf(record)) }))
  named.sort((a, b) => compareStrings(a.name, b.name) || compareStrings(a.record.id, b.record.id))
  return named.map(({ record }) => record)
}

const compareStrings = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
