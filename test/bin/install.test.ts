import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { localCommand } from '../../bin/local/options.ts'

let project: string

type Packages = Record<string, { version: string; integrity?: string; optional?: boolean }>

const LOCKED: Packages = {
  '': { version: '1.0.0' },
  'node_modules/zod': { version: '4.0.0', integrity: 'sha512-a' },
  'node_modules/engine-for-another-machine': { version: '1.0.0', integrity: 'sha512-b', optional: true },
}

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'install-'))
  for (const folder of ['bin', 'node_modules', 'path']) mkdirSync(join(project, folder))
  cpSync('bin/install.mjs', join(project, 'bin/install.mjs'))
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify({ packages: LOCKED }))
  // Stands for npm: records that it ran.
  writeFileSync(join(project, 'path/npm'), '#!/bin/sh\necho "$@" > ran\nexit $EXIT_CODE\n', {
    mode: 0o755,
  })
})
afterEach(() => rmSync(project, { recursive: true }))

/** As `npm ci` leaves them. */
function installed(packages: Packages): void {
  for (const path of Object.keys(packages)) mkdirSync(join(project, path), { recursive: true })
  writeFileSync(join(project, 'node_modules/.package-lock.json'), JSON.stringify({ packages }))
}

function install(exitCode = 0, ...args: string[]) {
  const env = { PATH: `${join(project, 'path')}:${process.env.PATH}`, EXIT_CODE: String(exitCode) }
  const { status, stderr } = spawnSync(process.execPath, ['bin/install.mjs', ...args], { cwd: project, env })
  const ran = existsSync(join(project, 'ran'))
  return { status, ran, ...(status !== 0 && { last: String(stderr).split('\n').at(-2) }) }
}

function start(args: string[], variables: Record<string, string> = {}) {
  mkdirSync(join(project, 'bin/local'))
  for (const file of ['start.mjs', 'node-24.mjs', 'local/help.txt'])
    cpSync(`bin/${file}`, join(project, 'bin', file))
  const env = { PATH: join(project, 'path'), ...variables }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/start.mjs', ...args], {
    cwd: project,
    env,
    encoding: 'utf8',
  })
  return [status, stdout, stderr, existsSync(join(project, 'ran'))]
}

it('prints the options with --help, and installs nothing', () => {
  const help = localCommand().configureHelp({ helpWidth: 100 }).helpInformation()
  expect(start(['--help'])).toEqual([0, help, '', false])
})

it('says that -- is missing when npm has taken an option, and installs nothing', () => {
  expect(start(['4000'], { npm_config_port: 'true' })).toEqual([
    ...[1, '', 'npm has taken --port for itself. Write -- before it: npm start -- --port\n', false],
  ])
})

it('installs nothing after npm ci', () => {
  installed({ 'node_modules/zod': { version: '4.0.0', integrity: 'sha512-a' } })
  expect(install()).toEqual({ status: 0, ran: false })
})

it('installs packages of development for npm test, and not for npm start', () => {
  const locked = { ...LOCKED, 'node_modules/vitest': { version: '5.0.0', dev: true } }
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify({ packages: locked }))
  expect(install(0, '--omit=dev')).toEqual({ status: 0, ran: true })
  expect(readFileSync(join(project, 'ran'), 'utf8')).toContain('ci --omit=dev')
  rmSync(join(project, 'ran'))
  installed({ 'node_modules/zod': { version: '4.0.0', integrity: 'sha512-a' } })
  expect(install(0, '--omit=dev')).toEqual({ status: 0, ran: false })
  expect(install()).toEqual({ status: 0, ran: true })
})

it.each<[string, Packages | null]>([
  ['nothing is installed', null],
  ['a package is missing', {}],
  ['a package has another version', { 'node_modules/zod': { version: '3.9.0', integrity: 'sha512-c' } }],
  ['a package has other contents', { 'node_modules/zod': { version: '4.0.0', integrity: 'sha512-c' } }],
])('installs the dependencies when %s', (_, packages) => {
  if (packages) installed(packages)
  expect(install()).toEqual({ status: 0, ran: true })
})

it('installs the dependencies when the folder of a package was deleted, such as one of a workspace', () => {
  const client = { 'client/node_modules/typescript': { version: '5.0.0', integrity: 'sha512-d' } }
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify({ packages: { ...LOCKED, ...client } }))
  installed({ 'node_modules/zod': { version: '4.0.0', integrity: 'sha512-a' }, ...client })
  expect(install()).toEqual({ status: 0, ran: false })
  rmSync(join(project, 'client/node_modules'), { recursive: true })
  expect(install()).toEqual({ status: 0, ran: true })
})

it('installs the dependencies once for two commands at once, also after one that was killed', async () => {
  writeFileSync(
    join(project, 'node_modules/list'),
    JSON.stringify({ packages: { 'node_modules/zod': LOCKED['node_modules/zod'] } }),
  )
  writeFileSync(
    join(project, 'path/npm'),
    '#!/bin/sh\necho ran >> ran\nsleep 1\nmkdir node_modules/zod\nmv node_modules/list node_modules/.package-lock.json\n',
  )
  const { pid } = spawnSync('true')
  writeFileSync(join(project, `.installing-${pid}`), '')
  const env = { PATH: `${join(project, 'path')}:${process.env.PATH}` }
  const commands = [1, 2].map(() => spawn(process.execPath, ['bin/install.mjs'], { cwd: project, env }))
  const codes = await Promise.all(commands.map(async (command) => (await once(command, 'exit'))[0]))
  expect([codes, readFileSync(join(project, 'ran'), 'utf8')]).toEqual([[0, 0], 'ran\n'])
})

it('fails with the exit code of npm, and says what to check', () => {
  const last = expect.stringContaining('could not be installed. Check the network')
  expect(install(7)).toEqual({ status: 7, ran: true, last })
})
