/** `npm start`: runs the synthesized stack on this machine, with two demo clinics in it. */
import { resolve } from 'node:path'
import { type LocalStack, startLocalStack } from '../infra/local/stack.ts'
import type { ReadyClinic } from './demo/load.ts'
import { banner } from './local/banner.ts'
import { openDataFolder } from './local/data-folder.ts'
import { loadDemoClinics } from './local/demo-clinics.ts'
import { parseOptions } from './local/options.ts'

const { data, watch, demo, json, port, smsReceipts, realistic, allowWebhookHost } = parseOptions()

const printLine = (text: string): void => {
  if (!json) process.stdout.write(`${text}\n`)
}

let stack: LocalStack | undefined
let releaseData: (() => void) | undefined
let isShuttingDown = false

async function shutDown(code: number): Promise<void> {
  if (isShuttingDown) return
  isShuttingDown = true
  await stack?.close()
  releaseData?.()
  process.exit(code)
}

process.on('SIGINT', () => shutDown(0))
process.on('SIGTERM', () => shutDown(0))
// When npm is killed with SIGKILL, this process gets no signal.
const parent = process.ppid
if (process.env.npm_lifecycle_event) setInterval(() => process.ppid !== parent && shutDown(0), 500).unref()

try {
  // npm runs scripts in the project's folder; INIT_CWD is the folder in which the user typed the command.
  const dataDir = data === undefined ? undefined : resolve(process.env.INIT_CWD ?? '.', data)
  if (dataDir) releaseData = openDataFolder(dataDir)
  printLine('Synthesizing the stack and starting its engines...')
  let clinics: ReadyClinic[] = []
  stack = await startLocalStack({
    port,
    dataDir,
    watch,
    smsReceipts,
    ...(realistic && { realistic: {} }),
    allowedWebhookHost: allowWebhookHost,
    log: (line, isRoutine) => {
      if (!json) printLine(line)
      else if (!isRoutine) process.stderr.write(`${line}\n`)
    },
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
