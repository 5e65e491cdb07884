/** Requests that create and change records of the catalogue, which are alike for all its kinds. */
import { ApiError, unknownIds } from '../api/errors.ts'
import { InvalidEntry } from '../domain/catalogue/catalogue-rules.ts'
import type { CatalogueChanges } from '../store/catalogue-changes.ts'
import type { WriteRequest } from './requested-write.ts'

type Request = Pick<WriteRequest, 'clinic' | 'write'>

/** Creates the record of a request, and returns its response. */
export async function createEntry<Entry, Values, Wire>(
  request: Request & {
    readonly body: { readonly external_id?: string | null | undefined }
    readonly newId: () => string
  },
  { create }: CatalogueChanges<Entry, Values>,
  values: Values,
  render: (entry: Entry) => Wire,
): Promise<{ data: Wire }> {
  const { clinic, body, newId, write } = request
  const response = (entry: Entry) => ({ data: render(entry) })
  const created = { id: newId(), externalId: body.external_id }
  return response(await create(clinic, created, () => values, write(response)).catch(rejectEntry))
}

/** Changes the record of a request, and returns its response; null if there is none. */
export async function updateEntry<Entry, Values, Wire>(
  request: Request & { readonly path: { readonly id: string } },
  { update }: CatalogueChanges<Entry, Values>,
  values: Values,
  render: (entry: Entry) => Wire,
): Promise<{ data: Wire } | null> {
  const { clinic, path, write } = request
  const response = (entry: Entry) => ({ data: render(entry) })
  const changed = await update(clinic, path.id, () => values, write(response)).catch(rejectEntry)
  return changed && response(changed.after)
}

/** @throws ApiError that names the fields */
function rejectEntry(error: Error): never {
  if (!(error instanceof InvalidEntry)) throw error
  const details = error.problems.map(({ field, issue }) => ({ field: wireName(field), issue }))
  const missing = error.problems.find(({ unknown }) => unknown)
  if (missing?.unknown) throw unknownIds(`${missing.unknown}_not_found`, wireName(missing.field))
  throw new ApiError('validation', { details })
}

/** The name in requests of a field of a record. */
const wireName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
