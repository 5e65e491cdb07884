/** The functions of a local stack: killed at some moment, invoked as their schedule does, and moved ahead in time. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RunningStack } from '../support/local-stack.ts'

/** From the moment a function is killed until its threads have ended. */
type Kill = { readonly id: string; readonly start: number; end: number }

export function stackFunctions(stack: RunningStack) {
  const kills: Kill[] = []

  /** The CDK leaves hyphens out of logical ids. */
  const find = (id: string) => {
    const pattern = new RegExp(`${id.replaceAll('-', '')}Function[0-9A-F]{8}$`)
    const found = [...stack.functions()].filter(([logicalId]) => pattern.test(logicalId))
    if (found.length !== 1) throw new Error(`${found.length} functions are called ${id}`)
    return (found[0] as (typeof found)[number])[1]
  }

  async function kill(id: string): Promise<void> {
    const record = { id, start: performance.now(), end: Number.POSITIVE_INFINITY }
    kills.push(record)
    await find(id).kill()
    record.end = performance.now()
  }

  return {
    kill,
    killAfter: async (id: string, milliseconds: number): Promise<void> => {
      await sleep(milliseconds)
      await kill(id)
    },
    /** Whether the function was killed at some time since then. */
    wasKilled: (id: string, since: number): boolean => kills.some((one) => one.id === id && one.end >= since),
    killCount: (): number => kills.length,
    /** Runs a function as the schedule of the stack does. Returns whether it succeeded. */
    run: async (id: string): Promise<boolean> => (await find(id).invoke('{}')).ok,
  }
}
