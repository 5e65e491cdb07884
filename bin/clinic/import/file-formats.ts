/** Reads how files are written before any of them is imported, so that one run names what is wrong with all of them. */
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { Encoding } from './encoding.ts'
import type { ImportEntity } from './entity.ts'
import { checkHeader } from './header.ts'
import { ImportFileError } from './import-errors.ts'
import type { ColumnMap } from './map-schema.ts'
import { withOwnIdColumns } from './references.ts'
import type { FileFormat } from './row.ts'
import { rowMap } from './row-map.ts'
import { openRows } from './rows.ts'

type ToRead = { readonly file: string; readonly entity: Pick<ImportEntity, 'name' | 'columns' | 'required'> }

type Reading = {
  readonly clinic: Pick<ClinicInfo, 'timezone'>
  readonly map: ColumnMap | undefined
  readonly encoding?: Encoding | undefined
}

/**
 * The format of each file, in the order of the files.
 * @throws ImportFileError with a line for each file that has a wrong header, another encoding or no rows
 */
export async function readFormats(files: readonly ToRead[], reading: Reading): Promise<FileFormat[]> {
  const formats: FileFormat[] = []
  const problems: string[] = []
  for (const one of files) {
    try {
      formats.push(await readFormat(one, reading))
    } catch (error) {
      if (!(error instanceof ImportFileError)) throw error
      problems.push(error.message)
    }
  }
  if (problems.length > 0) throw new ImportFileError(problems.join('\n'))
  return formats
}

async function readFormat({ file, entity }: ToRead, { clinic, map, encoding }: Reading): Promise<FileFormat> {
  const columns = withOwnIdColumns(['external_id', ...entity.columns])
  const { format, rows, close } = await openRows(file, encoding ?? map?.encoding)
  try {
    if (format.kind === 'csv')
      checkHeader(entity, format, rowMap(columns, entity.name, map, clinic.timezone), file)
    if ((await rows.next()).done) throw new ImportFileError(`${file}: the file has no rows`)
  } finally {
    await close()
  }
  return format
}
