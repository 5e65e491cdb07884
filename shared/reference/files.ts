import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative } from 'node:path'

/** A file as it is answered with. All are text: binary bodies would change how a REST API hands over every other. */
export type ServedFile = {
  readonly body: string
  readonly type: string
  readonly etag: string
  readonly cacheControl: string
}

/** By path, such as `/docs`. */
export type ServedFiles = ReadonlyMap<string, ServedFile>

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/** A name with a hash of its content never means anything else. */
const HASHED = /\.[0-9a-f]{16}\.\w+$/

/**
 * Reads a folder, once: what is asked for later is looked up by its whole path, and no path of a request ever reaches
 * the file system. A page is known without its `.html`.
 * @throws Error naming a file of a type that is not served
 */
export function readFiles(directory: string): ServedFiles {
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
  return new Map(
    names.map((name) => [
      `/${name.replace(/\.html$/, '')}`,
      servedFile(name, readFileSync(join(directory, name))),
    ]),
  )
}

function servedFile(name: string, content: Buffer): ServedFile {
  const type = TYPES[extname(name)]
  if (!type) throw new Error(`${name} is of a type that is not served.`)
  return {
    body: content.toString('utf8'),
    type,
    etag: `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`,
    cacheControl: HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'public, max-age=300',
  }
}
