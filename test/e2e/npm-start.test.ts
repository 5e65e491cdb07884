/** `npm start` as a process: starting, stopping, and keeping data across restarts. */
import { type ChildProcess, type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { DeleteTableCommand, DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { expect, inject, it, onTestFinished } from 'vitest'
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
  await expect.poll(() => errors).toContain('ResourceNotFoundException')
  await end(child, 'SIGTERM')
  await expect.poll(() => answers(ready.base_url)).toBe(false)
  await expect.poll(() => answers(endpoints.dynamodb)).toBe(false)
})

it('prints a curl command that works as pasted, and keeps data and credentials across restarts with --data', async () => {
  const data = join(folder, 'data')
  const first = npm('--data', data)
  const { all, ready } = await lines(first)
  const curl = all.find((line) => line.trim().startsWith('curl ')) ?? ''
  const documented = curl
    .replace(/ck_[\w-]+:[\w-]+/, 'ck_...:cs_...')
    .replace(/127\.0\.0\.1:\d+/, '127.0.0.1:3000')
  expect(readFileSync('README.md', 'utf8')).toContain(`\n${documented.trim()}\n`)
  const patients = JSON.parse(
    execFileSync('sh', ['-c', curl], { stdio: ['ignore', 'pipe', 'ignore'] }).toString(),
  )
  expect(patients).toMatchObject({ data: [{}, {}], meta: { total: 500 } })
  expect(ready.clinics.map(({ name, timezone }: Record<string, string>) => [name, timezone])).toEqual([
    ['Bosphorus Family Clinic', 'Europe/Istanbul'],
    ['Patan Dental Care', 'Asia/Kathmandu'],
  ])
  await end(first, 'SIGINT')

  const second = npm('--json', '--data', data)
  const { ready: again } = await lines(second)
  expect(again.clinics).toEqual(ready.clinics)
  const url = `${again.base_url}/api/developer/v1/patients/${patients.data[0].id}`
  const response = await fetch(url, {
    headers: { authorization: `Developer ${ready.clinics[0].credentials.full}` },
  })
  expect(await response.json()).toEqual({ data: expect.objectContaining(patients.data[0]) })
  await end(second, 'SIGTERM')
})

it.each(['127.0.0.1', '127.0.0.1:0', 'http://127.0.0.1:4400', '127.1:4400'])(
  'rejects a webhook host that is not a host and port: %s',
  async (host) => {
    const child = spawn(process.execPath, ['bin/local.ts', '--allow-webhook-host', host], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.on('data', (text) => {
      said += text
    })
    expect(await once(child, 'close')).toEqual([1, null])
    expect(said).toContain('must be a host and port, such as 127.0.0.1:4400')
  },
)
