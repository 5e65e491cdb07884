/** Runs the code blocks of README.md, docs/ and the guides against a local stack. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../shared/clients/typescript/client.ts'
import { clientPackage } from '../support/client-package.ts'
import {
  type Block,
  blocksOf,
  DOCUMENTS,
  matchesExample,
  operatorCommands,
} from '../support/documentation.ts'
import { type RunningStack, runClinicTool, runStack } from '../support/local-stack.ts'

const FOLDER = join('.local', `guides-${process.pid}`)

/** Separates the outputs of the shell blocks of a document. */
const SEPARATOR = '--- next block ---'

let stack: RunningStack
let environment: NodeJS.ProcessEnv
let placeholders: [placeholder: string, value: string][]

beforeAll(async () => {
  const receiver = `127.0.0.1:${await freePort()}`
  stack = await runStack({ allowedWebhookHost: receiver })
  const pair = stack.clinics[0]?.credentials.full ?? ''
  const [key = '', secret = ''] = pair.split(':')
  placeholders = [
    ['http://127.0.0.1:3000', stack.baseUrl],
    ['ck_...', key],
    ['cs_...', secret],
  ]
  environment = {
    ...process.env,
    API: stack.api,
    PAIR: pair,
    RECEIVER: receiver,
    COPY: join(FOLDER, 'copy.db'),
  }
  cpSync(await clientPackage(), join(FOLDER, 'node_modules/clinic-developer-client'), { recursive: true })
}, 300_000)
afterAll(async () => {
  rmSync(FOLDER, { recursive: true, force: true })
  await stack?.close()
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

const withValues = (text: string): string =>
  placeholders.reduce((result, [placeholder, value]) => result.replaceAll(placeholder, value), text)

async function run(command: string, ...args: string[]): Promise<string> {
  const child = spawn(command, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  expect(`${code} ${stderr}${stdout}`).toMatch(/^0 /)
  return stdout
}

const RUNNABLE = DOCUMENTS.filter((file) =>
  blocksOf(file).some(({ kind }) => kind === 'program' || kind === 'operator'),
)

describe.each(RUNNABLE.map((file) => [file] as const))('%s', (file) => {
  const blocks = blocksOf(file)
  const shell = blocks.filter(({ kind, language }) => kind === 'program' && language === 'sh')
  const programs = blocks.filter(({ kind, language }) => kind === 'program' && language === 'ts')
  const operator = blocks.filter(({ kind }) => kind === 'operator')

  if (shell.length > 0)
    it('its shell commands succeed, and print the responses that follow them', async () => {
      const script = shell.map(({ text }) => withValues(text)).join(`\necho; echo '${SEPARATOR}'\n`)
      const outputs = (await run('bash', '-euo', 'pipefail', '-c', script)).split(SEPARATOR)
      for (const [at, block] of shell.entries()) {
        const response = responseTo(block, blocks)
        if (response === undefined) continue
        const printed = JSON.parse(outputs[at] ?? '')
        expect([file, response, printed, matchesExample(response, printed)]).toEqual([
          file,
          response,
          printed,
          true,
        ])
      }
    })

  if (programs.length > 0)
    it('its program succeeds', async () => {
      const program = join(FOLDER, `${file.replaceAll('/', '-')}.ts`)
      writeFileSync(program, withValues(programs.map(({ text }) => text).join('\n')))
      await run(process.execPath, program)
    })

  if (operator.length > 0)
    it('its operator commands exist, with the options that they use', async () => {
      for (const { words, options } of operator.flatMap(operatorCommands)) {
        const { code, stdout } = await runClinicTool(stack, ...words, '--help')
        expect([words, code, stdout]).toEqual([
          words,
          0,
          expect.stringContaining(words.slice(0, 2).join(' ')),
        ])
        for (const option of options)
          expect([words, stdout]).toEqual([words, expect.stringContaining(option)])
      }
    })
})

it('docs/examples/day-before-reminder.ts reminds once, and confirms by its link until the appointment is moved', async () => {
  const clinic = createClient({ baseUrl: stack.api, credential: environment.PAIR ?? '' })
  const program = join(FOLDER, 'day-before-reminder.ts')
  cpSync('docs/examples/day-before-reminder.ts', program)
  const port = await freePort()
  Object.assign(environment, {
    SITE: `http://127.0.0.1:${port}`,
    PORT: `${port}`,
    LINK_SECRET: 'x'.repeat(32),
  })

  const { timezone } = (await clinic.clinic()).data
  const tomorrow = new Date(Date.now() + 86_400_000).toLocaleDateString('sv-SE', { timeZone: timezone })
  const { data: patient } = await clinic.patients.create({
    first_name: 'Ada',
    last_name: 'Reminder',
    email_address: 'ada@example.com',
  })
  const { stdout } = await runClinicTool(
    stack,
    ...['--json', 'doctor', 'create', '--clinic', stack.clinics[0]?.id ?? '', '--name', 'Dr. Eva Noll'],
    ...['--hours', 'mon-sun 09:00-17:00'],
  )
  const request = {
    patient_id: patient.id,
    doctor_id: JSON.parse(stdout).data.id,
    appointment_date: tomorrow,
  }
  const { data: kept } = await clinic.appointments.book({ ...request, start_time: '09:00' })
  const { data: moved } = await clinic.appointments.book({ ...request, start_time: '11:00' })

  await run(process.execPath, program, 'send')
  await run(process.execPath, program, 'send')
  const messages = (await clinic.messages.list({ patient_id: patient.id })).data
  expect(messages.length).toBe(2)
  const linkOf = (id: string) =>
    messages
      .flatMap(({ message }) => message.match(/http\S+/)?.[0] ?? [])
      .find((link) => link.includes(id)) ?? ''
  await clinic.appointments.update(moved.id, { start_time: '13:00' })

  const server = spawn(process.execPath, [program, 'serve'], { env: environment, stdio: 'ignore' })
  try {
    await expect
      .poll(
        () =>
          fetch(linkOf(kept.id)).then(
            ({ status }) => status,
            () => 0,
          ),
        { timeout: 10_000 },
      )
      .toBe(200)
    expect((await clinic.appointments.get(kept.id)).data.confirmed_at).toBeNull()
    const post = async (link: string) => (await fetch(link, { method: 'POST' })).status
    expect(await post(linkOf(kept.id).replace(kept.id, moved.id))).toBe(404)
    expect(await post(linkOf(moved.id))).toBe(409)
    expect(await post(linkOf(kept.id))).toBe(200)
    expect((await clinic.appointments.get(kept.id)).data.confirmed_at).not.toBeNull()
  } finally {
    server.kill()
  }
})

/** The example response that follows a shell block, if there is one. */
function responseTo(block: Block, blocks: readonly Block[]): unknown {
  const next = blocks[blocks.indexOf(block) + 1]
  return next?.kind === 'response' ? JSON.parse(next.text) : undefined
}
