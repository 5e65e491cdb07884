import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { importEventDraft } from '../../../../shared/domain/webhooks/event.ts'
import { announcedImportKey } from '../../../../shared/store/keys/operator.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ImportableEntity } from '../entities/entity.ts'
import type { Counts } from '../files/batch-outcomes.ts'
import { retryPatiently } from './retry-patiently.ts'

/** Enough that no two contents have the same digest. */
const DIGEST_BYTES = 16

/** A file that was imported, with the SHA-256 of its content. */
type Finished = { readonly content: string; readonly counts: Counts }

/**
 * Announces that a file was imported, whether or not its changes were announced. Its record is the import itself. A repetition that
 * has changed nothing announces it only if no import of this content has: an earlier one may have been killed before.
 */
export async function announceImport(
  table: Table,
  clinic: ClinicId,
  entity: Pick<ImportableEntity, 'name' | 'readKeys'>,
  { content, counts }: Finished,
): Promise<void> {
  const run = table.newId()
  await retryPatiently(
    async () => {
      const { digestOf } = await entity.readKeys(clinic)
      const digest = digestOf(`content of ${entity.name}: ${content}`).subarray(0, DIGEST_BYTES)
      const key = announcedImportKey(clinic, digest.toString('base64url'))
      const before = await table.get(key)
      // An earlier attempt was committed, and its response was lost.
      const isDone = before?.r === run
      if (isDone || (before && counts.imported + counts.updated === 0)) return
      const changes = new Changeset(table, clinic)
      changes.announce(run, 1, importEventDraft(entity.name, counts))
      const version = before?.v as number | undefined
      changes.put({ ...key, r: run, v: (version ?? 0) + 1 }, version === undefined ? 'new' : { version })
      await changes.commit()
    },
    () => {},
  )
}
