import { offsetOf, type Page, type PageRequest } from '../domain/lists/paging.ts'
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

/** A page of a list that was read as a whole. */
export function pageOfAll<T>(records: readonly T[], request: PageRequest): Page<T> {
  const offset = offsetOf(request)
  return { items: records.slice(offset, offset + request.limit), total: records.length }
}
