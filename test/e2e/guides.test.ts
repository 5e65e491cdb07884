/** Runs the programs of README.md, docs/ and the guides against a local stack. test/e2e/operator-commands.test.ts runs operator commands. */
import { spawn } from 'node:child_process'
import { createHmac, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createClient } from '../../shared/clients/typescript/client.ts'
import { runProgram } from '../conformance/run-program.ts'
import { clientPackage } from '../support/client-package.ts'
import { type Block, blocksOf, DOCUMENTS, matchesExample } from '../support/documentation.ts'
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
    CREDENTIAL: pair,
    RECEIVER: receiver,
    WEBHOOK_SECRET: 'x'.repeat(16),
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

const runToEnd = (command: string, ...args: string[]) => runProgram(command, args, { environment })

async function run(command: string, ...args: string[]): Promise<string> {
  const { code, printed, errors } = await runToEnd(command, ...args)
  expect(`${code} ${errors}${printed}`).toMatch(/^0 /)
  return printed
}

const RUNNABLE = DOCUMENTS.filter((file) => blocksOf(file).some(({ kind }) => kind === 'program'))

describe.each(RUNNABLE.map((file) => [file] as const))('%s', (file) => {
  const blocks = blocksOf(file)
  const shell = blocks.filter(({ kind, language }) => kind === 'program' && language === 'sh')
  const programs = blocks.filter(({ kind, language }) => kind === 'program' && language === 'ts')

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
      const source = withValues(programs.map(({ text }) => text).join('\n'))
      // Programs beside the code import it.
      writeFileSync(program, source.replaceAll("'../bin/", `'${join(import.meta.dirname, '../..')}/bin/`))
      await run(process.execPath, program)
    })
})

/** Starts an example program as a server, which ends with the test, and waits until it responds. Returns its address. */
async function serveExample(name: string, values: NodeJS.ProcessEnv, ...args: string[]): Promise<string> {
  const program = join(FOLDER, name)
  cpSync(`docs/examples/${name}`, program)
  const port = await freePort()
  const env = { ...environment, ...values, PORT: `${port}` }
  const server = spawn(process.execPath, [program, ...args], { env, stdio: 'ignore' })
  onTestFinished(() => void server.kill())
  const address = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(address).then(
      () => true,
      () => false,
    )
  await expect.poll(isReady, { timeout: 10_000 }).toBe(true)
  return address
}

