/** Holds a process to a share of one core, by signals: a quota of a control group needs rights that a bench may not have. Linux only. */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** Lambda allots the CPU time of a function in periods of this length. */
const PERIOD_MS = 20

/** A function with this memory has one core (Lambda Developer Guide, "Configure Lambda function memory"). */
const MEGABYTES_PER_CORE = 1769

/** The share of one core that a function has after its start, by its memory. */
export const cpuShare = (megabytes: number): number => Math.min(1, megabytes / MEGABYTES_PER_CORE)

/**
 * Stops the process in each period when it has used its share, until it ends. What it uses too much is taken from later
 * periods; what it does not use is lost.
 */
export async function holdToShare(pid: number, share: number): Promise<void> {
  try {
    let allowed = usedMs(pid)
    for (;;) {
      const end = performance.now() + PERIOD_MS
      allowed = Math.min(usedMs(pid), allowed) + share * PERIOD_MS
      if (usedMs(pid) < allowed) process.kill(pid, 'SIGCONT')
      while (performance.now() < end) {
        if (usedMs(pid) >= allowed) process.kill(pid, 'SIGSTOP')
        await sleep(1)
      }
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['ENOENT', 'ESRCH'].includes(code)) throw error
  }
}

/** The CPU time of all threads of a process, in milliseconds. @throws Error when the process has ended */
const usedMs = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce(
    (sum, thread) =>
      sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    0,
  )
