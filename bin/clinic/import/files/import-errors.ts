/** The file as a whole cannot be imported. The message contains its path, and the line if there is one. */
export class ImportFileError extends Error {}

/** Rejects a row, with the reason. */
export class RowRejectedError extends Error {}

/** @throws RowRejectedError for a row with the id of a record that does not exist: only external ids make new records */
export function requireKnownId(
  { externalId }: { readonly externalId: string | undefined },
  stored: object | null,
): void {
  if (!stored && externalId === undefined)
    throw new RowRejectedError(
      'id is unknown: a row with the id of a record changes it, and the clinic has no such record',
    )
}
