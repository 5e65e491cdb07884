/**
 * A field of a record, and what is wrong with it: a rule, or a code that programs can act on. It never quotes a value of the record.
 * The field is empty if the record as a whole cannot be written.
 */
export type RowIssue = { readonly field: string; readonly issue: string }

export const issueText = ({ field, issue }: RowIssue): string => (field === '' ? issue : `${field} ${issue}`)

/** Rejects a row. The message is for files: it explains codes, and says which option of the import helps. */
export class RowRejectedError extends Error {
  readonly issues: readonly RowIssue[]
  constructor(issues: RowIssue | readonly RowIssue[], message?: string) {
    const all = [issues].flat()
    super(message ?? all.map(issueText).join('; '))
    this.issues = all
  }
}

/** @throws RowRejectedError for a row with the id of a record that does not exist: only external ids make new records */
export function requireKnownId(
  { externalId }: { readonly externalId: string | undefined },
  stored: object | null,
): void {
  if (!stored && externalId === undefined)
    throw new RowRejectedError({
      field: 'id',
      issue: 'is unknown: a row with the id of a record changes it, and the clinic has no such record',
    })
}
