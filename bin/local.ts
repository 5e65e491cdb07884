/** `npm start`: runs the synthesized stack on this machine, with two demo clinics in it. */
import { resolve } from 'node:path'
import { moveClock } from '../infra/local/process/move-clock.ts'
import { type LocalStack, startLocalStack } from '../infra/local/stack.ts'
import { instantOf } from '../shared/domain/clock.ts'
import { demoTimezone, loadDemo } from './demo/demo.ts'
import type { ReadyClinic } from './demo/load.ts'
import { openSeed } from './demo/seed.ts'
import { banner, bookingRequest } from './local/banner.ts'
import { loadClinics } from './local/clinics.ts'
import { openDataFolder } from './local/data-folder.ts'
import { type LocalTime, parseOptions } from './local/options.ts'

const { data, seed, at, demo, json, port, smsReceipts } = parseOptions()

const printLine = (text: string): void => {
  if (!json) process.stdout.write(`${text}\n`)
}

let stack: LocalStack | undefined
let releaseData: (() => void) | undefined
let isShuttingDown = false
let isReady = false

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

/** npm runs scripts in the project's folder; INIT_CWD is the folder in which the user typed the command. */
const fromInvocationDir = (folder: string): string => resolve(process.env.INIT_CWD ?? '.', folder)

/** Sets the clock of this process and of all functions. Returns by how many milliseconds it is ahead. */
function setClock({ date, time }: LocalTime, timezone: string): number {
  const offset = Date.parse(instantOf(date, timezone, time)) - Date.now()
  moveClock(() => offset)
  return offset
}

try {
  const dataDir = data === undefined ? undefined : fromInvocationDir(data)
  if (dataDir) releaseData = openDataFolder(dataDir)
  const clinic = seed === undefined ? undefined : openSeed(fromInvocationDir(seed))
  const offset = at && setClock(at, clinic?.timezone ?? demoTimezone())
  printLine('1/3  Synthesizing the stack and starting its engines')
  let clinics: ReadyClinic[] = []
  stack = await startLocalStack({
    port,
    dataDir,
    smsReceipts,
    ...(offset !== undefined && { clockOffset: new Float64Array(new SharedArrayBuffer(8)).fill(offset) }),
    allowedWebhookHost: 'localhost',
    log: (line, isRoutine) => {
      if (isRoutine ? isReady : !json) printLine(line)
      else if (!isRoutine) process.stderr.write(`${line}\n`)
    },
    seed: async (made) => {
      printLine('2/3  Loading the clinics')
      if (demo) clinics = await loadClinics(made, dataDir, clinic?.load ?? loadDemo)
      return { clinics, clock_offset_ms: offset ?? 0 }
    },
  })
  if (json) {
    const { baseUrl, smsOutboxUrl, emailInboxUrl } = stack
    const urls = { base_url: baseUrl, sms_outbox_url: smsOutboxUrl, email_inbox_url: emailInboxUrl }
    process.stdout.write(`${JSON.stringify({ ready: true, ...urls, clinics })}\n`)
  } else {
    printLine('3/3  Looking for a free slot')
    const [clinic] = clinics
    printLine(banner(stack, clinic, clinic ? await bookingRequest(stack.baseUrl, clinic) : ''))
  }
  isReady = true
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  await shutDown(1)
}
