import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'

/** A run of the operator tool in a separate process. */
export type ToolRun = {
  readonly code: number | null
  readonly stdout: string
  readonly seconds: number
  /** CPU time of the process in user and in system mode. */
  readonly cpuSeconds: number
  readonly peakMegabytes: number
}

/** A module that makes a process write its resource usage to file descriptor 3 when it exits. */
const REPORT_USAGE = `data:text/javascript,${encodeURIComponent(
  `import { writeSync } from 'node:fs'
  process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())))`,
)}`

/** Runs the operator tool on a table in a separate process, and measures its time and memory. */
export async function runTool(
  endpoint: string,
  tableName: string,
  args: readonly string[],
): Promise<ToolRun> {
  // Replaces the local stack: describes it to the operator tool, and receives the lines of the access trail.
  const stack = createServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        region: 'us-east-1',
        outputs: { TableName: tableName, OperatorLogGroup: 'bench' },
        endpoints: { dynamodb: endpoint, logs: `http://127.0.0.1:${port()}` },
        delivered: {},
      }),
    )
  }).listen(0, '127.0.0.1')
  const port = (): number => (stack.address() as AddressInfo).port
  await once(stack, 'listening')
  const started = performance.now()
  const child = spawn(
    process.execPath,
    ['--import', REPORT_USAGE, ...operatorTool(), '--port', String(port()), '--json', ...args],
    { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] },
  )
  const [stdout, usage] = [textOf(child.stdout as Readable), textOf(child.stdio[3] as Readable)]
  const [code] = (await once(child, 'close')) as [number | null]
  stack.close()
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(await usage) as NodeJS.ResourceUsage
  return {
    code,
    stdout: await stdout,
    seconds: (performance.now() - started) / 1000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakMegabytes: Math.round(maxRSS / 1024),
  }
}

export type ImportRun = {
  readonly seconds: number
  readonly peakMegabytes: number
  readonly cpuMilliseconds: number
  readonly result: Record<string, unknown>
}

/** Runs `clinic import` in a separate process, and measures its time and memory. */
export async function runImport(
  endpoint: string,
  tableName: string,
  clinic: string,
  file: string,
): Promise<ImportRun> {
  const args = ['import', '--clinic', clinic, file]
  const { code, stdout, seconds, cpuSeconds, peakMegabytes } = await runTool(endpoint, tableName, args)
  if (code !== 0) throw new Error(`the import ended with code ${code}`)
  const result = JSON.parse(stdout) as Record<string, unknown>
  return { seconds, peakMegabytes, cpuMilliseconds: cpuSeconds * 1000, result }
}

async function textOf(stream: Readable): Promise<string> {
  let text = ''
  for await (const chunk of stream.setEncoding('utf8')) text += chunk
  return text
}

/** The Node arguments of `npm run clinic`. */
function operatorTool(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { clinic: string } }
  return scripts.clinic.split(' ').slice(1)
}
