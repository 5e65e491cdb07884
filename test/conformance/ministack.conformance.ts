/**
 * ministack, an emulator of AWS that was not written here, takes the real `cdk bootstrap` and `cdk deploy`, and what is deployed works.
 * It runs in `npm run prove`, where Python 3.10 or later is available. docs/decisions/emulator.md says what this proves, and what not.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { CreateEmailIdentityCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createClient } from '../../shared/clients/typescript/client.ts'
import {
  metricMathFails,
  removeUnknown,
  retainedBy,
  UNKNOWN_TYPES,
  unknownTypes,
} from './ministack/assembly.ts'
import { ACCOUNT, type Emulator, REGION, startEmulator, waitFor } from './ministack/emulator.ts'
import { pythonTool } from './python-tool.ts'

const python = pythonTool(join(import.meta.dirname, 'ministack/requirements.txt'), '3', 10)

const DEV = 'ClinicDeveloperApi-dev'
const PROD = 'ClinicDeveloperApi-prod'

/** What the emulator accepts and ignores, so that the run says nothing about it. */
const IGNORED =
  'time to live, point-in-time recovery, encryption with KMS, gateway responses, DisableExecuteApiEndpoint, replacement on update'

const PROD_SETTINGS = {
  stage: 'prod',
  account: ACCOUNT,
  region: REGION,
  emailFrom: 'clinic@praxis-nord.de',
  smsSenderId: 'Praxis',
  // Its stack calls SNS in a function of the CDK, which needs the SDK that Lambda has.
  smsReceipts: 'off',
}

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ministack-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const CLINIC = ['--timezone', 'Europe/Berlin', '--currency', 'EUR'] as const

/** Creates a clinic with a doctor who works every day, and a credential with every scope. */
async function createClinic(aws: Emulator, stack: string, name: string, options: readonly string[] = []) {
  await aws.clinic(stack, 'clinic', 'create', '--name', name, ...CLINIC, ...options)
  const inClinic = ['--clinic', name]
  const created = await aws.clinic(
    stack,
    'credential',
    'create',
    '--name',
    'Smoke',
    '--scopes',
    'all',
    ...inClinic,
  )
  const credential = `${created.data.key}:${created.data.secret}`
  const day = [{ start_time: '08:00', end_time: '18:00' }]
  const hours = { mon: day, tue: day, wed: day, thu: day, fri: day, sat: day, sun: day }
  await createClient({ baseUrl: await aws.apiUrl(stack), credential }).doctors.create({
    full_name: 'Dr. Ada',
    hours,
  })
  return credential
}

const smoke = (aws: Emulator, url: string, credential: string) =>
  aws.run(process.execPath, ['bin/smoke.ts', '--url', url, '--credential', credential])

/** A receiver of webhooks on this machine. */
async function startReceiver() {
  const received: { headers: Record<string, string>; body: string }[] = []
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers as Record<string, string>, body: await text(request) })
    response.end()
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { received, host, close: () => void server.close() }
}

it('deploys dev, which serves requests, webhooks and emails, is updated, and leaves what the docs say', async ({
  skip,
}) => {
  if (python.missing !== undefined) return skip(python.missing)
  const receiver = await startReceiver()
  const aws = await startEmulator(python.bin, { ALLOWED_WEBHOOK_HOST: receiver.host })
  try {
    const [assembly, changed] = [join(folder, 'dev'), join(folder, 'changed')]
    await aws.synthesize(assembly, { stage: 'dev' })
    await aws.bootstrap(assembly)
    await aws.deploy(assembly, [DEV])
    const url = await aws.apiUrl(DEV)

    await smoke(aws, url, await createClinic(aws, DEV, 'Praxis Test', ['--test']))

    const clinic = createClient({ baseUrl: url, credential: await createClinic(aws, DEV, 'Praxis Nord') })
    const { data: webhook } = await clinic.webhooks.create({
      url: `http://${receiver.host}/hook`,
      events: ['patient.created'],
    })
    const { data: patient } = await clinic.patients.create({
      first_name: 'Ada',
      last_name: 'Kaya',
      email_address: 'ada@example.com',
    })
    await waitFor('the webhook', async () => receiver.received.length > 0)
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
    expect(new Webhook(String(webhook.secret)).verify(body, headers)).toMatchObject({
      data: { id: patient.id },
    })

    await clinic.messages.send({
      channel: 'email',
      patient_id: patient.id,
      message: 'See you tomorrow.',
    })
    const statusOf = async () => (await clinic.messages.list({ patient_id: patient.id })).data[0]?.status
    await waitFor('the rejection of the email', async () => /"waits\\":1/.test(await aws.queued()))
    expect(await statusOf()).toBe('queued')
    const ses = new SESv2Client(aws.client)
    await ses.send(new CreateEmailIdentityCommand({ EmailIdentity: 'example.com' }))

    await aws.synthesize(changed, { stage: 'dev', smsSenderId: 'Other' })
    const diff = await aws.cdk('diff', ['--app', changed, '--fail', DEV], 1)
    expect(diff.match(/^ *\S*─ \[[-+]\] .*$/gm)?.map((line) => line.trim())).toEqual([
      '├─ [-] Clinic',
      '└─ [+] Other',
    ])
    await aws.deploy(changed, [DEV])
    await aws.cdk('diff', ['--app', changed, '--fail', DEV])
    expect(await clinic.patients.get(patient.id)).toMatchObject({ data: { last_name: 'Kaya' } })

    await waitFor('the email', async () => (await statusOf()) !== 'queued')
    expect(await aws.emails()).toContain('See you tomorrow.')

    await aws.destroy(changed, [DEV, `${DEV}-Workers`, `${DEV}-Data`])
    const left = await aws.left()
    expect(left).toEqual(retainedBy(changed, left))
    await aws.deploy(assembly, [DEV])
    await smoke(aws, await aws.apiUrl(DEV), await createClinic(aws, DEV, 'Praxis Test', ['--test']))
    await aws.destroy(assembly, [DEV, `${DEV}-Workers`, `${DEV}-Data`])
    const leftAgain = await aws.left()
    expect(leftAgain).toEqual(retainedBy(assembly, leftAgain))
    process.stdout.write(`${await aws.version()} ignores ${IGNORED}.\n`)
  } finally {
    await aws.close()
    receiver.close()
  }
})

it('deploys prod without the resources that the emulator does not know, and leaves what the docs say', async ({
  skip,
}) => {
  if (python.missing !== undefined) return skip(python.missing)
  const aws = await startEmulator(python.bin)
  try {
    const assembly = join(folder, 'prod')
    await aws.synthesize(assembly, PROD_SETTINGS)
    await aws.bootstrap(assembly)
    expect(await unknownTypes(aws, assembly)).toEqual(UNKNOWN_TYPES)
    expect(await metricMathFails(aws)).toBe(true)
    const removed = removeUnknown(assembly)
    process.stdout.write(`${await aws.version()} does not know ${removed.join(', ')}.\n`)

    await aws.deploy(assembly, ['--all'])
    await smoke(aws, await aws.apiUrl(PROD), await createClinic(aws, PROD, 'Praxis Test', ['--test']))
    await aws.destroy(assembly, ['--all'])
    const left = await aws.left()
    expect(left).toEqual(retainedBy(assembly, left))
  } finally {
    await aws.close()
  }
})