it('docs/guides/revenue.md prints sums that equal those over the imported files, to the cent', async () => {
  const tool = async (...args: string[]) => {
    const { code, stdout, stderr } = await runClinicTool(stack, '--json', ...args)
    expect([code, code === 0 ? '' : stderr]).toEqual([0, ''])
    return JSON.parse(stdout).data
  }
  const timezone = 'Asia/Kathmandu'
  const clinic = [
    '--clinic',
    (await tool('clinic', 'create', '--name', 'Revenue', '--timezone', timezone, '--currency', 'EUR')).id,
  ]
  const [year = 0, month = 0] = new Date()
    .toLocaleDateString('sv-SE', { timeZone: timezone })
    .split('-')
    .map(Number)
  const dayOf = (months: number, day: number) =>
    new Date(Date.UTC(year, month - 1 + months, day)).toISOString().slice(0, 10)
  /** The last day before, the first and last of, and the first after last month, and one in it. */
  const days = [dayOf(-1, 0), dayOf(-1, 1), dayOf(-1, 15), dayOf(0, 0), dayOf(0, 1)]
  const isLastMonth = (date: string) => dayOf(-1, 1) <= date && date <= dayOf(0, 0)
  const pick = <Value>(values: readonly Value[], at: number) => values[at % values.length] as Value

  const expected = new Map<string, number>()
  const count = (sum: string, name: string, currency: string, minor: number) => {
    const key = [sum, name, currency].join()
    expected.set(key, (expected.get(key) ?? 0) + minor)
  }
  const names = ['Dr. Bo Lind', 'Dr. Eva Noll', undefined]
  const treatments = ['Check-up', 'Filling', undefined]
  const statuses = ['sent', 'sent', 'overdue', 'draft', 'sent', 'cancelled', 'sent']
  const text = (minor: number, currency: string) =>
    currency === 'JPY' ? `${minor}` : (minor / 100).toFixed(2)
  const invoices: object[] = []
  const payments: object[] = []
  for (let at = 0; at < 120; at++) {
    const currency = pick(['EUR', 'EUR', 'JPY'], at)
    const [date, status, doctor] = [pick(days, at), pick(statuses, at), pick(names, Math.floor(at / 4))]
    const isBilled = isLastMonth(date) && status !== 'draft' && status !== 'cancelled'
    const lines = Array.from({ length: at % 4 }, (_, line) => ({
      // Some are so large that a number holds them to three decimals only.
      minor: 1 + ((at * 7919 + line * 104_729) % 99_991) + pick([0, 0, 7_600_000_000_000], at),
      doctor: pick([undefined, ...names], at + line),
      treatment: pick(treatments, Math.floor(at / 3) + line),
    }))
    const sum = lines.reduce((all, { minor }) => all + minor, 0)
    const discount = at % 5 === 0 && sum > 10 ? 7 : 0
    const total = lines.length === 0 ? 1234 : sum - discount
    if (isBilled) {
      for (const line of lines) {
        count('billed by doctor', line.doctor ?? doctor ?? 'unknown', currency, line.minor)
        count('billed by treatment', line.treatment ?? 'unknown', currency, line.minor)
      }
      for (const of of ['doctor', 'treatment']) count(`billed by ${of}`, 'unassigned', currency, total - sum)
    }
    invoices.push({
      ...{ external_id: at, patient_external_id: 'P', invoice_number: `N${at}`, issue_date: date },
      ...{ currency, status, doctor_external_id: doctor, discount_amount: text(discount, currency) },
      ...(lines.length === 0 && { subtotal: text(total, currency) }),
      line_items: lines.map(({ minor, ...line }) => ({
        ...{ description: 'Line', unit_price: text(minor, currency) },
        ...{ doctor_external_id: line.doctor, treatment_external_id: line.treatment },
      })),
    })
    for (const [type, share] of [
      ['payment', 1],
      ['payment', 2],
      ['refund', 3],
    ] as const) {
      const minor = Math.floor(total / (share + 1))
      const [payment_date, paid] = [pick(days, at + share), pick(['completed', 'completed', 'failed'], at)]
      if (minor === 0) continue
      if (isLastMonth(payment_date) && paid === 'completed')
        count('received by doctor', doctor ?? 'unknown', currency, type === 'refund' ? -minor : minor)
      payments.push({
        ...{ external_id: `${at} ${share}`, invoice_external_id: at, amount: text(minor, currency), type },
        ...{ payment_method: 'card', payment_date, status: paid },
      })
    }
  }
  const files = {
    doctors: names.flatMap((name) => (name ? [{ external_id: name, full_name: name }] : [])),
    treatments: treatments.flatMap((name) =>
      name ? [{ external_id: name, name, duration_minutes: 30, price: 1 }] : [],
    ),
    patients: [{ external_id: 'P', first_name: 'Ada', last_name: 'Revenue' }],
    invoices,
    payments,
  }
  const paths = Object.entries(files).map(([name, rows]) => {
    const path = join(FOLDER, `${name}.ndjson`)
    writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'))
    return path
  })
  expect(await tool('import', ...clinic, '--yes', ...paths)).toMatchObject({ rejected: 0 })
  const credential = ['--name', 'Revenue', '--scopes', 'finance.read']
  const { key, secret } = await tool('credential', 'create', ...clinic, ...credential)

  const program = join(FOLDER, 'revenue.ts')
  const [{ text: code } = { text: '' }] = blocksOf('docs/guides/revenue.md').filter(
    ({ language }) => language === 'ts',
  )
  writeFileSync(program, code)
  const { CREDENTIAL } = environment
  environment.CREDENTIAL = `${key}:${secret}`
  const printed = await run(process.execPath, program).finally(() =>
    Object.assign(environment, { CREDENTIAL }),
  )
  const sums = printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const minor = (amount: number, currency: string) => Math.round(amount * (currency === 'JPY' ? 1 : 100))
  expect(
    Object.fromEntries(
      sums.map(({ sum, name, currency, amount }) => [[sum, name, currency].join(), minor(amount, currency)]),
    ),
  ).toEqual(Object.fromEntries(expected))
  expect(new Set(sums.map(({ sum, id, currency }) => [sum, id, currency].join())).size).toBe(sums.length)
  for (const { id, amount, currency } of sums) {
    expect(id).toMatch(/^([0-9a-f-]{36}|unknown|unassigned)$/)
    expect(amount).toBe(Number(text(minor(amount, currency), currency)))
  }
})

