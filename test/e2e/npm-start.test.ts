/** `npm start` as a process: starting, stopping, and keeping data across restarts. */
import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { DeleteTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { expect, inject, it, onTestFinished } from 'vitest'
import type { ReadyClinic } from '../../bin/demo/load.ts'
import { runProgram } from '../conformance/run-program.ts'
import { blocksOf, matchesExample } from '../support/documentation.ts'
import { ENGINE_ACCESS } from '../support/engine-access.ts'

const folder = mkdtempSync(join(inject('runFolder'), 'npm-start-test-'))

/** Runs until the end of the test at the latest: a failed test must not leave it behind. */
function npm(...args: string[]): ChildProcessByStdio<null, Readable, Readable> {
  const child = spawn('npm', ['start', '--silent', '--', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  child.stderr.pipe(process.stderr, { end: false })
  onTestFinished(() => {
    try {
      process.kill(-(child.pid ?? 0), 'SIGKILL')
    } catch {
      // The whole group has ended by itself.
    }
  })
  return child
}

async function lines(child: ChildProcess): Promise<{ all: string[]; ready: any }> {
  const all: string[] = []
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    all.push(line)
    if (line.startsWith('{"ready":true,')) return { all, ready: JSON.parse(line) }
  }
  throw new Error(`npm start ended before it was ready:\n${all.join('\n')}`)
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  child.kill(signal)
  await once(child, 'exit')
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  )

it('prints one ready line with --json, and errors of functions on stderr, and stops its engines on SIGTERM', async () => {
  const child = npm('--json', '--no-demo')
  const { all, ready } = await lines(child)
  expect(all.length).toBe(1)
  expect(ready).toEqual({
    ready: true,
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    clinics: [],
    sms_outbox_url: `${ready.base_url}/_local/sms`,
    email_inbox_url: `${ready.base_url}/_local/emails`,
  })
  const { endpoints } = (await (await fetch(`${ready.base_url}/_local`)).json()) as {
    endpoints: { dynamodb: string }
  }
  expect([
    await (await fetch(ready.sms_outbox_url)).json(),
    await (await fetch(ready.email_inbox_url)).json(),
  ]).toEqual([[], []])
  // A function that has lost its table reports the error.
  const engine = new DynamoDBClient({ ...ENGINE_ACCESS, endpoint: endpoints.dynamodb })
  for (const TableName of (await engine.send(new ListTablesCommand())).TableNames ?? [])
    await engine.send(new DeleteTableCommand({ TableName }))
  engine.destroy()
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const credential = { authorization: `Developer ck_a_${'x'.repeat(16)}:cs_${'x'.repeat(43)}` }
  const failed = await fetch(`${ready.base_url}/api/developer/v1/health`, { headers: credential })
  expect(failed.status).toBe(500)
  await expect
    .poll(() => errors)
    .toMatch(/ResourceNotFoundException: .+\n *> .+\n( *at .+\n)* *at .*\/shared\/store\/table\/.+\.ts:\d+/)
  await end(child, 'SIGTERM')
  await expect.poll(() => answers(ready.base_url)).toBe(false)
  await expect.poll(() => answers(endpoints.dynamodb)).toBe(false)
})

/** Reads until the request that books is complete. */
async function printed(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    text += `${line}\n`
    if (line.endsWith("}'")) return text
  }
  throw new Error(`npm start ended before it was ready:\n${text}`)
}

it('prints the request of README.md at the time of --at, which books as README.md shows, and keeps data with --data', async () => {
  const data = join(folder, 'data')
  const first = npm('--data', data, '--at', '2026-12-01T09:00')
  const text = await printed(first)
  const [curl = ''] = /^curl [\s\S]+}'$/m.exec(text) ?? []
  const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(curl) ?? []
  const blocks = blocksOf('README.md').map((block) => block.text)
  expect(blocks).toContain(`${curl.replace(port, '3000')}\n`)
  const booked = JSON.parse(
    execFileSync('sh', ['-c', curl], { stdio: ['ignore', 'pipe', 'ignore'] }).toString(),
  )
  const example = JSON.parse(blocks.find((block) => block.startsWith('{"data"')) ?? '')
  expect([booked, matchesExample(example, booked)]).toEqual([booked, true])
  expect(booked.data.created_at).toMatch(/^2026-12-01T09:0\d:\d\d\+03:00$/)

  const root = await fetch(`http://127.0.0.1:${port}/`)
  expect([root.url, root.status]).toEqual([`http://127.0.0.1:${port}/docs`, 200])
  expect(root.headers.get('date')).toMatch(/^Tue, 01 Dec 2026 06:/)
  const { clinics } = (await (await fetch(`http://127.0.0.1:${port}/_local`)).json()) as {
    clinics: ReadyClinic[]
  }
  expect(clinics.map(({ name, timezone }) => [name, timezone])).toEqual([
    ['Bosphorus Family Clinic', 'Europe/Istanbul'],
    ['Patan Dental Care', 'Asia/Kathmandu'],
  ])
  const credential = (...args: string[]) =>
    execFileSync(
      process.execPath,
      ['bin/clinic.ts', '--port', port, '--json', 'credential', ...args, '--clinic', clinics[1]?.id ?? ''],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    ).toString()
  credential('create', '--name', 'Third', '--scopes', 'patient.read')
  expect(JSON.parse(credential('list')).data).toContainEqual(
    expect.objectContaining({ name: 'Third', created_at: expect.stringMatching(/^2026-12-01T1[12]:/) }),
  )
  await end(first, 'SIGINT')

  const second = npm('--json', '--data', data)
  const { ready: again } = await lines(second)
  expect(again.clinics).toEqual(clinics)
  const headers = { authorization: `Developer ${clinics[0]?.credentials.full}` }
  const kept = await fetch(`${again.base_url}/api/developer/v1/appointments/${booked.data.id}`, { headers })
  expect(await kept.json()).toEqual(booked)
  await end(second, 'SIGTERM')
})

it.each(['2026-02-30T09:00', '0000-02-29T09:00', '2026-12-01', 'tomorrow'])(
  'rejects a time that is not one: %s',
  async (at) => {
    const { code, errors } = await runProgram(process.execPath, ['bin/local.ts', '--at', at])
    expect(code).toBe(1)
    expect(errors).toContain('must be a date and time, such as 2026-12-01T09:00')
  },
)
