import { renderPage } from '../api/schemas.ts'
import { offsetOf, type PageRequest } from '../domain/lists/paging.ts'

type Listed = { readonly id: string; readonly isActive?: boolean; readonly doctorIds?: readonly string[] }

type ListQuery = PageRequest & {
  readonly is_active?: boolean | undefined
  readonly doctor_id?: string | undefined
}

/** Renders the page that a query asks for of a list that was read as a whole. */
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
  return renderPage(
    { items: selected.slice(offset, offset + query.limit), total: selected.length },
    query,
    render,
  )
}
