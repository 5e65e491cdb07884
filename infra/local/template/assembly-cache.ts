import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** What the CDK app reads: folders and files of the project. The lockfile stands for the packages. */
const INPUTS = [
  'bin',
  'docs',
  'functions',
  'infra',
  'shared',
  'cdk.json',
  'package.json',
  'package-lock.json',
]

/** A synthesized app takes some 30 MB. */
const MAX_ENTRIES = 4
/** An entry that another process may be writing is younger. */
const MIN_AGE_MS = 3_600_000

export type CacheOptions = {
  readonly project: string
  readonly folder: string
  /** What else the output depends on. */
  readonly settings: unknown
}

/**
 * Fills an empty directory with the output of `build`, or with a copy of what it was for the same sources. Starting the
 * unchanged application again then takes a fraction of the time.
 * @param build Fills the directory that it gets; when it fails, nothing is kept.
 */
export async function buildCached(
  directory: string,
  options: CacheOptions,
  build: (directory: string) => Promise<void>,
): Promise<void> {
  const entry = join(options.folder, await fingerprint(options))
  const isCached = await cp(entry, directory, { recursive: true }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
  if (isCached) return
  await build(directory)
  await keep(directory, entry, options.folder)
}

/** A hash of the sources, of the settings and of Node's version. */
async function fingerprint({ project, settings }: CacheOptions): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([process.version, settings]))
  const add = async (path: string): Promise<void> => {
    const found = await stat(join(project, path)).catch(() => null)
    if (found?.isDirectory()) {
      const names = (await readdir(join(project, path))).filter((name) => name !== 'node_modules').sort()
      for (const name of names) await add(join(path, name))
    } else if (found) {
      const content = await readFile(join(project, path))
      hash.update(`${path}\n${content.length}\n`).update(content)
    }
  }
  for (const input of INPUTS) await add(input)
  return hash.digest('hex')
}

/** Copies the output to the cache, complete or not at all, and removes the oldest entries. */
async function keep(directory: string, entry: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const copy = await mkdtemp(join(folder, 'unfinished-'))
  await cp(directory, copy, { recursive: true })
  // Another process may have been faster.
  await rename(copy, entry).catch(() => rm(copy, { recursive: true }))
  const entries = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name)
      return { path, time: (await stat(path)).mtimeMs }
    }),
  )
  const old = entries
    .sort((a, b) => b.time - a.time)
    .slice(MAX_ENTRIES)
    .filter(({ time }) => time < Date.now() - MIN_AGE_MS)
  for (const { path } of old) await rm(path, { recursive: true, force: true })
}
