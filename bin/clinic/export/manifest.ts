import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Clinic } from '../../../shared/domain/clinic.ts'

const MANIFEST = 'manifest.json'

const ExportedFile = z.object({ rows: z.int(), bytes: z.int(), sha256: z.string() })

const Manifest = z.object({
  clinic: z.looseObject({ id: z.string(), name: z.string() }),
  /** `reading`: rows are still missing. `writing`: the rows of `files` are complete. */
  state: z.enum(['reading', 'writing', 'finished']),
  started_at: z.string(),
  finished_at: z.string().nullable(),
  /** Every change up to this time is in the files. */
  as_of: z.string().nullable(),
  /** Whether the clinic was paused from before the beginning to after the end, so that all rows are of one moment. */
  is_one_moment: z.boolean(),
  /** Records, and rows of small lists, that were created, changed or removed while the export read, and settings that were changed. */
  read_again: z.int(),
  files: z.record(z.string(), ExportedFile),
})

export type Manifest = z.infer<typeof Manifest>
export type ExportedFile = z.infer<typeof ExportedFile>

/** The folder cannot be used, or holds no export of the clinic. The message contains its path. */
export class ExportFolderError extends Error {}

/** The manifest of an export; null if the folder has none. @throws ExportFolderError for a damaged one */
export function readManifest(folder: string): Manifest | null {
  const file = join(folder, MANIFEST)
  if (!existsSync(file)) return null
  try {
    return Manifest.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    throw new ExportFolderError(`${file} is not the manifest of an export.`)
  }
}

/** Replaces the manifest as a whole, so that a stopped export has the one before. */
export function writeManifest(folder: string, manifest: Manifest): void {
  const file = join(folder, MANIFEST)
  writeFileSync(`${file}.tmp`, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${file}.tmp`, file)
}

/** Opens a new folder, or the folder of a stopped export of the clinic. @throws ExportFolderError */
export function openFolder(folder: string, clinic: Clinic, now: number): Manifest {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const before = readManifest(folder)
  if (before && before.clinic.id !== clinic.id)
    throw new ExportFolderError(`${folder} has the export of another clinic: choose another folder.`)
  if (before?.state === 'finished')
    throw new ExportFolderError(`${folder} has an export that is finished: choose another folder.`)
  if (before?.state === 'writing') return readingAgain(folder, before)
  if (before) return before
  if (readdirSync(folder).length > 0)
    throw new ExportFolderError(`${folder} is not empty: choose another folder.`)
  const manifest: Manifest = {
    clinic: settingsOf(clinic),
    state: 'reading',
    started_at: new Date(now).toISOString(),
    finished_at: null,
    as_of: null,
    is_one_moment: false,
    read_again: 0,
    files: {},
  }
  writeManifest(folder, manifest)
  return manifest
}

/** An export that was stopped while it wrote: what changed since is read again, so its files have to be written again. */
function readingAgain(folder: string, stopped: Manifest): Manifest {
  const manifest: Manifest = { ...stopped, state: 'reading', files: {} }
  writeManifest(folder, manifest)
  for (const name of Object.keys(stopped.files)) rmSync(join(folder, name), { force: true })
  return manifest
}

/** The settings that no file has. */
export function settingsOf(clinic: Clinic): Manifest['clinic'] {
  const { recipientSecret, version, ...settings } = clinic as Clinic & Record<string, unknown>
  return settings as Manifest['clinic']
}

/** Whether a manifest has the settings of the clinic. A pause is none. */
export const hasSettings = ({ clinic: exported }: Manifest, clinic: Clinic): boolean =>
  isDeepStrictEqual(withoutPause(exported), withoutPause(settingsOf(clinic)))

function withoutPause({ pausedAt, pauseInEffectAt, ...settings }: Manifest['clinic']) {
  return settings
}
