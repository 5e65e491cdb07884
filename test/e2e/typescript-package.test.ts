/** The TypeScript client as integrators install it, on the Node and with the compilers that they use. */
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { clientPackage } from '../support/client-package.ts'

const execute = promisify(execFile)
const TOOLS = resolve('test/e2e/packages/node20')
const NODE_20 = join(TOOLS, 'node_modules/.bin/node')

/** Why Node 20 and the compiler cannot be installed here; undefined if they are. */
const missing = ((): string | undefined => {
  try {
    if (!existsSync(NODE_20))
      execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
        cwd: TOOLS,
        stdio: 'pipe',
      })
  } catch (error) {
    return String((error as { stderr?: unknown }).stderr ?? error).slice(0, 500)
  }
})()
if (missing !== undefined) process.stderr.write(`Node 20 and tsc 5.9 cannot be installed: ${missing}\n`)

/** A project outside the repository that has installed the client. */
let project: string
const server = createServer((request, response) => {
  const isKnown =
    request.url === '/api/developer/v1/patients/p1' && request.headers.authorization === 'Developer ck_1:cs_1'
  response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json', etag: '"1"' })
  response.end(
    JSON.stringify(
      isKnown
        ? { data: { id: 'p1' } }
        : { error: 'NOT_FOUND', message: 'errors.developer_api.patient_not_found' },
    ),
  )
}).listen(0, '127.0.0.1')

beforeAll(async () => {
  project = mkdtempSync(join(inject('runFolder'), 'consumer-'))
  mkdirSync(join(project, 'node_modules'))
  cpSync(await clientPackage(), join(project, 'node_modules/clinic-developer-client'), { recursive: true })
  writeFileSync(join(project, 'package.json'), '{ "private": true }')
}, 120_000)
afterAll(() => void server.close())

it('contains the build, the README and the licence, and no dependencies', () => {
  const folder = join(project, 'node_modules/clinic-developer-client')
  const files = globSync('**/*.*', { cwd: folder }).sort()
  expect(files.filter((file) => !file.endsWith('.d.cts'))).toEqual([
    'README.md',
    'dist/client.cjs',
    'dist/client.d.mts',
    'dist/client.mjs',
    'package.json',
  ])
  expect(existsSync(join(folder, 'LICENSE'))).toBe(true)
  const {
    dependencies,
    private: isPrivate,
    engines,
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  expect([dependencies, isPrivate, engines]).toEqual([undefined, undefined, { node: '>=20' }])
  for (const file of ['client.mjs', 'client.cjs']) {
    const code = readFileSync(join(folder, 'dist', file))
    const sizes = [code.length, gzipSync(code, { level: 9 }).length]
    process.stdout.write(`dist/${file}: ${sizes[0]} bytes, ${sizes[1]} compressed\n`)
    expect(sizes[0]).toBeLessThanOrEqual(28_000)
    expect(sizes[1]).toBeLessThanOrEqual(8_500)
  }
})

const USE = `
const run = async ({ createClient, NotFoundError, verifyWebhook }) => {
  const clinic = createClient({ baseUrl: process.argv[2], credential: 'ck_1:cs_1' })
  const { body, etag } = await clinic.patients.get('p1').withResponse()
  const missing = await clinic.patients.get('p2').catch((error) => error)
  const forged = await verifyWebhook({ headers: {}, body: '', secret: 'secret' }).catch((error) => error)
  console.log(body.data.id, etag, missing instanceof NotFoundError, missing.message, forged.name)
}
`

describe.each([
  ['20', NODE_20],
  ['24', process.execPath],
])('on Node %s', (version, node) => {
  it.skipIf(version === '20' && missing).each([
    ['import', 'use.mjs', `import * as client from 'clinic-developer-client'\n${USE}\nawait run(client)`],
    ['require', 'use.cjs', `${USE}\nrun(require('clinic-developer-client'))`],
  ])('works with %s', async (_how, file, program) => {
    writeFileSync(join(project, file), program)
    const { port } = server.address() as AddressInfo
    const { stdout } = await execute(node, [file, `http://127.0.0.1:${port}`], { cwd: project })
    expect(stdout).toBe('p1 "1" true patient not found (404) WebhookVerificationError\n')
    expect((await execute(node, ['--version'])).stdout).toContain(`v${version}.`)
  })
})

const BOTH = `
import { createRequire } from 'node:module'
import * as imported from 'clinic-developer-client'
const required = createRequire(import.meta.url)('clinic-developer-client')
const names = Object.keys(required)
console.log(Object.keys(imported).sort().join() === names.sort().join(), names.length > 15)
console.log(names.every((name) => imported[name] === required[name]))
`

it('is one copy, whether it is imported or required', async () => {
  writeFileSync(join(project, 'both.mjs'), BOTH)
  const { stdout } = await execute(process.execPath, ['both.mjs'], { cwd: project })
  expect(stdout).toBe('true true\ntrue\n')
})

it.each([
  ['an error of the API', 'patient not found (404)', `http://127.0.0.1`],
  ['a wrong option', 'baseUrl must be', 'none'],
])('shows the message of %s that is not caught, after little code', async (_, message, address) => {
  const { port } = server.address() as AddressInfo
  const options = { baseUrl: address === 'none' ? address : `${address}:${port}`, credential: 'ck_1:cs_1' }
  const program = `import { createClient } from 'clinic-developer-client'
await createClient(${JSON.stringify(options)}).patients.get('p2')`
  writeFileSync(join(project, 'uncaught.mjs'), program)
  const { stderr } = await execute(process.execPath, ['uncaught.mjs'], { cwd: project }).catch(
    (error) => error,
  )
  expect(stderr).toContain(message)
  expect(stderr.indexOf(message)).toBeLessThan(400)
})

/** What the compiler must find in a wrong program. */
const WRONG = `
import { createClient } from 'clinic-developer-client'
const clinic = createClient({ baseUrl: '', credential: '' })
// @ts-expect-error a field is misspelt
await clinic.patients.create({ first_name: 'Ada', lastname: 'Kaya' })
// @ts-expect-error no cursor list has a total
console.log((await clinic.events.list()).meta.total)
// @ts-expect-error the patient is not expanded
for await (const { patient } of clinic.appointments.all()) console.log(patient.phone_number)
`

describe.skipIf(missing)('compiles with tsc 5.9', () => {
  beforeAll(async () => {
    const readme = readFileSync('shared/clients/typescript/README.md', 'utf8')
    const samples = [...readme.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code)
    expect(samples.length).toBeGreaterThan(5)
    writeFileSync(join(project, 'readme.mts'), samples.join('\n'))
    writeFileSync(join(project, 'wrong.mts'), WRONG)
    writeFileSync(
      join(project, 'required.cts'),
      "import client = require('clinic-developer-client')\nexport = client.createClient({ baseUrl: '', credential: '', reads: false })\n",
    )
    await execute(NODE_20, [join(TOOLS, 'node_modules/typescript/bin/tsc'), '--init'], { cwd: project })
  })

  it.each([
    ['nodenext', ['--module', 'nodenext']],
    ['node16', ['--module', 'node16']],
    ['bundler', ['--module', 'preserve', '--moduleResolution', 'bundler']],
  ])(
    'as %s, with what tsc --init writes, the samples of the README and the declarations themselves',
    async (_name, options) => {
      const compiler = join(TOOLS, 'node_modules/typescript/bin/tsc')
      const all = [compiler, '--project', '.', '--noEmit', '--skipLibCheck', 'false', ...options]
      const { stdout } = await execute(NODE_20, all, { cwd: project }).catch((error) => error)
      expect(stdout).toBe('')
    },
  )
})
