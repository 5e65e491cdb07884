/**
 * The published Python client of the original service (`wioclinic` on PyPI) works with this API. `npm test` sends its
 * requests as they were recorded; `npm run prove` runs the client itself, where Python is available.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { get, type RunningStack, runStack, send } from '../support/local-stack.ts'
import { PROVING } from '../support/scale.ts'
import { pythonTool } from './python-tool.ts'

const FOLDER = join(import.meta.dirname, 'published-client')

/** A request of the client. Words that begin with `$` stand for values, which `keeps` takes from the data of a response. */
type RecordedRequest = {
  readonly call: string
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly keeps: Readonly<Record<string, string>>
}

type Values = Record<string, string>

const requests = JSON.parse(readFileSync(join(FOLDER, 'requests.json'), 'utf8')) as RecordedRequest[]

let stack: RunningStack

beforeAll(async () => {
  stack = await runStack()
})
afterAll(() => stack.close())

/** The values that the client's user knows beforehand. `weeks` keeps the bookings of two runs apart. */
async function firstValues(weeks: number): Promise<Values> {
  const [treatment] = (await get(stack, '/clinic/treatments?limit=1')).body.data
  const [invoice] = (await get(stack, '/invoices?limit=1')).body.data
  const [doctor] = treatment.doctor_ids
  for (let days = 7 * weeks; ; days++) {
    const date = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
    const free = (await get(stack, `/availability?doctor_id=${doctor}&date=${date}&duration=15`)).body.data
    if (free.length >= 10) return { treatment: treatment.id, invoice: invoice.id, doctor, date }
  }
}

/** The key and the secret of a credential with every scope. */
const credential = (): string[] => stack.clinics[0]?.credentials.full?.split(':') ?? []

it('every recorded request succeeds', async () => {
  const [key = '', secret = ''] = credential()
  const values: Values = { ...(await firstValues(4)), key, secret }
  const outcomes = []
  for (const { call, method, target, headers, body, keeps } of requests) {
    const filled = (text: string) =>
      text.replaceAll(/\$(\w+)/g, (_, name) =>
        name === 'new' ? crypto.randomUUID() : (values[name] ?? `missing ${name}`),
      )
    const answer = await send(`${stack.api}${filled(target)}`, {
      method,
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, filled(value)])),
      ...(body !== '' && { body: filled(body) }),
    })
    for (const [name, path] of Object.entries(keeps))
      values[name] = path.split('.').reduce((value, step) => value?.[step], answer.body?.data)
    outcomes.push([call, answer.status < 300 ? 'succeeds' : `${answer.status} ${answer.text}`])
  }
  expect(outcomes).toEqual(requests.map(({ call }) => [call, 'succeeds']))
})

if (PROVING)
  it('every call of the client itself succeeds, and sends the recorded request', async ({ skip }) => {
    const python = pythonTool(join(FOLDER, 'requirements.txt'))
    if (python.missing !== undefined) skip(python.missing)
    const run = async (args: string[], input: object): Promise<string> => {
      const child = spawn(join(python.bin ?? '', 'python'), [join(FOLDER, 'calls.py'), ...args])
      child.stdin.end(JSON.stringify(input))
      const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
      expect(errors).toBe('')
      return printed
    }
    expect(JSON.parse(await run(['record'], {}))).toEqual(requests)
    const [key, secret] = credential()
    const sent = await run([], { base_url: stack.api, key, secret, values: await firstValues(8) })
    const lines = sent.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      requests.map(({ call }) => ({ call, outcome: 'ok' })),
    )
  })
