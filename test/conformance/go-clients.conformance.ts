/** The clients that two generators make of the API document for Go book, pay an amount, and read it back to the cent. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { get, type RunningStack, runStack } from '../support/local-stack.ts'
import { newInvoice } from '../support/route-samples.ts'
import { goTool } from './go-tool.ts'
import { pythonTool } from './python-tool.ts'
import { runProgram } from './run-program.ts'

const DOCUMENT = join(import.meta.dirname, '../../docs/openapi.json')
const PROGRAMS = join(import.meta.dirname, 'go-clients')

let stack: RunningStack
let folder: string

beforeAll(async () => {
  stack = await runStack()
  folder = mkdtempSync(join(tmpdir(), 'go-clients-'))
  cpSync(PROGRAMS, folder, { recursive: true })
}, 600_000)
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await stack.close()
})

/** How each generator makes a client in a folder; a text says why it cannot. */
const GENERATORS: Readonly<Record<string, (to: string) => string | [program: string, args: string[]]>> = {
  'oapi-codegen': (to) => {
    const { program, missing } = goTool('github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen', '2.8.2')
    const target = ['-package', 'client', '-o', join(to, 'client.go')]
    return missing ?? [program, ['-generate', 'types,client', ...target, DOCUMENT]]
  },
  'openapi-generator': (to) => {
    const { bin, missing } = pythonTool(join(PROGRAMS, 'requirements.txt'))
    if (missing !== undefined) return missing
    if (spawnSync('java', ['-version']).status !== 0) return 'there is no Java'
    const settings = ['--additional-properties=packageName=client,withGoMod=false', '--global-property']
    const files = 'apiTests=false,modelTests=false,apiDocs=false,modelDocs=false'
    return [
      join(bin, 'openapi-generator-cli'),
      ['generate', '-g', 'go', '-i', DOCUMENT, '-o', to, ...settings, files],
    ]
  },
}

/** A free time, and an invoice of 1234567.89. */
async function values(): Promise<Record<string, string>> {
  const [demo] = stack.clinics
  const first = async (path: string) => (await get(stack, path)).body.data[0]
  const [doctor, patient] = [await first('/doctors?is_active=true'), await first('/patients?is_active=true')]
  const date = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const slot = await first(`/availability?doctor_id=${doctor.id}&date=${date(3)}&date_to=${date(20)}&limit=1`)
  const clinic = (await get(stack, '/clinic')).body.data
  const invoice = await invoiceStore(stack).find(clinic.id, (await first('/invoices')).id)
  if (!demo || !invoice) throw new Error('The demo has no invoice.')
  const { id } = await newInvoice(stack.table, { clinic, invoice: invoice.record }, { total: 123_456_789 })
  const { full = '' } = demo.credentials
  const booking = { PATIENT: patient.id, DOCTOR: doctor.id, DATE: slot.date, TIME: slot.start_time }
  return { API: stack.api, CREDENTIAL: full, INVOICE: id, ...booking }
}

it.for(Object.keys(GENERATORS))('%s', async (name, { skip }) => {
  const client = join(folder, name, 'client')
  mkdirSync(client)
  const command = GENERATORS[name]?.(client) ?? ''
  if (typeof command === 'string') return skip(command)
  const generated = await runProgram(...command)
  expect([generated.code, generated.code === 0 ? '' : generated.errors]).toEqual([0, ''])
  const sent = await values()
  const environment = { ...process.env, ...sent }
  const { printed, errors } = await runProgram('go', ['run', `./${name}`], { cwd: folder, environment })
  expect([printed, errors.replace(/^go: downloading.*\n/gm, '')]).toEqual([
    `${sent.DATE} ${sent.TIME} 1234567.89\n`,
    '',
  ])
})
