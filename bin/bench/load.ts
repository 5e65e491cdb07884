/** `npm run bench -- --load`: what the local stack serves of reads and bookings that arrive at random. Linux only. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { BASE_PATH } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { type LoadCall, type Outcome, percentile, sustained } from './contention-load.ts'
import { bookingBody, type OpenClinic, openBusyClinic } from './records.ts'

type Line = {
  readonly label: string
  readonly offered: number
  readonly outcome: Outcome
  readonly megabytes: number
}

const RATES = [25, 50, 75, 100, 150, 200, 300, 450]
const SECONDS = 20

/** Milliseconds by requests a second. */
const P99_BOUNDS: Readonly<Record<string, number>> = { '100 a second': 50, '150 a second': 150 }
const MAX_MEGABYTES = 1024
/** The share of the best rate that is served at any higher one. */
const OVERLOAD_GOODPUT = 0.9

export async function measureLoad() {
  const stack = await startStack()
  const lines: Line[] = []
  try {
    const clinic = await openBusyClinic(await openTableOf(stack.baseUrl))
    const send = sender(`${stack.baseUrl}${BASE_PATH}`, clinic.authorization)
    const mixed = mixedRequests(send, clinic)
    const measure = async (label: string, offered: number, seconds = SECONDS, call = mixed) => {
      const outcome = await sustained(offered, seconds, call)
      lines.push({ label, offered, outcome, megabytes: peakMegabytes(stack.pid) })
    }
    await measure('100 a second, just started', 100)
    // More functions than may have environments.
    await measure('2 a second, all reads in turn', 2, 2 * SECONDS, allReads(send, clinic))
    for (const rate of RATES) await measure(`${rate} a second`, rate)
  } finally {
    await stack.stop()
  }
  return { section: sectionOf(lines), failures: brokenBounds(lines) }
}

/** `npm start` without clinics, in a process of its own. */
async function startStack() {
  const child = spawn(process.execPath, ['bin/local.ts', '--json', '--no-demo', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit').then(() => ['{}'])
  const [line] = (await Promise.race([once(createInterface(child.stdout), 'line'), ended])) as [string]
  const { base_url: baseUrl } = JSON.parse(line) as { base_url?: string }
  if (!baseUrl) throw new Error('The local stack did not start.')
  const stop = async () => {
    child.kill()
    await ended
  }
  return { baseUrl, pid: child.pid as number, stop }
}

async function openTableOf(baseUrl: string) {
  const about = await (await fetch(`${baseUrl}/_local`)).json()
  type About = { region: string; outputs: { TableName: string }; endpoints: { dynamodb: string } }
  const { region, outputs, endpoints } = about as About
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'local' }
  return openTable(documentClient({ endpoint: endpoints.dynamodb, region, credentials }), outputs.TableName)
}

/** The most memory that a process and its children have had so far, each by itself (proc_pid_status(5)). */
function peakMegabytes(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/)
  const kilobytes = [pid, ...children].map((id) =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]),
  )
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024
}

const isRejected = (status: number): boolean => status === 429 || status === 503

const countOf = ({ statuses }: Outcome, isWanted: (status: number) => boolean): number =>
  [...statuses].reduce((sum, [status, count]) => (isWanted(status) ? sum + count : sum), 0)

/** Successful responses a second. */
const servedOf = (outcome: Outcome): number =>
  countOf(outcome, (status) => status >= 200 && status < 300) / outcome.seconds

/** Responses that neither are successful nor ask the caller to retry later. */
const failedOf = (outcome: Outcome): number =>
  countOf(outcome, (status) => (status < 200 || status >= 300) && !isRejected(status))

function brokenBounds(lines: readonly Line[]): string[] {
  const best = Math.max(...lines.map(({ outcome }) => servedOf(outcome)))
  return lines.flatMap(({ label, offered, outcome, megabytes }) => [
    ...(failedOf(outcome) > 0 ? [`${label}: ${failedOf(outcome)} requests failed`] : []),
    ...(percentile(outcome, 0.99) > (P99_BOUNDS[label] ?? Number.POSITIVE_INFINITY)
      ? [`${label}: p99 exceeds its bound`]
      : []),
    ...(megabytes > MAX_MEGABYTES ? [`${label}: ${Math.round(megabytes)} MB`] : []),
    ...(offered > best && servedOf(outcome) < OVERLOAD_GOODPUT * best
      ? [`${label}: ${servedOf(outcome).toFixed(1)} served a second are under 90 % of ${best.toFixed(1)}`]
      : []),
  ])
}

/** Eight reads and two bookings of free times in ten requests. */
function mixedRequests(send: Send, clinic: OpenClinic): LoadCall {
  let bookings = 0
  return (index) => {
    if (index % 5 === 2) return send('/appointments', bookingBody(clinic, bookings++))
    const { patient_id, appointment_date: day } = bookingBody(clinic, index)
    const patient = `/patients/${patient_id}`
    const reads = [
      ...[patient, patient, patient, '/patients?limit=20', '/doctors', '/appointments?limit=20'],
      `/appointments?date_from=${day}&date_to=${day}`,
      `/availability?doctor_id=${clinic.doctors[0].id}&date=${day}`,
    ]
    return send(reads[index % reads.length] as string)
  }
}

/** Every endpoint that only reads, in turn. Most have no record to return, so that 404 is a success. */
function allReads(send: Send, clinic: OpenClinic): LoadCall {
  const { doctor_id, appointment_date } = bookingBody(clinic, 0)
  const paths = ROUTES.filter(({ method }) => method === 'GET').map(({ id, path }) => {
    const found = path.replaceAll(/\{\w+\}/g, newUuid)
    return id === 'get-availability' ? `${found}?doctor_id=${doctor_id}&date=${appointment_date}` : found
  })
  return async (index) => {
    const { statusCode } = await send(paths[index % paths.length] as string)
    return { statusCode: statusCode === 404 ? 200 : statusCode }
  }
}

type Send = ReturnType<typeof sender>

/** Sends a GET request, or a POST request with a body. The status is 0 if there is no response. */
const sender =
  (api: string, authorization: string) =>
  async (path: string, body?: object): Promise<{ statusCode: number }> => {
    const headers = { authorization, 'content-type': 'application/json' }
    const method = body ? 'POST' : 'GET'
    const sent = fetch(`${api}${path}`, { method, headers, body: body ? JSON.stringify(body) : null })
    return sent
      .then((response) => response.arrayBuffer().then(() => ({ statusCode: response.status })))
      .catch(() => ({ statusCode: 0 }))
  }

function row({ label, outcome, megabytes }: Line): string {
  const milliseconds = [0.5, 0.95, 0.99].map((share) => percentile(outcome, share))
  const figures = [...milliseconds, megabytes].map((value) => Math.round(value).toLocaleString('en'))
  const counts = [servedOf(outcome).toFixed(1), countOf(outcome, isRejected), failedOf(outcome)]
  return `| ${[label, ...counts, ...figures].join(' | ')} |`
}

const sectionOf = (lines: readonly Line[]): string =>
  [
    'Eight reads and two bookings in ten requests, or every endpoint that reads, in turn. They arrive at random, at `npm start` in a',
    'process of its own on the same machine. Latencies of successful responses in milliseconds; the most memory so far in MB, of the',
    'stack with its DynamoDB engine. Rejected are responses 429 and 503.',
    '',
    '| | served a second | rejected | failed | p50 | p95 | p99 | memory |',
    '|---|---:|---:|---:|---:|---:|---:|---:|',
    ...lines.map(row),
    '',
  ].join('\n')
