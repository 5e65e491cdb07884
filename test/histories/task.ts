/** Calls of handlers and commands of a history, each in a process of its own that may die at any call it makes. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Providers } from './providers.ts'

/** The process dies at its `call`-th call of the store or of a provider: before it, or when it has taken effect. */
export type CrashPoint = { readonly call: number; readonly point: 'before' | 'after' }

/** The resources that the processes of one history share. */
export type Surroundings = {
  /** Reaches the table through the proxy that conflicts and fails. */
  readonly client: DynamoDBDocumentClient
  readonly providers: Providers
  /** Milliseconds that the clock of the history is ahead. */
  clockOffset: number
  /** Log lines of unexpected errors. */
  readonly errors: string[]
}

type Task = {
  readonly surroundings: Surroundings
  readonly crash: CrashPoint | undefined
  readonly die: () => void
  calls: number
  isDead: boolean
}

const tasks = new AsyncLocalStorage<Task>()

export const CRASHED = Symbol('crashed')

const never = <T>(): Promise<T> => new Promise(() => {})

/** Runs work as one process. Returns {@link CRASHED} as soon as the process has died. */
export async function runTask<T>(
  surroundings: Surroundings,
  crash: CrashPoint | undefined,
  work: () => Promise<T>,
): Promise<T | typeof CRASHED> {
  const death = Promise.withResolvers<typeof CRASHED>()
  const task: Task = { surroundings, crash, die: () => death.resolve(CRASHED), calls: 0, isDead: false }
  return Promise.race([tasks.run(task, work), death.promise])
}

/** A call that leaves the process. A process that has died makes no further call, and none of its calls returns. */
export async function outgoing<T>(act: (surroundings: Surroundings) => Promise<T>): Promise<T> {
  const task = tasks.getStore()
  if (!task) throw new Error('a call was made outside of a task')
  if (task.isDead) return never()
  task.calls++
  const isLast = task.calls === task.crash?.call
  if (isLast && task.crash?.point === 'before') return end(task)
  try {
    return await act(task.surroundings)
  } finally {
    // Also when the call failed: the process dies before it can react.
    if (isLast) await end(task)
    else if (task.isDead) await never()
  }
}

function end<T>(task: Task): Promise<T> {
  task.isDead = true
  task.die()
  return never()
}

/** The client that all functions and stores of a history use. */
export const taskClient = {
  send: (...parameters: Parameters<DynamoDBDocumentClient['send']>) =>
    outgoing(({ client }) => client.send(...parameters) as unknown as Promise<unknown>),
} as unknown as DynamoDBDocumentClient

/** The clock of the history, in milliseconds since the epoch. */
export const taskNow = (): number => Date.now() + (tasks.getStore()?.surroundings.clockOffset ?? 0)

/** Keeps what the functions log about unexpected errors. */
export function recordLogLine(line: Record<string, unknown>): void {
  if (line.level === 'error') tasks.getStore()?.surroundings.errors.push(JSON.stringify(line))
}
