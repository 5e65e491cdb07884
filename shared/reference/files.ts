import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'

/** A file to serve. All are text: a binary media type would change how the REST API passes every other body. */
export type ServedFile = {
  readonly body: string
  readonly type: string
  readonly etag: string
  readonly cacheControl: string
}

/** The files by path, such as `/docs`. Each is read when it is first requested. */
export type ServedFiles = ReadonlyMap<string, () => ServedFile>

const TYPES: Record<string, string> = {
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.ts': 'text/plain',
  '.txt': 'text/plain',
}

/** Names that contain esbuild's hash of the file's content, in base 32, which can be cached forever. A date in a name is none. */
const HASHED = /\.[A-Z2-7]{8}\.\w+$/

/**
 * Lists all files of a folder, by URL path; pages lose their `.html`. Requests are looked up in the result, so the path of
 * a request never reaches the file system.
 * @throws Error naming a file of an unknown type
 */
export function listFiles(directory: string): ServedFiles {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
  return new Map(
    names.map((name) => {
      const type = TYPES[extname(name)]
      if (!type) throw new Error(`${name} has an unknown type: add it to TYPES.`)
      let file: ServedFile | undefined
      const read = () => (file ??= servedFile(name, type, readFileSync(join(directory, name))))
      return [`/${name.replace(/\.html$/, '')}`, read]
    }),
  )
}

function servedFile(name: string, type: string, content: Buffer): ServedFile {
  return {
    body: content.toString('utf8'),
    type: `${type}; charset=utf-8`,
    etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
    cacheControl: HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
  }
}
