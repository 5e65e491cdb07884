/**
 * Runs docs/examples/nightly-export.ts against a clinic that changes all the time, and kills it at random. The
 * functions run in this process, behind a server; the program is a process of its own. The clock of the functions jumps
 * ahead between changes, so that the test need not wait until changes are old enough to be listed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { VISIBILITY_DELAY_MS } from '../../shared/store/table/visibility-delay.ts'
import { changingClinic } from '../support/changing-clinic.ts'
import { clientPackage } from '../support/client-package.ts'
import { issueCredential } from '../support/credentials.ts'
import { call } from '../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../support/functions.ts'
import { rounds } from '../support/scale.ts'
import { freshTable, newClinic, type TestTable } from '../support/table.ts'

const CHANGES = rounds(40, 1000)
const KILLS = rounds(2, 20)
const LISTS = ['patients', 'appointments', 'invoices', 'payments', 'messages', 'doctors']

const machineNow = Date.now
let ahead = 0
const folder = mkdtempSync(join(inject('runFolder'), 'copy-test-'))
const program = join(folder, 'nightly-export.ts')
const copy = join(folder, 'copy.db')
let db: TestTable
let server: Server
let environment: NodeJS.ProcessEnv
let requests = 0

beforeAll(async () => {
  vi.spyOn(Date, 'now').mockImplementation(() => machineNow() + ahead)
  db = await freshTable()
  stubFunctionEnvironment(db.name)
  cpSync('docs/examples/nightly-export.ts', program)
  cpSync(await clientPackage(), join(folder, 'node_modules/clinic-developer-client'), { recursive: true })
  server = createServer(async ({ url = '/', headers }, response) => {
    requests++
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const handler = await handlerOf({ id: `list-${basename(pathname)}` })
    const { authorization = '' } = headers
    const { status, body } = await call(handler, {
      headers: { authorization },
      query: Object.fromEntries(searchParams),
    })
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  vi.restoreAllMocks()
  server.close()
})

/** Starts the program; `ended` is its exit code, null if it was killed. */
function startProgram(): { child: ChildProcess; ended: Promise<number | null> } {
  const child = spawn(process.execPath, [program], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return { child, ended: once(child, 'close').then(([code]) => code as number | null) }
}

/** Runs the program again and again until `isDone`, and kills it at random while there are kills left. */
async function keepCopying(isDone: () => boolean): Promise<number> {
  let kills = 0
  while (!isDone() || kills < KILLS) {
    const before = requests
    const { child, ended } = startProgram()
    if (kills < KILLS) {
      // At random after its first requests, which come late on a busy machine.
      while (requests === before && child.exitCode === null) await sleep(2)
      await sleep(Math.random() * 60)
      child.kill('SIGKILL')
      if ((await ended) === null) kills++
    } else expect(await ended).toBe(0)
  }
  return kills
}

function readCopy(list: string): unknown[] {
  const database = new DatabaseSync(copy)
  try {
    const rows = database.prepare('SELECT json FROM records WHERE list = ? ORDER BY id').all(list)
    return rows.map(({ json }) => JSON.parse(String(json)))
  } finally {
    database.close()
  }
}

/** Records with amounts in minor units of euros. */
const inCents = (records: unknown[]): unknown =>
  JSON.parse(JSON.stringify(records), (name, value) =>
    typeof value === 'number' && /amount$|^(subtotal|unit_price|balance_due)$/.test(name)
      ? Math.round(value * 100)
      : value,
  )

it(
  'its copy equals a clinic that changes all the time, however often it is killed',
  async () => {
    const clinic = await newClinic(db.table)
    const { headers } = await issueCredential(db.table, clinic)
    const { port } = server.address() as AddressInfo
    const pair = headers.Authorization.replace('Developer ', '')
    environment = { ...process.env, API: `http://127.0.0.1:${port}`, CREDENTIAL: pair, COPY: copy }
    const changing = await changingClinic(db.table, clinic, headers, folder)

    let isDone = false
    const copying = keepCopying(() => isDone)
    for (let n = 0; n < CHANGES; n += 4) {
      if (n === Math.floor(CHANGES / 8) * 4) await changing.importFiles(1)
      if (n === Math.floor(CHANGES / 6) * 4) await changing.importFiles(2)
      await Promise.all(Array.from({ length: 4 }, changing.change))
      // Nothing is being committed now: later changes have later times, as if time had passed.
      if (Math.random() < 0.3) ahead += Math.random() * 2 * VISIBILITY_DELAY_MS
    }
    const erased = await changing.erase()
    isDone = true
    expect(await copying).toBe(KILLS)
    ahead += VISIBILITY_DELAY_MS + 2000
    expect(await startProgram().ended).toBe(0)

    for (const list of LISTS) {
      const shown = await changing.everything(list)
      expect(shown.length).toBeGreaterThan(0)
      expect([list, readCopy(list)]).toEqual([list, inCents(shown)])
    }
    expect(readFileSync(copy).includes(erased)).toBe(false)
  },
  rounds(120_000, 1_200_000),
)
