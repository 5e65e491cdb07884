import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { CommandFailure } from '../tool/output.ts'

export const MANIFEST = 'manifest.json'

const ExportedFile = z.object({ rows: z.int(), bytes: z.int(), sha256: z.string() })

const Manifest = z.object({
  clinic: z.looseObject({ id: z.string(), name: z.string() }),
  started_at: z.string(),
  finished_at: z.string(),
  /** Whether the clinic was paused, and nothing has changed, from before the beginning to after the end. */
  is_one_moment: z.boolean(),
  files: z.record(z.string(), ExportedFile),
})

export type Manifest = z.infer<typeof Manifest>
export type ExportedFile = z.infer<typeof ExportedFile>

/** The manifest of an export. @throws CommandFailure if the folder has none */
export function readManifest(folder: string): Manifest {
  try {
    return Manifest.parse(JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')))
  } catch {
    throw new CommandFailure(`Nothing was done: ${folder} has no finished export.`)
  }
}

/** The settings that no file has. */
export function settingsOf(clinic: Clinic): Manifest['clinic'] {
  const { recipientSecret, version, ...settings } = clinic as Clinic & Record<string, unknown>
  return settings as Manifest['clinic']
}

/** Whether an export has the settings of the clinic. A pause is none. */
export const hasSettings = (exported: Manifest['clinic'], clinic: Clinic): boolean =>
  isDeepStrictEqual(withoutPause(exported), withoutPause(settingsOf(clinic)))

function withoutPause({ pausedAt, pauseInEffectAt, ...settings }: Manifest['clinic']) {
  return settings
}
