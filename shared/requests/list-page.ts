import { ApiError } from '../api/errors.ts'
import { renderPage } from '../api/schemas.ts'
import { offsetOf, type PageRequest } from '../domain/lists/paging.ts'

type Listed = { readonly id: string; readonly isActive?: boolean; readonly doctorIds?: readonly string[] }

type ListQuery = PageRequest & {
  readonly is_active?: boolean | undefined
  readonly doctor_id?: string | undefined
}

/** A Lambda function's response has at most 6 MB, as text within JSON. Twenty of the largest doctors fit. */
const MAX_BYTES = 6_000_000

/**
 * Renders the page that a query asks for of a list that was read as a whole.
 * @throws ApiError if it is too large for a response
 */
export function renderListPage<T extends Listed, W>(
  records: readonly T[],
  query: ListQuery,
  render: (record: T) => W,
) {
  const { is_active: isActive, doctor_id: doctor } = query
  const selected = records.filter(
    (record) =>
      (isActive === undefined || record.isActive === isActive) &&
      (doctor === undefined || record.doctorIds?.includes(doctor)),
  )
  const offset = offsetOf(query)
  const page = renderPage(
    { items: selected.slice(offset, offset + query.limit), total: selected.length },
    query,
    render,
  )
  if (Buffer.byteLength(JSON.stringify(JSON.stringify(page))) <= MAX_BYTES) return page
  const issue = 'must be smaller: the page would be larger than 6 MB'
  throw new ApiError('invalid_params', { details: [{ field: 'limit', issue }] })
}
