/**
 * With IAM enforced by an emulator of AWS, and TLS, every function of dev may make the calls that it makes, and a deleted grant is noticed.
 * It runs in `npm run prove`, where Python 3.10 or later is available. docs/decisions/emulator.md says what this proves, and what not.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { CreateEmailIdentityCommand, SESv2Client } from '@aws-sdk/client-sesv2'
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import { expect, it } from 'vitest'
import type { Route } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { WORKERS } from '../../shared/runtime/workers.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { feedback } from '../infra/functions/worker-events.ts'
import { selfSigned } from '../support/certificates.ts'
import { issueCredential } from '../support/credentials.ts'
import { createRouteSamples, requestsOf } from '../support/route-samples.ts'
import { deleteGrants, functionsIn } from './ministack/assembly.ts'
import { type Emulator, startEmulator, waitFor } from './ministack/emulator.ts'
import { pythonTool } from './python-tool.ts'
import { runProgram } from './run-program.ts'

const python = pythonTool(join(import.meta.dirname, 'ministack/requirements.txt'), '3', 10)

const STACK = 'ClinicDeveloperApi-dev'
const STAGE_PREFIX = 'clinic-dev-'

/** SmsReceipts is not deployed. */
const NOT_CALLED = [`${STAGE_PREFIX}sms-receipts`]

/** A line of iam.py: the start of a function, or a check of a call. */
type Line = {
  readonly function: string
  readonly started?: true
  readonly action?: string
  readonly denied?: boolean
}

/** Threads of the emulator print, so lines may be joined. */
const linesSince = (aws: Emulator, start: number): Line[] =>
  (
    aws
      .log()
      .slice(start)
      .match(/\{"function": "[^{}]*\}/g) ?? []
  ).map((line) => JSON.parse(line) as Line)

/** Calls every endpoint, and makes every worker run. Returns the clinic's records. */
async function callEverything(aws: Emulator, host: string): Promise<void> {
  const { TableName = '', FeedbackQueueUrl = '' } = await aws.outputs(STACK)
  const table = openTable(documentClient(aws.client), TableName)
  const samples = await createRouteSamples(table, { webhook: { url: `http://${host}/` } })
  const { headers: authorization } = await issueCredential(table, samples.clinic)
  const url = await aws.apiUrl(STACK)
  // An inactive patient would be rejected by other endpoints.
  const last = (route: Route) => Number(route.id === 'deactivate-patient')
  for (const route of ROUTES.toSorted((a, b) => last(a) - last(b)))
    for (const { method, path, query, headers, body } of requestsOf(route, await samples.idsFor(route))) {
      const target = route.path.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? '')
      const init = { method, headers: { ...headers, ...authorization }, ...(body !== undefined && { body }) }
      await fetch(`${url}/api/developer/v1${target}?${new URLSearchParams(query)}`, init)
    }
  await fetch(`${url}/docs`)
  const queue = new SQSClient({ ...aws.client, useQueueUrlAsEndpoint: false })
  // The emulator sends no events of emails.
  await queue.send(
    new SendMessageCommand({
      QueueUrl: FeedbackQueueUrl,
      MessageBody: JSON.stringify(feedback(samples.clinic.id, 'Delivery', samples.message.id)),
    }),
  )
  // Waits for the worker, which may lack a grant.
  const verify = ['bin/clinic.ts', '--stack', STACK, 'verify', '--all', '--restart']
  const environment = aws.clientEnvironment
  runProgram(process.execPath, verify, { environment, timeoutMs: 120_000 }).catch(() => {})
}

it('every function may make its calls, and not without one of its grants', async ({ skip }) => {
  if (python.missing !== undefined) return skip(python.missing)
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31))
  const folder = mkdtempSync(join(tmpdir(), 'ministack-iam-'))
  const { cert, key } = selfSigned({ dns: 'localhost' })
  const [certificate, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  writeFileSync(certificate, cert)
  writeFileSync(keyFile, key)
  setDefaultCACertificates([...getCACertificates(), cert])
  const receiver = createServer((_, response) => void response.end())
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening))
  const host = `127.0.0.1:${(receiver.address() as AddressInfo).port}`
  const aws = await startEmulator(python.bin, {
    launcher: join(import.meta.dirname, 'ministack/iam.py'),
    certificate,
    environment: {
      ALLOWED_WEBHOOK_HOST: host,
      NODE_EXTRA_CA_CERTS: certificate,
      USE_SSL: '1',
      MINISTACK_SSL_CERT: certificate,
      MINISTACK_SSL_KEY: keyFile,
    },
  })
  const switchIam = () => process.kill(aws.pid, 'SIGUSR1')
  try {
    const assembly = join(folder, 'dev')
    await aws.synthesize(assembly, { stage: 'dev' })
    await aws.bootstrap(assembly)
    await aws.deploy(assembly, [STACK])
    await new SESv2Client(aws.client).send(new CreateEmailIdentityCommand({ EmailIdentity: 'example.com' }))
    switchIam()
    await callEverything(aws, host)
    const functions = functionsIn(assembly).filter(({ name }) => !NOT_CALLED.includes(name))
    const namesIn = (lines: Line[]) => new Set(lines.map((line) => line.function))
    await waitFor('a call of every function', async () => {
      const lines = linesSince(aws, 0)
      const [started, called] = [namesIn(lines), namesIn(lines.filter(({ action }) => action !== undefined))]
      return functions.every(({ name, makesCalls }) => (makesCalls ? called : started).has(name))
    })
    const first = linesSince(aws, 0)
    expect(first.filter(({ denied }) => denied)).toEqual([])

    // Workers wait for what endpoints queue, so their grants are deleted apart.
    const isWorker = (name: string) => WORKERS.some(({ id }) => name === `${STAGE_PREFIX}${id}`)
    const used = Map.groupBy(
      first.filter(({ action }) => action !== undefined),
      (line) => line.function,
    )
    for (const isChosen of [isWorker, (name: string) => !isWorker(name)]) {
      const deleted = new Map(
        [...used].flatMap(([name, calls], at) => {
          // A call that was made once may depend on what else happened.
          const counts = Map.groupBy(calls, ({ action = '' }) => action)
          const actions = [...counts].filter(([, made]) => made.length > 1).map(([action]) => action)
          return isChosen(name) ? [[name, actions[(seed + at) % actions.length] ?? ''] as const] : []
        }),
      )
      const broken = join(folder, `broken-${deleted.size}`)
      cpSync(assembly, broken, { recursive: true })
      deleteGrants(broken, deleted)
      switchIam()
      await aws.deploy(broken, [STACK])
      switchIam()
      const start = aws.log().length
      await callEverything(aws, host)
      await waitFor(`a denial of each of ${[...deleted].join('; ')} (SEED=${seed})`, async () => {
        const denied = namesIn(linesSince(aws, start).filter((line) => line.denied))
        return [...deleted.keys()].every((name) => denied.has(name))
      })
    }
  } finally {
    await aws.close()
    receiver.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
