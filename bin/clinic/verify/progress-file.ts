import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import {
  DIFFERENCES,
  type DifferenceKind,
  type ReportedDifference,
} from '../../../shared/maintenance/verify/comparison/difference.ts'
import type { VerifiedParts } from '../../../shared/maintenance/verify/verify-clinic.ts'

const Listed = z.object({
  kind: z.enum(Object.keys(DIFFERENCES) as [DifferenceKind, ...DifferenceKind[]]),
  key: z.object({ pk: z.string(), sk: z.string() }),
  note: z.string().optional(),
  repaired: z.boolean(),
})

const StoredProgress = z.object({
  clinic: z.string(),
  repair: z.boolean(),
  current: z
    .object({
      parts: z.array(z.string()),
      checked: z.record(z.string(), z.number()),
      differences: z.int(),
      repaired: z.int(),
      listed: z.array(Listed),
    })
    .nullable(),
})

/** The file cannot be used. The message names it. */
export class ProgressFileError extends Error {}

/** How far a verification is. */
export type Progress = {
  readonly clinic: string
  readonly repair: boolean
  /** The parts that were verified, and what they found. */
  readonly current: (VerifiedParts & { readonly listed: readonly ReportedDifference[] }) | null
}

/**
 * Opens the file with the progress of a verification, or begins one. `save` replaces the file as a whole, so that a stopped
 * verification has the progress before. Without a file, nothing is saved.
 * @throws ProgressFileError if the file cannot be written, or is of another verification
 */
export function openProgressFile(file: string | undefined, given: Pick<Progress, 'clinic' | 'repair'>) {
  let progress: Progress = { ...given, current: null }
  if (file !== undefined && existsSync(file)) progress = readProgress(file, given)

  function save(change: Partial<Progress>): void {
    progress = { ...progress, ...change }
    if (file === undefined) return
    try {
      writeFileSync(`${file}.tmp`, `${JSON.stringify(progress)}\n`, { mode: 0o600 })
      renameSync(`${file}.tmp`, file)
    } catch (error) {
      throw new ProgressFileError(`--resume ${file} cannot be written: ${(error as Error).message}`)
    }
  }

  // Says at once if the file cannot be written.
  save({})
  return {
    progress: () => progress,
    save,
    /** Removes the file at the end: the next verification begins again. */
    remove: () => file !== undefined && rmSync(file, { force: true }),
  }
}

function readProgress(file: string, { clinic, repair }: Pick<Progress, 'clinic' | 'repair'>): Progress {
  let progress: Progress
  try {
    progress = StoredProgress.parse(JSON.parse(readFileSync(file, 'utf8'))) as Progress
  } catch {
    throw new ProgressFileError(`--resume ${file} is not the progress of a verification.`)
  }
  if (progress.clinic !== clinic || progress.repair !== repair)
    throw new ProgressFileError(
      `--resume ${file} is the progress of verify --clinic ${progress.clinic}${progress.repair ? ' --repair' : ''}: repeat that command, or choose another file.`,
    )
  return progress
}