it('docs/examples/booking-site.ts holds, charges and books once, offers other times, books a time that is free again, moves and cancels', async () => {
  const clinic = createClient({ baseUrl: stack.api, credential: environment.CREDENTIAL ?? '' })
  const { data: treatments } = await clinic.treatments.list({ is_active: true })
  const treatment = treatments.find(({ doctor_ids }) => doctor_ids.length > 0)
  const values = { TREATMENT: treatment?.id, LINK_SECRET: 'x'.repeat(32) }
  const site = await serveExample('booking-site.ts', values)
  const request = async (path: string, fields?: Record<string, string>) => {
    const form = fields && { method: 'POST', body: new URLSearchParams(fields) }
    const response = await fetch(`${site}${path}`, form)
    return { status: response.status, body: (await response.json()) as any }
  }
  const { body: times } = await request('/slots')
  expect(new Set(times.map(({ date }: { date: string }) => date)).size).toBeGreaterThan(1)
  const [time, later] = [times[0], times.at(-1)]

  const visitor = { first_name: 'Ada', last_name: 'Site', phone_number: '+12015550177' }
  const { hold, signature: signed } = (await request('/hold', time)).body
  const form = { booking: randomUUID(), ...visitor, ...time, hold, signature: signed, payment: 'card-1' }
  const booked = await request('/book', form)
  expect(booked).toMatchObject({ status: 200, body: { date: time.date, start_time: time.start_time } })
  expect(await request('/book', form)).toEqual(booked)
  const { data: found } = await clinic.patients.list({ search: visitor.phone_number })
  expect(found.length).toBe(1)

  const invoices = await clinic.invoices.list({ patient_id: found[0]?.id ?? '' })
  expect(invoices.data.map(({ status }) => status)).toEqual(['paid'])

  const second = { ...form, booking: randomUUID(), first_name: 'Grace' }
  const taken = await request('/hold', time)
  expect(taken).toMatchObject({
    status: 409,
    body: { alternatives: [{ start_time: expect.any(String) }, {}, {}] },
  })
  const [{ appointment_date: date, start_time }] = taken.body.alternatives
  const alternative = { ...time, date, start_time }
  const left = (await request('/hold', alternative)).body
  expect(await request('/hold', alternative)).toMatchObject({ status: 409 })
  expect(await request('/release', left)).toMatchObject({ status: 200 })
  // The hold is over: the time is booked without it.
  const other = { ...second, date, start_time }
  const [once, twice] = await Promise.all([request('/book', other), request('/book', other)])
  expect(once).toMatchObject({ status: 200, body: { start_time } })
  expect(twice).toEqual(once)
  const third = { ...form, booking: randomUUID(), first_name: 'Mary' }
  expect(await request('/book', third)).toMatchObject({ status: 409 })
  expect(await request('/book', { ...form, phone_number: '12' })).toMatchObject({ status: 422 })

  const { id, signature } = booked.body
  expect(await request('/cancel', { id, signature: 'x' })).toMatchObject({ status: 422 })
  expect(await request('/move', { id, signature, ...later })).toMatchObject({ status: 200 })
  expect((await clinic.appointments.get(id)).data).toMatchObject({
    appointment_date: later.date,
    start_time: later.start_time,
  })
  expect(await request('/book', third)).toMatchObject({ status: 200, body: { start_time: time.start_time } })
  expect(await request('/cancel', { id, signature })).toEqual({ status: 200, body: { status: 'cancelled' } })
  expect((await request('/book', form)).body).toMatchObject({ id, status: 'cancelled' })
})

it('docs/examples/nightly-export.ts copies a change after its event, and rejects a forged delivery', async () => {
  const clinic = createClient({ baseUrl: stack.api, credential: environment.CREDENTIAL ?? '' })
  const SECRET = randomUUID()
  const COPY = join(FOLDER, 'export.db')
  const address = await serveExample('nightly-export.ts', { SECRET, COPY }, 'serve')
  expect((await fetch(address, { method: 'POST', body: '{}' })).status).toBe(400)
  const { data: patient } = await clinic.patients.create({ first_name: 'Ada', last_name: 'Export' })
  const body = JSON.stringify({ event: 'patient.created', data: { id: patient.id } })
  const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': `${Math.floor(Date.now() / 1000)}` }
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const signature = `v1,${createHmac('sha256', SECRET).update(signed).digest('base64')}`
  const delivery = { method: 'POST', body, headers: { ...headers, 'webhook-signature': signature } }
  expect((await fetch(address, delivery)).status).toBe(204)
  const isCopied = () => {
    using database = new DatabaseSync(COPY, { readOnly: true })
    return database.prepare('SELECT id FROM records WHERE id = ?').get(patient.id) !== undefined
  }
  await expect.poll(isCopied, { timeout: 90_000, interval: 1000 }).toBe(true)
})

