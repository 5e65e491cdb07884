/** `npm start`: runs the synthesized stack on this machine, with two demo clinics in it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { Command, InvalidArgumentError, Option } from 'commander'
import { type LocalStack, startLocalStack } from '../infra/local/stack.ts'
import { openTable } from '../shared/store/table/table.ts'
import { loadDemo, type ReadyClinic } from './demo/load.ts'

type Options = {
  data?: string
  watch: boolean
  demo: boolean
  json: boolean
  port: number
  smsReceipts: boolean
  realistic: boolean
  allowWebhookHost?: string
}

const { data, watch, demo, json, port, smsReceipts, realistic, allowWebhookHost } = new Command(
  'npm start --',
)
  .description('Runs the clinic developer API on this machine, from its synthesized stack.')
  .option('--data <folder>', 'keep the data there over restarts; without it, all is in memory')
  .option('--watch', 'rebuild and swap functions when their code is saved', false)
  .option('--no-demo', 'start without the demo clinics')
  .option('--sms-receipts', 'deploy what reads the delivery receipts of SMS, too', false)
  .option('--realistic', "add DynamoDB's latency and transaction conflicts to the local engine", false)
  .option(
    '--allow-webhook-host <host:port>',
    'let webhooks go there, over http too, although it is not public',
    parseHostAndPort,
  )
  .option('--json', 'print the ready line only', false)
  .addOption(new Option('--port <port>', 'on 127.0.0.1').env('PORT').argParser(parsePort).default(3000))
  .parse()
  .opts<Options>()

function parsePort(text: string): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number > 65_535) throw new InvalidArgumentError('must be a port from 0 to 65535')
  return number
}

/** Written as a URL has it, since webhooks' URLs are compared with it. */
function parseHostAndPort(text: string): string {
  const [, host] = /^(\S+):[1-9]\d*$/.exec(text.toLowerCase()) ?? []
  if (host === undefined || URL.parse(`http://${text}`)?.hostname !== host)
    throw new InvalidArgumentError('must be a host and its port, such as 127.0.0.1:4400')
  return text
}

const printLine = (text: string): void => {
  if (!json) process.stdout.write(`${text}\n`)
}

let stack: LocalStack | undefined
let isShuttingDown = false

async function shutDown(code: number): Promise<void> {
  if (isShuttingDown) return
  isShuttingDown = true
  await stack?.close()
  process.exit(code)
}

process.on('SIGINT', () => shutDown(0))
process.on('SIGTERM', () => shutDown(0))
// npm, when it is killed outright, tells nobody.
const parent = process.ppid
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && shutDown(0), 500).unref()

try {
  // npm runs scripts in the project's folder, wherever it was typed.
  const dataDir = data === undefined ? undefined : resolve(process.env.INIT_CWD ?? '.', data)
  if (dataDir) mkdirSync(dataDir, { recursive: true })
  printLine('Synthesizing the stack and starting its engines...')
  let clinics: ReadyClinic[] = []
  stack = await startLocalStack({
    port,
    dataDir,
    watch,
    smsReceipts,
    ...(realistic && { realistic: {} }),
    allowedWebhookHost: allowWebhookHost,
    log: printLine,
    seed: async (made) => {
      if (demo) clinics = await loadDemoClinics(made, dataDir)
    },
  })
  const ready = {
    ready: true,
    base_url: stack.baseUrl,
    clinics,
    sms_outbox_url: stack.smsOutboxUrl,
    email_inbox_url: stack.emailInboxUrl,
  }
  printLine(banner(stack, clinics))
  process.stdout.write(`${JSON.stringify(ready)}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  await shutDown(1)
}

/** The demo clinics: loaded once, and remembered beside data that is kept. */
async function loadDemoClinics(
  { endpoints, outputs }: Pick<LocalStack, 'endpoints' | 'outputs'>,
  dataDir: string | undefined,
): Promise<ReadyClinic[]> {
  const savedFile = dataDir && join(dataDir, 'demo.json')
  if (savedFile && existsSync(savedFile)) return JSON.parse(readFileSync(savedFile, 'utf8')) as ReadyClinic[]
  const client = new DynamoDBClient({
    endpoint: endpoints.dynamodb,
    region: process.env.AWS_REGION ?? 'us-east-1',
    credentials: { accessKeyId: 'demo', secretAccessKey: 'local' },
  })
  const clinics = await loadDemo(openTable(DynamoDBDocumentClient.from(client), outputs.TableName ?? ''))
  client.destroy()
  if (savedFile) writeFileSync(savedFile, JSON.stringify(clinics), { mode: 0o600 })
  return clinics
}

function banner(
  { baseUrl, smsOutboxUrl, emailInboxUrl }: LocalStack,
  clinics: readonly ReadyClinic[],
): string {
  const pair = clinics[0]?.credentials.full ?? 'KEY:SECRET'
  return [
    '',
    `  Clinic Developer API   ${baseUrl}/api/developer/v1`,
    `  SMS outbox             ${smsOutboxUrl}`,
    `  Email inbox            ${emailInboxUrl}`,
    ...clinics.map(({ name, timezone, id }) => `  Clinic                 ${name}, ${timezone}, ${id}`),
    '',
    clinics.length > 0 ? '  Try:' : '  Make a clinic and a credential with "npm run clinic -- --help", then:',
    '',
    `  curl -H 'Authorization: Developer ${pair}' '${baseUrl}/api/developer/v1/patients?limit=2'`,
    '',
  ].join('\n')
}
