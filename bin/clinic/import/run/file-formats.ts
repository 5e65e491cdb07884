/** Opens files of an entity: how they are written, and which of their columns are read for which field. */
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import type { ImportEntity } from '../entities/entity.ts'
import { withOwnIdColumns } from '../external-ids/resolve-references.ts'
import { groupedRows } from '../files/grouped-rows.ts'
import { ImportFileError } from '../files/import-errors.ts'
import { openRows } from '../files/rows.ts'
import type { ColumnMap } from '../maps/map-schema.ts'
import { rowMap } from '../maps/row-map.ts'
import { checkHeader } from './header.ts'

type ToRead = {
  readonly file: string
  readonly entity: Pick<ImportEntity, 'name' | 'columns' | 'required'>
  readonly encoding?: string | undefined
}

type Reading = {
  readonly clinic: Pick<ClinicInfo, 'timezone' | 'currency'>
  readonly map?: ColumnMap | undefined
  /** Overrides the map's encoding. */
  readonly encoding?: string | undefined
  /** Called with each chunk of the file. */
  readonly onChunk?: (chunk: Buffer) => void
}

/** The format of a file, its rows, those of each record together, and how to stop before their end. @throws ImportFileError, also for a wrong header */
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
  return { format, rows, records, map, close }
}

/**
 * Reads the headers of all files before any of them is imported, so that one run names what is wrong with all of them.
 * @throws ImportFileError with a line for each file that has a wrong header or no rows
 */
export async function checkFiles(files: readonly ToRead[], reading: Reading): Promise<void> {
  const problems: string[] = []
  for (const one of files) {
    try {
      const { rows, close } = await openFile(one, { ...reading, encoding: one.encoding })
      const { done: isEmpty } = await rows.next().finally(close)
      if (isEmpty) throw new ImportFileError(`${one.file}: the file has no rows`)
    } catch (error) {
      if (!(error instanceof ImportFileError)) throw error
      problems.push(error.message)
    }
  }
  if (problems.length > 0) throw new ImportFileError(problems.join('\n'))
}
