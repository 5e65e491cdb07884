import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { writeRows } from '../../test/support/imports.ts'
import type { Bench } from './report.ts'

/** A module that makes a process write its resource usage to file descriptor 3 when it exits. On Linux, `maxRSS` begins with that of its parent. */
const REPORT_USAGE = `data:text/javascript,${encodeURIComponent(
  `import { readFileSync, writeSync } from 'node:fs'
  const own = () => ({ maxRSS: Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) })
  const usage = () => ({ ...process.resourceUsage(), ...(process.platform === 'linux' && own()) })
  process.on('exit', () => writeSync(3, JSON.stringify(usage())))`,
)}`

/** Runs the operator tool on a table in a separate process, and measures its CPU time and peak memory. @throws if it fails */
export async function runTool(bench: Pick<Bench, 'endpoint' | 'tableName'>, args: string[]) {
  // Replaces the local stack: describes it to the operator tool, and receives the lines of the access trail.
  const stack = createServer((_, response) => {
    const endpoints = { dynamodb: bench.endpoint, logs: `http://127.0.0.1:${port}` }
    const outputs = { TableName: bench.tableName, OperatorLogGroup: 'bench' }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ region: 'us-east-1', outputs, endpoints, delivered: {} }))
  }).listen(0, '127.0.0.1')
  await once(stack, 'listening')
  const { port } = stack.address() as AddressInfo
  // The arguments of `npm run clinic`.
  const tool = ['--max-semi-space-size=8', '--import', REPORT_USAGE, 'bin/clinic.ts']
  const command = [...tool, '--port', String(port), '--json', ...args]
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] })
  const output = Promise.all([text(child.stdout as Readable), text(child.stdio[3] as Readable)])
  const [code] = await once(child, 'close')
  stack.close()
  const [stdout, usage] = await output
  if (code !== 0) throw new Error(`clinic ${args[0]} ended with code ${code}: ${stdout}`)
  const { userCPUTime, systemCPUTime, maxRSS }: NodeJS.ResourceUsage = JSON.parse(usage)
  const cpuMilliseconds = (userCPUTime + systemCPUTime) / 1000
  return { stdout, cpuMilliseconds, peakMegabytes: Math.round(maxRSS / 1024) }
}

/** Runs `clinic import` in a separate process, and measures its time and memory. */
export async function runImport(
  bench: Omit<Bench, 'table'>,
  { id }: Clinic,
  entity: string,
  rows: readonly object[],
) {
  const file = join(bench.folder, `${entity}.ndjson`)
  writeRows(file, rows)
  const run = await runTool(bench, ['import', '--yes', '--clinic', id, file])
  return { ...run, result: JSON.parse(run.stdout).data as Record<string, unknown> }
}
