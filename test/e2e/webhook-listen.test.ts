/** `npm run clinic -- webhook listen`, as a process: what it prints, what it returns, and how it ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { Webhook } from 'standardwebhooks'
import { expect, it, onTestFinished } from 'vitest'
import { runProgram } from '../conformance/run-program.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const BODY = JSON.stringify({
  id: 'evt_1',
  event: 'patient.created',
  clinic_id: 'c',
  data: { patient_id: 'p' },
})

function clinic(...args: string[]): ChildProcess {
  const child = spawn(process.execPath, ['bin/clinic.ts', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Starts the receiver on a free port and collects the lines that it prints. */
async function listening(globals: string[], ...options: string[]) {
  const child = clinic(...globals, 'webhook', 'listen', '--listen', '0', ...options)
  const lines: string[] = []
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => lines.push(line))
  await expect.poll(() => lines.join('\n'), { timeout: 10_000 }).toMatch(/http:\/\/127\.0\.0\.1:\d+\//)
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\//.exec(lines.join('\n')) ?? []
  return { child, lines, url }
}

async function deliver(url: string, id: string, secret: string | null, body = BODY): Promise<number> {
  const at = new Date()
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    ...(secret && { 'webhook-signature': new Webhook(secret).sign(id, at, body) }),
  }
  return (await fetch(url, { method: 'POST', headers, body })).status
}

it('prints how to subscribe, and each delivery', async () => {
  const { child, lines, url } = await listening(['--port', '3100'])
  await expect.poll(() => lines.at(-1)).toBe('')
  const text = lines.join('\n')
  expect(text).toContain(`clinic webhook create --url ${url} --events patient.created,`)
  expect(text).toContain('Signatures are not verified')

  lines.length = 0
  expect(await deliver(url, 'evt_1', null)).toBe(204)
  expect(await deliver(url, 'evt_1', null)).toBe(204)
  expect(await deliver(url, 'evt_2', null, 'no JSON')).toBe(204)
  await expect.poll(() => lines.length).toBe(3)
  const received = { event: 'patient.created', id: 'evt_1', verified: null, answer: 204 }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { ...received, attempt: 1, body: JSON.parse(BODY) },
    { ...received, attempt: 2 },
    { ...received, event: null, id: 'evt_2', attempt: 1, body: 'no JSON' },
  ])
  expect((await fetch(url)).status).toBe(405)

  child.kill('SIGINT')
  expect(await once(child, 'exit')).toEqual([0, null])
  await expect(fetch(url)).rejects.toThrow()
})

it('verifies signatures, and returns 400 when verification fails', async () => {
  const { child, lines, url } = await listening(['--json'], '--secret', SECRET)
  expect(await deliver(url, 'evt_1', SECRET)).toBe(204)
  expect(await deliver(url, 'evt_2', null)).toBe(400)
  expect(await deliver(url, 'evt_3', `whsec_${Buffer.alloc(32).toString('base64')}`)).toBe(400)
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([0, null])
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { listening: url },
    {
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      event: 'patient.created',
      id: 'evt_1',
      attempt: 1,
      verified: true,
      answer: 204,
      body: JSON.parse(BODY),
    },
    expect.objectContaining({ verified: false, problem: 'The signature is missing', answer: 400 }),
    expect.objectContaining({ verified: false, problem: expect.stringContaining('secret'), answer: 400 }),
  ])
})

/** The error of a receiver that cannot start. */
async function rejected(...options: string[]): Promise<string> {
  const args = ['bin/clinic.ts', 'webhook', 'listen', ...options]
  const { code, errors } = await runProgram(process.execPath, args, { timeoutMs: 20_000 })
  expect(code).toBe(2)
  return errors
}

it.each([
  [['--listen', 'x'], /--listen must be a whole number from 0 to 65535/],
  [['--secret', 'whsec_???????????'], /--secret must be valid, padded base64 after whsec_/],
])('exits with code 2 for %j', async (args, message) => {
  expect(await rejected(...args)).toMatch(message)
})

it('exits with code 2 when its port is taken', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  expect(await rejected('--listen', String(port))).toBe(
    `Port ${port} is in use. Choose another with --listen.\n`,
  )
})
