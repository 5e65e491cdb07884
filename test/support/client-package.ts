import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { oncePerRun } from './once-per-run.ts'

const execute = promisify(execFile)

/** A client as npm installs it: the folder of the built, packed and unpacked package. */
export async function clientPackage(client: 'mcp' | 'typescript' = 'typescript'): Promise<string> {
  const folder = await oncePerRun(`${client}-package`, async (destination) => {
    const pack = ['pack', '--silent', '--pack-destination', destination]
    const { stdout } = await execute('npm', pack, { cwd: `shared/clients/${client}` })
    const tarball = stdout.trim().split('\n').at(-1) ?? ''
    await execute('tar', ['-xzf', join(destination, tarball), '-C', destination])
  })
  return join(folder, 'package')
}
