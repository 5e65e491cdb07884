import { ExternalRef, parseOwnId } from './references.ts'

/** The record that a row is, or what is wrong with its ids. */
type Identity =
  | { readonly id: string; readonly externalId: undefined; readonly issues?: never }
  | { readonly id?: never; readonly externalId: string; readonly issues?: never }
  | { readonly issues: readonly string[] }

/** A row has the external id of its record, or the record's own id. */
export function identify(externalId: unknown, id: unknown): Identity {
  if (id == null) {
    const { data, error } = ExternalRef.safeParse(externalId)
    if (!error) return { externalId: data }
    const issues = error.issues.map(({ message }) =>
      externalId == null ? 'external_id is required' : `external_id ${message}`,
    )
    return { issues }
  }
  if (externalId != null) return { issues: ['external_id and id are both given; leave one empty'] }
  const own = parseOwnId(id)
  return own === null ? { issues: ['id must be the id of a record'] } : { id: own, externalId: undefined }
}
