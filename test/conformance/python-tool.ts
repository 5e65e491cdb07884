import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'

/** The folder with the programs of a Python package, or why they are not available. */
export type PythonTool =
  | { readonly bin: string; readonly missing?: undefined }
  | { readonly bin?: undefined; readonly missing: string }

const CACHE = join(import.meta.dirname, '../../node_modules/.cache/conformance')

/**
 * Installs the packages of a file of pinned requirements into a virtual environment of a version of Python, such as 3.9, once
 * for each version of the file.
 * @param minor the minor version that Python 3 needs at least
 */
export function pythonTool(requirements: string, wanted = '3', minor = 9): PythonTool {
  const check = `import ensurepip, sys; assert sys.version_info >= (3, ${minor}); print(sys.version)`
  const found = [`python${wanted}`, ...globSync(join(homedir(), `.pyenv/versions/${wanted}.*/bin/python`))]
    .map((python) => ({ python, ...spawnSync(python, ['-c', check], { encoding: 'utf8' }) }))
    .find(({ status }) => status === 0)
  if (!found)
    return { missing: `there is no Python ${wanted === '3' ? `3.${minor} or later` : wanted} with pip` }
  const version = createHash('sha256')
    .update(readFileSync(requirements))
    .update(found.stdout)
    .digest('hex')
    .slice(0, 16)
  const installed = join(CACHE, version)
  if (existsSync(installed)) return { bin: join(installed, 'bin') }
  // Test files of several processes may install the same packages at the same time.
  const folder = `${installed}-${process.pid}`
  const bin = join(folder, 'bin')
  rmSync(folder, { recursive: true, force: true })
  const steps = [
    [found.python, '-m', 'venv', folder],
    [join(bin, 'pip'), 'install', '--quiet', '--requirement', requirements],
  ]
  for (const [program = '', ...args] of steps) {
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
    if (status !== 0) return { missing: `${args.slice(0, 2).join(' ')} failed: ${stderr?.slice(-500)}` }
  }
  symlinkSync(basename(folder), `${folder}.link`)
  renameSync(`${folder}.link`, installed)
  return { bin }
}
