// Runs before `npm start`, `npm run clinic`, `npm test`, `npm run dev` and the client's `npm run types`: installs the dependencies if
// those installed differ from package-lock.json, for the first two without those of development. Plain JavaScript, because the machine's own Node may be older than the one this installs.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const project = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')

const withoutDevelopment = process.argv.includes('--omit=dev') || /\bstart\.mjs$/.test(process.argv[1])

const packagesOf = (file) => JSON.parse(readFileSync(join(project, file), 'utf8')).packages

/**
 * Whether npm has installed what package-lock.json names. It writes its own list when an installation is complete, but the packages
 * of a workspace are in another folder than this list.
 */
function isInstalled() {
  const list = 'node_modules/.package-lock.json'
  if (!existsSync(join(project, list))) return false
  const installed = packagesOf(list)
  return Object.entries(packagesOf('package-lock.json')).every(([path, wanted]) => {
    const found = installed[path]
    // Optional packages may be for other machines.
    if (!found)
      return (
        path === '' ||
        wanted.optional === true ||
        (withoutDevelopment && (wanted.dev || wanted.devOptional) === true)
      )
    return (
      found.version === wanted.version &&
      found.integrity === wanted.integrity &&
      existsSync(join(project, path))
    )
  })
}

const TICKET = '.installing-'
const MAX_MS = 3_600_000
const own = join(project, `${TICKET}${process.pid}`)

/** Waits until no earlier command installs: `npm ci` deletes what another one has written. A command that was killed has no turn. */
function waitForTurn() {
  writeFileSync(own, '')
  const { mtimeMs } = statSync(own)
  // Commands of the same moment see each other's tickets after a while.
  do Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  while (readdirSync(project).some((name) => name.startsWith(TICKET) && isEarlier(name, mtimeMs)))
}

function isEarlier(ticket, mtimeMs) {
  const pid = Number(ticket.slice(TICKET.length))
  const at = statSync(join(project, ticket), { throwIfNoEntry: false })?.mtimeMs ?? Infinity
  if (at > mtimeMs || (at === mtimeMs && pid >= process.pid) || at < Date.now() - MAX_MS) return false
  try {
    // Signal 0 only asks.
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function install() {
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  // Its output goes to stderr, so that `npm start --silent -- --json` prints one line and no more.
  const { status } = spawnSync(
    npm,
    // Without a network, it fails in seconds.
    [
      'ci',
      ...(withoutDevelopment ? ['--omit=dev'] : []),
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--progress',
      '--fetch-retry-factor=3',
      '--fetch-retry-mintimeout=1000',
    ],
    {
      cwd: project,
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    },
  )
  return status ?? 1
}

if (!isInstalled()) {
  process.stderr.write(
    `Installing dependencies (once, about ${withoutDevelopment ? 'half a minute' : 'a minute'})...\n`,
  )
  waitForTurn()
  const status = isInstalled() ? 0 : install()
  rmSync(own)
  if (status !== 0) {
    process.stderr.write(
      'The dependencies could not be installed. Check the network, and `npm config list` for a proxy or a registry; then repeat the command.\n',
    )
    process.exit(status)
  }
}
