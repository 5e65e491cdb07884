import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ImportRun = {
  readonly seconds: number
  readonly peakMegabytes: number | null
  /** CPU time of the import; null where the system does not report it. */
  readonly cpuMilliseconds: number | null
  readonly result: Record<string, unknown>
}

/** Runs `clinic import` in a process of its own and measures its memory. */
export async function runImport(
  endpoint: string,
  tableName: string,
  clinic: string,
  file: string,
): Promise<ImportRun> {
  // Replaces the local stack: describes it to the operator tool, and takes the lines of its access trail.
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
    [...operatorTool(), '--port', String(port()), '--json', 'import', '--clinic', clinic, file],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let peak: number | null = null
  let cpu: number | null = null
  const watch = setInterval(() => {
    peak = peakMemoryOf(child.pid) ?? peak
    cpu = cpuMillisecondsOf(child.pid) ?? cpu
  }, 50)
  let stdout = ''
  child.stdout.on('data', (text) => {
    stdout += text
  })
  const [code] = await once(child, 'close')
  clearInterval(watch)
  stack.close()
  if (code !== 0) throw new Error(`the import ended with code ${code}`)
  return {
    seconds: (performance.now() - started) / 1000,
    peakMegabytes: peak,
    cpuMilliseconds: cpu,
    result: JSON.parse(stdout) as Record<string, unknown>,
  }
}

/** The Node arguments of `npm run clinic`. */
function operatorTool(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { clinic: string } }
  return scripts.clinic.split(' ').slice(1)
}

/** The kernel counts the CPU time of processes in hundredths of a second. */
const TICK_MILLISECONDS = 10

/** CPU time of a process and its threads so far, or null where the system does not report it. */
export function cpuMillisecondsOf(pid: number | undefined): number | null {
  try {
    // The name of the program comes before the last bracket, and may have spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const [user, system] = [fields[11], fields[12]].map(Number)
    return ((user ?? Number.NaN) + (system ?? Number.NaN)) * TICK_MILLISECONDS
  } catch {
    return null
  }
}

/** Peak memory of a process, or null where the system does not report it. */
function peakMemoryOf(pid: number | undefined): number | null {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kilobytes ? Math.round(Number(kilobytes) / 1024) : null
  } catch {
    return null
  }
}
