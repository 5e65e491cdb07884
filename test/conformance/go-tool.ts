import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/conformance')

/** Compiles a program of a Go module once for each version. Returns its path, or why it is not available. */
export function goTool(
  source: string,
  version: string,
): { readonly program: string; readonly missing: string | null } {
  const bin = join(CACHE, `${basename(source)}-${version}`)
  const program = join(bin, basename(source))
  if (existsSync(program)) return { program, missing: null }
  const { status, stderr } = spawnSync('go', ['install', `${source}@v${version}`], {
    env: { ...process.env, GOBIN: bin },
    encoding: 'utf8',
  })
  const missing = `Go did not install ${source}: ${stderr?.slice(-500) ?? 'there is no Go'}`
  return { program, missing: status === 0 ? null : missing }
}
