import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** `npm start` without clinics, in a process of its own. */
export type LocalProcess = {
  readonly baseUrl: string
  /** Measures the process and its children until `end` is called. Linux only. */
  readonly measureUsage: () => { readonly end: () => Usage }
  readonly stop: () => Promise<void>
}

type Usage = {
  readonly cpuMilliseconds: number
  /** The most memory and threads at a time. */
  readonly megabytes: number
  readonly threads: number
}

const SAMPLE_MS = 200
/** The kernel's clock tick, and its page. */
const TICK_MS = 10
const PAGE_BYTES = 4096

export async function startLocalProcess(): Promise<LocalProcess> {
  const child = spawn(process.execPath, ['bin/local.ts', '--json', '--no-demo', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(() => ['{}']),
  ])) as [string]
  const { base_url: baseUrl } = JSON.parse(line) as { base_url?: string }
  if (!baseUrl) throw new Error(`The local stack did not start. ${errors}`)
  const pid = child.pid as number
  return {
    baseUrl,
    measureUsage: () => measureUsage(pid),
    stop: async () => {
      child.kill()
      await once(child, 'exit')
    },
  }
}

function measureUsage(pid: number): { end: () => Usage } {
  const before = sample(pid)
  let { megabytes, threads } = before
  const take = () => {
    const now = sample(pid)
    megabytes = Math.max(megabytes, now.megabytes)
    threads = Math.max(threads, now.threads)
    return now
  }
  const timer = setInterval(take, SAMPLE_MS)
  return {
    end: () => {
      clearInterval(timer)
      return { cpuMilliseconds: take().cpuMilliseconds - before.cpuMilliseconds, megabytes, threads }
    },
  }
}

/** The CPU time and memory of a process and its children, and the threads of the process (proc_pid_stat(5)). */
function sample(pid: number): Usage {
  const stats = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => statOf(id))
    .filter(({ id, parent }) => id === pid || parent === pid)
  const sum = (count: (stat: (typeof stats)[number]) => number) =>
    stats.reduce((total, stat) => total + count(stat), 0)
  return {
    cpuMilliseconds: sum(({ ticks }) => ticks) * TICK_MS,
    megabytes: Math.round((sum(({ pages }) => pages) * PAGE_BYTES) / 2 ** 20),
    threads: stats.find(({ id }) => id === pid)?.threads ?? 0,
  }
}

function statOf(id: string) {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const field = (number: number) => Number(fields[number - 3])
    const ticks = field(14) + field(15)
    return [{ id: Number(id), parent: field(4), ticks, threads: field(20), pages: field(24) }]
  } catch {
    return [] // The process has ended.
  }
}
