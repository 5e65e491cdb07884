/** How an operation of a history reaches the API and the operator tool, and how sure it can be of the outcome. */
import { CommandFailure } from '../../bin/clinic/tool/output.ts'
import { UnavailableError } from '../../shared/store/table/errors.ts'
import type { Table } from '../../shared/store/table/table.ts'
import type { FaultKind } from '../support/realistic-dynamodb/faults.ts'
import type { ClinicModel } from './model.ts'
import { demand } from './register.ts'
import type { CrashPoint } from './task.ts'
import type { ApiRequest, ApiResponse, World } from './world.ts'

/** One operation, as data: what it does to which records follows from its numbers and from what the history knows then. */
export type Operation = {
  readonly number: number
  readonly kind: string
  readonly clinic: 0 | 1
  /** From 0 to 1, to choose records and values by. */
  readonly random: readonly number[]
  /** With an Idempotency-Key: repeated until there is a response. */
  readonly keyed: boolean
  /** With an Idempotency-Key: sent twice at the same time, and once more afterwards. */
  readonly doubled: boolean
  readonly crash?: CrashPoint
  /** Faults of the next transactions, one after the other: the operation's own, unless others are faster. */
  readonly faults?: readonly TransactionFault[]
}

export type TransactionFault = { readonly kind: FaultKind; readonly times: number }

export type Run = {
  readonly world: World
  readonly clinic: ClinicModel
  readonly other: ClinicModel
  readonly operation: Operation
  readonly counts: Record<string, number>
}

/** The conclusion that a caller may draw: it was done, it was rejected and nothing was done, or either. */
export type Outcome =
  | { readonly kind: 'done'; readonly status: number; readonly body: any }
  | { readonly kind: 'rejected'; readonly status: number; readonly body: any }
  | { readonly kind: 'unknown' }

const MAX_REPETITIONS = 3

export const count = ({ counts }: Run, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1
}

export const pick = <T>(list: readonly T[], random: number | undefined): T | undefined =>
  list[Math.floor((random ?? 0) * list.length)]

type Input = Pick<ApiRequest, 'path' | 'query' | 'body' | 'ahead'>

/** Sends a request as a careful client does: with a key, it repeats a request whose outcome is unknown. */
export async function submit(run: Run, route: string, input: Input): Promise<Outcome> {
  const { operation } = run
  const isRepeatable = operation.keyed || operation.doubled
  const key = isRepeatable ? `key-${operation.number}` : undefined
  const sendOnce = (crash?: CrashPoint) => sendTo(run, { route, ...input, key }, crash)
  const crashes = operation.doubled ? [operation.crash, undefined] : [operation.crash]
  const outcomes = await Promise.all(crashes.map(sendOnce))
  for (let n = 0; isRepeatable && n < MAX_REPETITIONS && !outcomes.some(({ kind }) => kind === 'done'); n++)
    if (outcomes.some(({ kind }) => kind === 'unknown')) outcomes.push(await sendOnce())
  const done = outcomes.find(({ kind }) => kind === 'done')
  if (operation.doubled && done) {
    const again = await sendOnce()
    demand(
      again.kind !== 'rejected',
      () => `a repetition under the key was rejected: ${JSON.stringify(again)}`,
    )
    outcomes.push(again)
  }
  // A repetition does not show a secret that was replaced, or whose endpoint was deleted.
  const withoutSecret = (body: any) =>
    body?.data?.secret === undefined ? body : { ...body.data, secret: null }
  const essence = (body: any) => JSON.stringify(withoutSecret(body))
  for (const outcome of outcomes)
    if (outcome.kind === 'done' && done?.kind === 'done')
      demand(
        essence(outcome.body) === essence(done.body),
        () => `two responses under one key: ${JSON.stringify([done.body, outcome.body])}`,
      )
  return done ?? outcomes.find(({ kind }) => kind === 'unknown') ?? (outcomes[0] as Outcome)
}

async function sendTo(
  run: Run,
  request: Omit<ApiRequest, 'authorization'>,
  crash?: CrashPoint,
): Promise<Outcome> {
  const response = await run.world.send({ ...request, authorization: run.clinic.authorization }, crash)
  if (response === null) count(run, 'crashes')
  return outcomeOf(run, request.route, response)
}

function outcomeOf(run: Run, route: string, response: ApiResponse): Outcome {
  if (response === null) return { kind: 'unknown' }
  const { status, body, cause = 'an unknown error' } = response
  demand(status !== 500, () => `${route} returned 500: ${cause}`)
  if (status === 503 || status === 504) {
    count(run, `${status} of ${route} after ${nameOf(cause)}`)
    return { kind: 'unknown' }
  }
  // An erasure empties stored responses: the request may have been done.
  const hasErasure = run.clinic.patients.some(({ erasure }) => erasure !== 'none')
  const isEmptied = hasErasure && body?.error === 'IDEMPOTENCY_KEY_REUSED'
  if (isEmptied || body?.error === 'IDEMPOTENCY_IN_PROGRESS') return { kind: 'unknown' }
  return { kind: status < 300 ? 'done' : 'rejected', status, body }
}

/** The name of the error in a JSON line, or in the stack's log: below the line of the request. */
const nameOf = (logged: string): string =>
  /"origin":\{"name":"(\w+)"/.exec(logged)?.[1] ?? logged.split('\n')[1]?.trim() ?? logged

/** Reads, again while the store is not available; undefined if the process died or the store stays unavailable. */
export async function read(
  run: Run,
  route: string,
  input: Input = {},
): Promise<{ status: number; body: any } | undefined> {
  const outcome = await sendTo(run, { route, ...input }, run.operation.crash)
  return outcome.kind === 'unknown' ? undefined : outcome
}

export type CommandOutcome<T> =
  | { readonly kind: 'done'; readonly result: T }
  | { readonly kind: 'rejected' | 'unknown' }

/** Runs a command of the operator tool. It is rejected when it says why it does nothing. */
export async function command<T>(
  run: Run,
  work: (table: Table) => Promise<T>,
  crash = run.operation.crash,
): Promise<CommandOutcome<T>> {
  try {
    const outcome = await run.world.operate(work, crash)
    if (outcome !== 'crashed') return { kind: 'done', result: outcome.result }
    count(run, 'crashes')
  } catch (error) {
    if (error instanceof CommandFailure) return { kind: 'rejected' }
    if (!(error instanceof UnavailableError)) throw error
    count(run, 'commands that ended because the store was not available')
  }
  return { kind: 'unknown' }
}
