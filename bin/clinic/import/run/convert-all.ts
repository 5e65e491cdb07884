import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { resolveFromInvocationDir } from '../../tool/invocation-path.ts'
import { Conversions, loadConverter } from '../converters/convert-files.ts'
import { ImportFileError } from '../files/import-errors.ts'
import { LINE_ITEMS } from '../files/import-paths.ts'
import { fileEntities } from './file-entities.ts'

type Conversion = {
  /** Of the converter, as it is given. */
  readonly path: string
  readonly clinic: Pick<ClinicInfo, 'timezone'>
  readonly encodingOf: (file: string) => string | undefined
}

/** Converts files. @throws ImportFileError that names what is wrong with each of them */
export async function convertFiles(
  files: readonly string[],
  { path, clinic, encodingOf }: Conversion,
): Promise<Conversions> {
  const entities = [...fileEntities({} as Table, Date.now), LINE_ITEMS]
  const converter = await loadConverter(resolveFromInvocationDir(path))
  const conversions = new Conversions({ converter, entities, clinic, now: Date.now() })
  const problems: string[] = []
  for (const file of files)
    try {
      await conversions.add(file, encodingOf(file))
    } catch (error) {
      if (!(error instanceof ImportFileError)) throw error
      problems.push(error.message)
    }
  if (problems.length === 0) return conversions
  conversions[Symbol.dispose]()
  throw new ImportFileError(problems.join('\n'))
}
