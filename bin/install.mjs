// Runs before `npm start`, `npm test` and `npm run clinic`: installs the dependencies if package-lock.json has changed
// since they were installed. Plain JavaScript, because the machine's own Node may be older than the one this installs.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const project = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')
const marker = join(project, 'node_modules', '.installed')
const wanted = createHash('sha256')
  .update(readFileSync(join(project, 'package-lock.json')))
  .digest('hex')

if (!existsSync(marker) || readFileSync(marker, 'utf8') !== wanted) {
  process.stderr.write('Installing dependencies (once)...\n')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  // Its output goes to stderr, so that `npm start --silent -- --json` prints one line and no more.
  const { status } = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: project,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
  writeFileSync(marker, wanted)
}
