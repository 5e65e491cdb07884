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
  clinic: z.string().nullable(),
  repair: z.boolean(),
  verified: z.array(z.string()),
  remaining: z.int(),
  current: z
    .object({
      clinic: z.string(),
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
  /** The only clinic; null for all. */
  readonly clinic: string | null
  readonly repair: boolean
  /** Clinics that were verified, and the number of their differences that are not repaired. */
  readonly verified: readonly string[]
  readonly remaining: number
  /** The clinic that is being verified, and what its parts found that were verified. */
  readonly current:
    | (VerifiedParts & { readonly clinic: string; readonly listed: readonly ReportedDifference[] })
    | null
}

/**
 * Opens the file with the progress of a verification, or begins one. `save` replaces the file as a whole, so that a stopped
 * verification has the progress before. Without a file, nothing is saved.
 * @throws ProgressFileError if the file cannot be written, or is of another verification
 */
export function openProgressFile(file: string | undefined, given: Pick<Progress, 'clinic' | 'repair'>) {
  let progress: Progress = { ...given, verified: [], remaining: 0, current: null }
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
  const of = progress.clinic === null ? '--all' : `--clinic ${progress.clinic}`
  if (progress.clinic !== clinic || progress.repair !== repair)
    throw new ProgressFileError(
      `--resume ${file} is the progress of verify ${of}${progress.repair ? ' --repair' : ''}: repeat that command, or choose another file.`,
    )
  return progress
}
