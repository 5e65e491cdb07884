/** `npm run bench -- --load`: what the local stack serves of reads and bookings that arrive at random. */
import { Agent, request } from 'node:http'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { BASE_PATH } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { openTable } from '../../shared/store/table/table.ts'
import { bookingBody, type ContentionClinic, newClinic } from './contention-clinic.ts'
import { type LoadCall, percentile, sustained } from './contention-load.ts'
import { type LocalProcess, startLocalProcess } from './local-process.ts'

type Line = {
  readonly label: string
  readonly offered: number
  /** Successful responses a second. */
  readonly served: number
  /** Responses that ask the caller to retry later, and all others that are not successful. */
  readonly rejected: number
  readonly failed: number
  /** Milliseconds of the successful responses. */
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly cpu: number
  readonly megabytes: number
  readonly threads: number
}

/** A rate of all reading endpoints in turn: of more functions than may have environments. */
const TURN_RATE = 2
const RATES = [25, 50, 75, 100, 150, 200, 300, 450]
const SECONDS = 20
/** After the start, no function has run. */
const FIRST_RATE = 100
const SOAK = { rate: 50, minutes: 20, memoryGrowth: 1.3 }

/** Milliseconds by requests a second. */
const P99_BOUNDS: Readonly<Record<string, number>> = { '100 a second': 50, '150 a second': 150 }
const MAX_MEGABYTES = 1024
/** The share of the best rate that is served at any higher one. */
const OVERLOAD_GOODPUT = 0.9

/** @param soak also measures whether memory grows during 20 minutes */
export async function measureLoad(soak: boolean, print: (line: string) => void) {
  const stack = await startLocalProcess()
  const lines: Line[] = []
  try {
    const clinic = await newClinic(await openTableOf(stack))
    const send = sender(`${stack.baseUrl}${BASE_PATH}`, clinic.authorization)
    const mixed = mixedRequests(send, clinic)
    const measure = async (label: string, rate: number, seconds: number, call = mixed): Promise<Line> => {
      const line = await measureRate(label, rate, seconds, call, stack)
      lines.push(line)
      print(row(line))
      return line
    }
    await measure(`${FIRST_RATE} a second, just started`, FIRST_RATE, SECONDS)
    await measure(`${TURN_RATE} a second, all reads in turn`, TURN_RATE, 2 * SECONDS, allReads(send, clinic))
    for (const rate of RATES) await measure(`${rate} a second`, rate, SECONDS)
    const failures = brokenBounds(lines)
    if (soak) {
      const early = await measure(`${SOAK.rate} a second, first minute`, SOAK.rate, 60)
      await measure(`${SOAK.rate} a second`, SOAK.rate, (SOAK.minutes - 2) * 60)
      const late = await measure(`${SOAK.rate} a second, last minute`, SOAK.rate, 60)
      if (late.megabytes > SOAK.memoryGrowth * early.megabytes)
        failures.push(`memory grew from ${early.megabytes} to ${late.megabytes} MB`)
    }
    return { section: section(lines), failures }
  } finally {
    await stack.stop()
  }
}

/** The table of a local stack. */
async function openTableOf({ baseUrl }: LocalProcess) {
  const about = await (await fetch(`${baseUrl}/_local`)).json()
  const { region, outputs, endpoints } = about as {
    region: string
    outputs: { TableName: string }
    endpoints: { dynamodb: string }
  }
  const credentials = { accessKeyId: 'bench', secretAccessKey: 'local' }
  const client = new DynamoDBClient({ endpoint: endpoints.dynamodb, region, credentials })
  return openTable(DynamoDBDocumentClient.from(client), outputs.TableName)
}

async function measureRate(
  label: string,
  offered: number,
  seconds: number,
  call: LoadCall,
  stack: LocalProcess,
): Promise<Line> {
  const latencies: number[] = []
  const usage = stack.measureUsage()
  const outcome = await sustained(offered, seconds, async (index) => {
    const startedAt = performance.now()
    const response = await call(index)
    if (response.statusCode < 300) latencies.push(performance.now() - startedAt)
    return response
  })
  const { cpuMilliseconds, megabytes, threads } = usage.end()
  const [rejected, sent] = [countOf(outcome.statuses, [429, 503]), countOf(outcome.statuses)]
  const served = { latencies: latencies.toSorted((a, b) => a - b) }
  return {
    label,
    offered,
    served: latencies.length / outcome.seconds,
    rejected,
    failed: sent - rejected - latencies.length,
    p50: percentile(served, 0.5),
    p95: percentile(served, 0.95),
    p99: percentile(served, 0.99),
    cpu: cpuMilliseconds / sent,
    megabytes,
    threads,
  }
}

