/** Opens a file of an entity: how it is written, and which of its columns are read for which field. */
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import type { ImportEntity } from '../../../../shared/sync/entities/entity.ts'
import { withOwnIdColumns } from '../../../../shared/sync/external-ids/resolve-references.ts'
import { groupedRows } from '../files/grouped-rows.ts'
import { openRows } from '../files/rows.ts'
import type { ColumnMap } from '../maps/map-schema.ts'
import { rowMap } from '../maps/row-map.ts'
import { checkHeader } from './header.ts'

type ToRead = {
  readonly file: string
  readonly entity: Pick<ImportEntity, 'name' | 'columns' | 'required'>
}

type Reading = {
  readonly clinic: Pick<ClinicInfo, 'timezone' | 'currency'>
  readonly map?: ColumnMap | undefined
  /** Overrides the map's encoding. */
  readonly encoding?: string | undefined
  /** Called with each chunk of the file. */
  readonly onChunk?: (chunk: Buffer) => void
}

/** The format of a file, and its rows, those of each record together. @throws ImportFileError, also for a wrong header */
export async function openFile({ file, entity }: ToRead, { clinic, map: given, encoding, onChunk }: Reading) {
  const columns = withOwnIdColumns(['external_id', ...entity.columns])
  const map = rowMap(columns, entity.name, given, clinic)
  const { format, rows, close } = await openRows(
    file,
    encoding ?? given?.entities[entity.name]?.encoding ?? given?.encoding,
    onChunk,
  )
  try {
    if (format.kind === 'csv') checkHeader(entity, format, map, file)
  } catch (error) {
    await close()
    throw error
  }
  const records = map.recordOf ? groupedRows(file, rows, map.recordOf, map.isItemized) : rows
  return { format, records, map }
}
