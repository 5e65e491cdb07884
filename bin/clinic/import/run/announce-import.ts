import { createHmac } from 'node:crypto'
import { importEventDraft } from '../../../../shared/domain/webhooks/event.ts'
import type { StoredClinic } from '../../../../shared/store/clinics.ts'
import { announcedImportKey } from '../../../../shared/store/keys/operator.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { Counts } from '../../../../shared/sync/outcomes/batch-outcomes.ts'
import { retryPatiently } from './patience.ts'

/** Enough that no two contents have the same digest. */
const DIGEST_BYTES = 16

/** A file that was imported, with the SHA-256 of its content. */
type Finished = { readonly content: string; readonly counts: Counts & { readonly rejected: number } }

/**
 * Announces that a file was imported, whether or not its changes were announced. Its record is the import itself. A repetition that
 * has changed nothing announces it only if no import of this content has: an earlier one may have been killed before.
 * @param clinic As it was read before the import: an erasure that has begun since makes the digest useless
 */
export async function announceImport(
  table: Table,
  { id: clinic, recipientSecret }: Pick<StoredClinic, 'id' | 'recipientSecret'>,
  entity: string,
  { content, counts }: Finished,
): Promise<void> {
  const run = table.newId()
  // Rejected rows can be of erased patients, and the digest of a file with a single row confirms a guess of any of its values.
  const imported = counts.rejected > 0 ? run : content
  const digest = createHmac('sha256', recipientSecret).update(`content of ${entity}: ${imported}`).digest()
  const key = announcedImportKey(clinic, digest.subarray(0, DIGEST_BYTES).toString('base64url'))
  await retryPatiently(
    async () => {
      const before = await table.get(key)
      // An earlier attempt was committed, and its response was lost.
      const isDone = before?.r === run
      if (isDone || (before && counts.imported + counts.updated === 0)) return
      const changes = new Changeset(table, clinic)
      changes.announce(run, 1, importEventDraft(entity, counts))
      const version = before?.v as number | undefined
      changes.put(
        { ...before, ...key, r: run, v: (version ?? 0) + 1 },
        version === undefined ? 'new' : { version },
      )
      await changes.commit()
    },
    () => {},
  )
}
