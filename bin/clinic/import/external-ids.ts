import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { Encoding } from './encoding.ts'
import type { ImportableEntity } from './entity.ts'
import { openFile } from './file-formats.ts'
import type { ColumnMap } from './map-schema.ts'
import { withOwnRecords } from './own-records.ts'
import { ExternalRef } from './references.ts'
import type { SourceRow } from './row.ts'

/** An id in the clinic's own system, and that of the record. */
export type ListedId = { readonly entity: string; readonly externalId: string; readonly id: string }

/** The external ids of a file in its order, each with the id of its record, whether or not that was imported yet. */
export async function* externalIdsOf(
  file: string,
  entity: ImportableEntity,
  clinic: ClinicInfo,
  reading: { readonly map: ColumnMap | undefined; readonly encoding: Encoding | undefined },
): AsyncGenerator<ListedId> {
  const keys = await entity.readKeys(clinic.id)
  const own = entity.ownRecords(clinic.id, keys)
  const { rows, map } = await openFile({ file, entity }, { clinic, ...reading })
  const idsOf = (row: SourceRow): ListedId | null => {
    const { data: externalId } = ExternalRef.safeParse(
      'values' in row ? map.read(row.values).fields.external_id : null,
    )
    if (externalId === undefined) return null
    return { entity: entity.name, externalId, id: own.idOf(entity.idKind, externalId) }
  }
  for await (const { row: ids } of withOwnRecords(rows, idsOf, own)) if (ids) yield ids
}
