import { hash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { buildSync, type Metafile } from 'esbuild'

export const PROJECT = join(import.meta.dirname, '../..')

/** The folder of the files that starts and test runs keep. */
export const KEPT_FOLDER = join(PROJECT, 'node_modules/.cache/kept')

/** Decide how files are kept, which packages are installed, and how their code and ours is read. */
const COMMON_INPUTS = [
  'infra/kept/kept-files.ts',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
  'tsconfig.json',
]

/** How many versions of the same files are kept: for switching between branches, and between options. */
const VERSIONS = 3

/** The name of the list of an entry's inputs and files. */
const LIST = 'list.json'

/** Begins the names of entries that are being written, or were when their process ended. */
const UNFINISHED = 'unfinished-'
const UNFINISHED_MS = 60 * 60_000

type List = {
  readonly inputs: readonly string[]
  /** The digest of each file's content, which is its name in the entry. */
  readonly files: Readonly<Record<string, string>>
  /** Of both. */
  readonly digest: string
}

/** Contents by path. */
export type Files = Readonly<Record<string, Uint8Array>>

const listDigest = ({ inputs, files }: Omit<List, 'digest'>): string =>
  digest(JSON.stringify([inputs, files]))

const digest = (content: string | Uint8Array): string => hash('sha256', content)

/** Files that were made from `inputs`, which are files and folders of the project, and from settings. */
type Made = {
  readonly name: string
  readonly settings: unknown
  readonly inputs: readonly string[]
  readonly files: Files
}

/** Times of files are those of a clock that ticks rarely. */
const TICK_MS = 100

/**
 * Files that were made from other files, such as bundles from sources. They are found again only while the content of every input
 * is what it was, and none of the files is damaged.
 */
export class KeptFiles {
  readonly #folder: string
  readonly #since: number
  readonly #project: string
  readonly #inputs = new Map<string, { readonly digest: string; readonly isOld: boolean }>()

  /** @param since when the code that makes the files was loaded, or earlier */
  constructor(folder: string, since = performance.timeOrigin, project = PROJECT) {
    this.#folder = folder
    this.#since = since
    this.#project = project
  }

  /** The files that were kept by this name for the same settings and inputs. */
  find(name: string, settings: unknown): Files | undefined {
    for (const key of this.#versions(name)) {
      const entry = join(this.#folder, name, key)
      try {
        const list = JSON.parse(readFileSync(join(entry, LIST), 'utf8')) as List
        const { inputs, files } = list
        if (list.digest !== listDigest(list) || this.#key(settings, inputs) !== key) continue
        const contents = Object.entries(files).map(([file, expected]) => {
          const content = readFileSync(join(entry, expected))
          if (digest(content) !== expected) throw new Error(`${file} is damaged`)
          return [file, content]
        })
        utimesSync(entry, now() / 1000, now() / 1000)
        return Object.fromEntries(contents)
      } catch {
        // It is damaged or was removed in the meantime, so the files are made again.
      }
    }
    return undefined
  }

  /**
   * Keeps files, except those of which an input has changed since the code was loaded: what made them may have read another content.
   * What cannot be stored is made again the next time.
   */
  keep(made: readonly Made[]): void {
    // They may have changed since they were read to find files.
    this.#inputs.clear()
    for (const { name, settings, inputs, files } of made) {
      const all = [...COMMON_INPUTS, ...inputs]
      const key = this.#key(settings, all)
      if (all.every((path) => this.#input(path).isOld)) this.#write(name, key, all, files)
    }
  }

  #write(name: string, key: string, inputs: readonly string[], files: Files): void {
    const parent = join(this.#folder, name)
    try {
      mkdirSync(parent, { recursive: true })
      const unfinished = mkdtempSync(join(parent, UNFINISHED))
      const digests = Object.entries(files).map(([path, content]) => [path, digest(content)] as const)
      for (const [path, name] of digests) writeFileSync(join(unfinished, name), files[path] ?? '')
      const list = { inputs, files: Object.fromEntries(digests) }
      writeFileSync(join(unfinished, LIST), JSON.stringify({ ...list, digest: listDigest(list) }))
      // The previous one is damaged, or another process has made the same in the meantime.
      rmSync(join(parent, key), { recursive: true, force: true })
      renameSync(unfinished, join(parent, key))
    } catch {
      // Another process has, or the disk is full.
    }
    const left = this.#entries(name).filter(
      ({ key, time }) => isUnfinished(key) && time < now() - UNFINISHED_MS,
    )
    for (const old of [...this.#versions(name).slice(VERSIONS), ...left.map(({ key }) => key)])
      rmSync(join(parent, old), { recursive: true, force: true })
  }

  /** The last used first. */
  #versions(name: string): string[] {
    const finished = this.#entries(name).filter(({ key }) => !isUnfinished(key))
    return finished.sort((a, b) => b.time - a.time).map(({ key }) => key)
  }

  #entries(name: string) {
    const parent = join(this.#folder, name)
    if (!existsSync(parent)) return []
    const usedAt = (key: string) => statSync(join(parent, key), { throwIfNoEntry: false })?.mtimeMs ?? 0
    return readdirSync(parent).map((key) => ({ key, time: usedAt(key) }))
  }

  #key(settings: unknown, inputs: readonly string[]): string {
    return digest(JSON.stringify([settings, inputs.map((path) => [path, this.#input(path).digest])]))
  }

  #input(path: string) {
    const known = this.#inputs.get(path)
    if (known) return known
    const file = join(this.#project, path)
    const found = statSync(file, { throwIfNoEntry: false })
    const input = { digest: 'missing', isOld: true }
    if (found?.isDirectory()) {
      const names = readdirSync(file).sort()
      const children = names.map((name) => this.#input(join(path, name)))
      input.digest = digest(JSON.stringify(children.map((child, at) => [names[at], child.digest])))
      input.isOld = children.every(({ isOld }) => isOld)
    } else if (found) input.digest = digest(readFileSync(file))
    if (changedAt(file) >= this.#since - TICK_MS) input.isOld = false
    this.#inputs.set(path, input)
    return input
  }
}

const isUnfinished = (key: string): boolean => key.startsWith(UNFINISHED)

/** Not `Date`, which `--at` moves. */
const now = (): number => performance.timeOrigin + performance.now()

/** When a file was last changed, or its folder if there is no such file: it may have been removed from there. */
const changedAt = (file: string): number =>
  statSync(file, { throwIfNoEntry: false })?.ctimeMs ?? changedAt(dirname(file))

/** Writes the files below a folder. */
export function writeFiles(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
}

/** The files below a folder. */
export function readFiles(folder: string): Files {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const paths = found.map(({ parentPath, name }) => join(parentPath, name))
  return Object.fromEntries(paths.map((path) => [relative(folder, path), readFileSync(path)]))
}

/**
 * The files that a bundle is made of, with those of which it uses nothing, and the settings of their folders: manifests and, for
 * the project's code, `tsconfig.json`, none of which need exist.
 */
export function inputsOf({ inputs }: Metafile, entryPoint: string): string[] {
  const found = new Set([entryPoint])
  // Also visits what is added meanwhile.
  for (const path of found)
    for (const { path: imported, external } of inputs[path]?.imports ?? []) if (!external) found.add(imported)
  for (const path of [...found])
    for (
      let folder = dirname(path);
      folder !== '.' && !folder.endsWith('node_modules');
      folder = dirname(folder)
    ) {
      found.add(`${folder}/package.json`)
      if (!folder.includes('node_modules')) found.add(`${folder}/tsconfig.json`)
    }
  return [...found]
}

/** The files that a program is made of, with those of its packages. */
export function sourcesOf(entryPoint: string): string[] {
  const { metafile } = buildSync({
    absWorkingDir: PROJECT,
    entryPoints: [entryPoint],
    bundle: true,
    format: 'esm',
    platform: 'node',
    packages: 'external',
    write: false,
    metafile: true,
    logLevel: 'error',
  })
  return inputsOf(metafile, entryPoint)
}