const countOf = (statuses: ReadonlyMap<number, number>, wanted = [...statuses.keys()]): number =>
  wanted.reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0)

function brokenBounds(lines: readonly Line[]): string[] {
  const best = Math.max(...lines.map(({ served }) => served))
  return lines.flatMap(({ label, offered, served, failed, p99, megabytes }) => [
    ...(failed > 0 ? [`${label}: ${failed} requests failed`] : []),
    ...(p99 > (P99_BOUNDS[label] ?? Number.POSITIVE_INFINITY) ? [`${label}: p99 exceeds its bound`] : []),
    ...(megabytes > MAX_MEGABYTES ? [`${label}: ${megabytes} MB`] : []),
    ...(offered > best && served < OVERLOAD_GOODPUT * best
      ? [`${label}: ${served.toFixed(1)} served a second are under 90 % of ${best.toFixed(1)}`]
      : []),
  ])
}

/** Eight reads and two bookings of free times in ten requests. */
function mixedRequests(send: Send, clinic: ContentionClinic): LoadCall {
  const [doctor] = clinic.doctors
  let bookings = 0
  const book = () => {
    const body = bookingBody(clinic, bookings++)
    return send('/appointments', body)
  }
  const patient = (index: number) => send(`/patients/${clinic.patients[index % clinic.patients.length]}`)
  const day = () => bookingBody(clinic, bookings).appointment_date
  const calls: readonly LoadCall[] = [
    patient,
    () => send(`/appointments?date_from=${day()}&date_to=${day()}`),
    book,
    () => send('/patients?limit=20'),
    patient,
    () => send('/doctors'),
    () => send('/appointments?limit=20'),
    book,
    patient,
    () => send(`/availability?doctor_id=${doctor}&date=${day()}`),
  ]
  return (index) => (calls[index % calls.length] as LoadCall)(index)
}

/** Every endpoint that only reads, in turn. Most have no record to return, so that 404 is a success. */
function allReads(send: Send, clinic: ContentionClinic): LoadCall {
  const day = bookingBody(clinic, 0).appointment_date
  const paths = ROUTES.filter(({ method }) => method === 'GET').map(({ id, path }) => {
    const found = path.replaceAll(/\{\w+\}/g, newUuid)
    return id === 'get-availability' ? `${found}?doctor_id=${clinic.doctors[0]}&date=${day}` : found
  })
  return async (index) => {
    const { statusCode } = await send(paths[index % paths.length] as string)
    return { statusCode: statusCode === 404 ? 200 : statusCode }
  }
}

type Send = ReturnType<typeof sender>

/** Sends a GET request, or a POST request with a body. The status is 0 if there is no response. */
function sender(api: string, authorization: string) {
  const agent = new Agent({ keepAlive: true })
  return (path: string, body?: object): Promise<{ statusCode: number }> =>
    new Promise((resolve) => {
      const headers = { authorization, ...(body && { 'content-type': 'application/json' }) }
      const sent = request(`${api}${path}`, { agent, headers, method: body ? 'POST' : 'GET' })
      sent.on('error', () => resolve({ statusCode: 0 }))
      sent.on('response', (response) => {
        response.on('close', () =>
          resolve({ statusCode: response.complete ? (response.statusCode ?? 0) : 0 }),
        )
        response.resume()
      })
      sent.end(body && JSON.stringify(body))
    })
}

function row({ label, served, rejected, failed, p50, p95, p99, cpu, megabytes, threads }: Line): string {
  const whole = (value: number) => Math.round(value).toLocaleString('en')
  const latencies = [p50, p95, p99].map(whole)
  return `| ${[label, served.toFixed(1), rejected, failed, ...latencies, cpu.toFixed(1), whole(megabytes), threads].join(' | ')} |`
}

const section = (lines: readonly Line[]): string =>
  [
    'Eight reads and two bookings in ten requests, or every endpoint that reads, in turn. They arrive at random, at `npm start` in a',
    'process of its own on the same machine.',
    'Latencies of successful responses in milliseconds; milliseconds of CPU for each request, and the most memory in MB, of the',
    "stack with its DynamoDB engine; threads of the stack, some ten of which are Node's own. Rejected are responses 429 and 503.",
    '',
    '| | served a second | rejected | failed | p50 | p95 | p99 | CPU | memory | threads |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...lines.map(row),
    '',
  ].join('\n')