it('docs/examples/day-before-reminder.ts reminds once, continues after failures, and confirms by its link until the appointment is moved', async () => {
  const clinic = createClient({ baseUrl: stack.api, credential: environment.CREDENTIAL ?? '' })
  const program = join(FOLDER, 'day-before-reminder.ts')
  const values = { LINK_SECRET: 'x'.repeat(32) }
  const site = await serveExample('day-before-reminder.ts', values, 'serve')
  Object.assign(environment, { ...values, SITE: site })

  const { timezone } = (await clinic.clinic()).data
  const tomorrow = new Date(Date.now() + 86_400_000).toLocaleDateString('sv-SE', { timeZone: timezone })
  const { data: patient } = await clinic.patients.create({
    first_name: 'Ada',
    last_name: 'Reminder',
    email_address: 'ada@example.com',
  })
  const day = [{ start_time: '08:00', end_time: '17:00' }]
  const { data: doctor } = await clinic.doctors.create({
    full_name: 'Dr. Eva Noll',
    hours: { mon: day, tue: day, wed: day, thu: day, fri: day, sat: day, sun: day },
  })
  const request = {
    patient_id: patient.id,
    doctor_id: doctor.id,
    appointment_date: tomorrow,
  }
  const { data: moved } = await clinic.appointments.book({ ...request, start_time: '11:00' })
  const { data: kept } = await clinic.appointments.book({ ...request, start_time: '10:00' })
  const { data: third } = await clinic.appointments.book({ ...request, start_time: '09:00' })
  const bookFor = async (phone_number: string, start_time: string) => {
    const person = { first_name: 'Ada', last_name: 'Reminder', phone_number }
    const { data } = await clinic.patients.create(person)
    return (await clinic.appointments.book({ ...request, patient_id: data.id, start_time })).data
  }
  const sent = await bookFor('+12015550100', '08:30')
  const rejected = await bookFor('+12015550101', '08:00')
  const send = async (...limits: string[]) => {
    const id = stack.clinics[0]?.id ?? ''
    await runClinicTool(stack, 'clinic', 'update', '--clinic', id, ...limits)
    const { code, errors } = await runToEnd(process.execPath, program, 'send')
    return { code, failures: errors.trim().split('\n') }
  }

  await clinic.messages.send({
    channel: 'sms',
    patient_id: rejected.patient.id,
    message: 'Reaches the limit.',
  })
  const first = await send('--messages-per-recipient', '2', '--sms-per-day', '1')
  expect(first.code).toBe(1)
  expect(first.failures).toContain(`${third.id}: 429 recipient_message_limit`)
  expect(first.failures).toContain(`${sent.id}: 429 daily_message_limit`)
  const second = await send('--sms-per-day', '1000')
  expect(second).toEqual({
    code: 1,
    failures: [`${third.id}: 429 recipient_message_limit`, `${rejected.id}: failed`],
  })
  expect((await clinic.messages.list({ patient_id: sent.patient.id })).data.length).toBe(1)
  const messages = (await clinic.messages.list({ patient_id: patient.id })).data
  expect(messages.length).toBe(2)
  const linkOf = (id: string) =>
    messages
      .flatMap(({ message }) => message.match(/http\S+/)?.[0] ?? [])
      .find((link) => link.includes(id)) ?? ''
  await clinic.appointments.update(moved.id, { start_time: '13:00' })

  expect((await fetch(linkOf(kept.id))).status).toBe(200)
  expect((await clinic.appointments.get(kept.id)).data.confirmed_at).toBeNull()
  const post = async (link: string) => (await fetch(link, { method: 'POST' })).status
  expect(await post(linkOf(kept.id).replace(kept.id, moved.id))).toBe(404)
  expect(await post(linkOf(moved.id))).toBe(409)
  expect(await post(linkOf(kept.id))).toBe(200)
  expect((await clinic.appointments.get(kept.id)).data.confirmed_at).not.toBeNull()
})

/** The example response that follows a shell block, if there is one. */
function responseTo(block: Block, blocks: readonly Block[]): unknown {
  const next = blocks[blocks.indexOf(block) + 1]
  return next?.kind === 'response' ? JSON.parse(next.text) : undefined
}
