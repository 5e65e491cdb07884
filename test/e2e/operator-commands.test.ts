/** Runs the operator commands that documents show, each document on a clinic of its own. */
import { cpSync, existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { callSqs } from '../../infra/local/engines/queues.ts'
import { fullName } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { clinicStore } from '../../shared/store/clinics.ts'
import { holidayStore } from '../../shared/store/holidays.ts'
import { claimedDispatch, storeMessage } from '../bin/clinic/messages/message-fixtures.ts'
import { issueCredential } from '../support/credentials.ts'
import { createWebhook } from '../support/deliveries.ts'
import { blocksOf, DOCUMENTS, operatorCommands } from '../support/documentation.ts'
import { type RunningStack, runStack } from '../support/local-stack.ts'
import { runTool } from '../support/operator-tool.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../support/records.ts'
import { aPatient, NOW } from '../support/table.ts'

/** Commands that cannot run here: only their words and options are checked. */
const NOT_LOCAL: Readonly<Record<string, string>> = {
  restore: 'The engine has no point-in-time recovery.',
}

/** The dates in the documents are after this time, or before it if a command is about the past. */
const AT = NOW + 10 * 86_400_000

const folder = mkdtempSync(join(inject('runFolder'), 'operator-commands-test-'))

let stack: RunningStack

beforeAll(async () => {
  stack = await runStack({ demo: false })
  vi.setSystemTime(AT)
})
afterAll(async () => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
  await stack?.close()
})

/** A webhook that one of the clinic's credentials created. */
async function webhookOf({ clinic }: PopulatedClinic): Promise<string> {
  const { key } = await issueCredential(stack.table, clinic)
  return (await createWebhook(stack.table, clinic.id, { createdBy: key })).id
}

/** Ids for the placeholders of a command, by the record that it is of. */
const SAMPLES: Readonly<Record<string, (world: PopulatedClinic) => string | Promise<string>>> = {
  clinic: ({ clinic }) => clinic.id,
  patient: ({ patient }) => patient.id,
  doctor: ({ doctor }) => doctor.id,
  'time-off': ({ doctor }) => doctor.id,
  holiday: async (world) => {
    const day = { from: '2031-12-24', to: '2031-12-24', reason: null }
    await holidayStore(stack).set(world.clinic.id, () => [day])
    return JSON.parse((await run(['holiday', 'list', '--json'], world)).printed).data[0].id
  },
  appointment: ({ appointment }) => appointment.id,
  treatment: ({ treatment }) => treatment.id,
  invoice: ({ invoice }) => invoice.id,
  payment: ({ payment }) => payment.id,
  credential: async ({ clinic }) => (await issueCredential(stack.table, clinic)).key,
  webhook: webhookOf,
  delivery: webhookOf,
  message: async ({ clinic, patient }) =>
    (
      await storeMessage(stack.table, clinic, {
        patient: { id: patient.id, fullName: fullName(patient) },
        dispatch: claimedDispatch(AT),
        isUnresolved: true,
      })
    ).id,
  number: () => '77',
}

/** A letter in the queue that the command names. */
async function createDeadLetter(args: readonly string[]): Promise<string> {
  const queue = args.includes('failed-fan-outs') ? 'FailedFanOutQueueUrl' : 'DeadEmailQueueUrl'
  const { MessageId } = await callSqs<{ MessageId: string }>(stack.endpoints.sqs, 'SendMessage', {
    QueueUrl: stack.outputs[queue],
    MessageBody: JSON.stringify({ clinic: newUuid(), message: newUuid(), waits: 0 }),
  })
  return MessageId
}

/** Files of imports, of which a few rows are wrong, and a folder for what commands write. Examples of docs/ stay where they are. */
function writeFiles(): (name: string) => string {
  cpSync('docs/examples/converters/cliniko', folder, { recursive: true })
  writeFileSync(join(folder, 'patients.ndjson'), '{"external_id":"1","first_name":"Ada","last_name":"Lang"}')
  return (name) => (existsSync(name) ? name : join(folder, name === 'FILE...' ? 'patients.ndjson' : name))
}

const isPlaceholder = (word: string): boolean => word === 'ID' || word === 'KEY' || /^[A-Z]{4,}$/.test(word)

/** Replaces the placeholders of a command: `ID`, or what it is an id of, and names of files. */
const withSamples = (
  args: readonly string[],
  world: PopulatedClinic,
  fileOf: (name: string) => string,
): Promise<string[]> =>
  Promise.all(
    args.map((word, at) => {
      const [, option] = /^--(clinic|patient|doctor|appointment)(-id)?$/.exec(args[at - 1] ?? '') ?? []
      if (/\.csv$|^FILE/.test(word)) return fileOf(word)
      if (!isPlaceholder(word)) return word
      const record =
        word === 'ID' ? (option ?? args[0] ?? '') : word === 'KEY' ? 'credential' : word.toLowerCase()
      if (record === 'dead-letter') return createDeadLetter(args)
      const sample = SAMPLES[record]
      if (!sample) throw new Error(`There is no sample for ${word} in ${args.join(' ')}`)
      return sample(world)
    }),
  )

/** Runs a command as at a terminal, where the operator agrees to everything, with a credential of the clinic that it names. */
async function run(args: readonly string[], world: PopulatedClinic) {
  const { clinics } = await clinicStore(stack).listReadable()
  const named = clinics.find(({ name }) => args[args.indexOf('--clinic') + 1] === name)
  const { key, secret } = await issueCredential(stack.table, named ?? world.clinic)
  const env = { PORT: new URL(stack.baseUrl).port, CLINIC_CREDENTIAL: `${key}:${secret}` }
  return runTool(args, env, async (question) =>
    question.includes('patient') ? world.appointment.patient.fullName : 'yes',
  )
}

/** A clinic with the names, numbers and external ids that documents use. */
async function createWorld(): Promise<PopulatedClinic> {
  const patient = aPatient({ firstName: 'Ada', lastName: 'Kaya' })
  const world = await createPopulatedClinic(stack.table, patient)
  const of = ['--clinic', world.clinic.id]
  await run(['invoice', 'correct', world.invoice.id, ...of, '--number', '2026-17'], world)
  await run(['patient', 'link', world.patient.id, ...of, '--external-id', 'P-77'], world)
  return world
}

const PAGES = DOCUMENTS.flatMap((file) => {
  const commands = blocksOf(file).flatMap((block) =>
    block.kind === 'operator' ? operatorCommands(block) : [],
  )
  return commands.length > 0 ? [[file, commands] as const] : []
})

describe.each(PAGES)('%s', (_, commands) => {
  it('its operator commands succeed', async () => {
    const world = await createWorld()
    const fileOf = writeFiles()
    for (const args of commands) {
      const name = args.join(' ')
      if (Object.keys(NOT_LOCAL).some((words) => name.startsWith(words))) {
        const { printed } = await run([...args.slice(0, 2), '--help'], world)
        for (const option of name.match(/--[a-z-]+/g) ?? []) expect(printed, name).toContain(option)
        continue
      }
      const { code, printed, errors } = await run(await withSamples(args, world, fileOf), world)
      // An import that rejects rows exits with 1.
      expect(code, `${name}\n${printed}${errors}`).toBeLessThanOrEqual(args[0] === 'import' ? 1 : 0)
    }
  })
})
