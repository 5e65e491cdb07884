import { expect, it } from 'vitest'
import { descendingOrdinals, offsetOf, totalPages } from '../../../../shared/domain/lists/paging.ts'

it.each([
  [1, 20, 0],
  [2, 20, 20],
  [3, 7, 14],
])('page %i with limit %i starts after %i records', (page, limit, offset) => {
  expect(offsetOf({ page, limit })).toBe(offset)
})

it.each([
  [0, 20, 0],
  [1, 20, 1],
  [20, 20, 1],
  [21, 20, 2],
])('%i records with limit %i have %i pages', (total, limit, pages) => {
  expect(totalPages(total, limit)).toBe(pages)
})

it.each([
  ['a full first page', 10, { page: 1, limit: 4 }, { from: 6, to: 9 }],
  ['a full second page', 10, { page: 2, limit: 4 }, { from: 2, to: 5 }],
  ['a last page with fewer records', 10, { page: 3, limit: 4 }, { from: 0, to: 1 }],
  ['a last page with one record', 9, { page: 3, limit: 4 }, { from: 0, to: 0 }],
  ['the page after a full last page', 8, { page: 3, limit: 4 }, null],
  ['a page far past the end', 10, { page: 9, limit: 4 }, null],
  ['an empty list', 0, { page: 1, limit: 4 }, null],
])('descendingOrdinals returns the ordinals of %s', (_, count, request, expected) => {
  expect(descendingOrdinals(count, request)).toEqual(expected)
})
