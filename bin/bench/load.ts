/** `npm run bench -- --load`: what the local stack serves of reads and bookings that arrive at random. Linux only. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { SeededStack } from '../../infra/local/stack.ts'
import { BASE_PATH } from '../../shared/api/route.ts'
import { onTable } from '../local/clinics.ts'
import { type LoadCall, type Outcome, sustained } from './contention-load.ts'
import { bookingBody, type OpenClinic, openBusyClinic } from './records.ts'
import { type Measured, sectionOf } from './report.ts'

type Line = {
  readonly label: string
  readonly offered: number
  /** Successful responses a second. */
  readonly served: number
  readonly rejected: number
  /** Responses that neither are successful nor ask the caller to retry later. */
  readonly failed: number
  readonly latencies: Outcome['latencies']
  readonly megabytes: number
}

const RATES = [25, 50, 75, 100, 150, 200, 300, 450]
const SECONDS = 20

/** Milliseconds by requests a second. */
const P99_BOUNDS: Readonly<Record<string, number>> = { '100 a second': 150, '150 a second': 250 }
const MAX_MEGABYTES = 1200
/** The share of the best rate that is served at any higher one. */
const OVERLOAD_GOODPUT = 0.9

export async function measureLoad(): Promise<Measured> {
  // `npm start` without clinics, in a process of its own.
  const command = ['bin/local.ts', '--json', '--no-demo', '--port', '0']
  const stack = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(stack, 'exit')
  const lines: Line[] = []
  try {
    const ready = { signal: AbortSignal.timeout(60_000) }
    const [line] = (await once(createInterface(stack.stdout), 'line', ready)) as [string]
    const { base_url: baseUrl }: { base_url: string } = JSON.parse(line)
    const about = (await (await fetch(`${baseUrl}/_local`)).json()) as SeededStack
    const clinic = await onTable(about, openBusyClinic)
    const send = sender(`${baseUrl}${BASE_PATH}`, clinic.credential.headers)
    const mixed = mixedRequests(send, clinic)
    const measure = async (label: string, offered: number) => {
      const { statuses, latencies, seconds } = await sustained(offered, SECONDS, mixed)
      const counts = { served: 0, rejected: 0, failed: 0 }
      for (const [status, count] of statuses) counts[kindOf(status)] += count
      const megabytes = Math.round(peakMegabytes(stack.pid ?? 0))
      lines.push({ label, offered, ...counts, served: counts.served / seconds, latencies, megabytes })
    }
    await measure('100 a second, just started', 100)
    for (const rate of RATES) await measure(`${rate} a second`, rate)
  } finally {
    stack.kill()
    await ended
  }
  const rows = lines.map(({ label, served, rejected, failed, latencies: { p50, p95, p99 }, megabytes }) => [
    ...[label, served.toFixed(1), rejected, failed, p50, p95, p99, megabytes],
  ])
  return { section: sectionOf(INTRODUCTION, HEAD, rows), failures: brokenBounds(lines) }
}

function kindOf(status: number): 'served' | 'rejected' | 'failed' {
  if (status === 429 || status === 503) return 'rejected'
  return status >= 200 && status < 300 ? 'served' : 'failed'
}

/** The most memory that a process and its children have had so far, each by itself (proc_pid_status(5)). */
function peakMegabytes(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/)
  const kilobytes = [pid, ...children].map((id) =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]),
  )
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1024
}

function brokenBounds(lines: readonly Line[]): string[] {
  const best = Math.max(...lines.map(({ served }) => served))
  return lines.flatMap(({ label, offered, served, failed, latencies: { p99 }, megabytes }) => [
    ...(failed > 0 ? [`${label}: ${failed} requests failed`] : []),
    ...(p99 > (P99_BOUNDS[label] ?? Number.POSITIVE_INFINITY) ? [`${label}: p99 exceeds its bound`] : []),
    ...(megabytes > MAX_MEGABYTES ? [`${label}: ${megabytes} MB`] : []),
    ...(offered > best && served < OVERLOAD_GOODPUT * best
      ? [`${label}: ${served.toFixed(1)} served a second are under 90 % of ${best.toFixed(1)}`]
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
    return send(reads[index % reads.length] ?? '')
  }
}

type Send = ReturnType<typeof sender>

/** Sends a GET request, or a POST request with a body. The status is 0 if there is no response. */
const sender =
  (api: string, credential: Record<string, string>) =>
  (path: string, body?: object): Promise<{ status: number }> => {
    const headers = { ...credential, 'content-type': 'application/json' }
    const init = body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers }
    return fetch(`${api}${path}`, init)
      .then(async (response) => (await response.arrayBuffer()) && response)
      .catch(() => ({ status: 0 }))
  }

const HEAD = ['', 'served a second', 'rejected', 'failed', 'p50', 'p95', 'p99', 'memory']
const INTRODUCTION = `Eight reads and two bookings in ten requests, in turn. They arrive at random, at \`npm start\` in a
process of its own on the same machine. Latencies of successful responses in milliseconds; the most memory so far in MB, of the
stack with its DynamoDB engine. Rejected are responses 429 and 503.`
