import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folder with the programs of a Python package, or why they are not available. */
export type PythonTool =
  | { readonly bin: string; readonly missing?: undefined }
  | { readonly bin?: undefined; readonly missing: string }

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/judges')

/** Installs the packages of a file of pinned requirements into a virtual environment, once for each version of the file. */
export function pythonTool(requirements: string): PythonTool {
  const python = spawnSync('python3', ['-c', 'import ensurepip, sys; sys.exit(sys.version_info < (3, 9))'])
  if (python.status !== 0) return { missing: 'there is no Python 3.9 or later with pip' }
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16)
  const folder = join(CACHE, version)
  const bin = join(folder, 'bin')
  const installed = join(folder, 'installed')
  if (existsSync(installed)) return { bin }
  rmSync(folder, { recursive: true, force: true })
  const steps = [
    ['python3', '-m', 'venv', folder],
    [join(bin, 'pip'), 'install', '--quiet', '--requirement', requirements],
  ]
  for (const [program = '', ...args] of steps) {
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
    if (status !== 0) return { missing: `${args.slice(0, 2).join(' ')} failed: ${stderr?.slice(-500)}` }
  }
  writeFileSync(installed, '')
  return { bin }
}
