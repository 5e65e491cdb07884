import { type Call, CONFLICT_MESSAGE, cancellation, errorReply, type Reply } from './call.ts'
import type { AppliedFault, HoldPoint } from './faults.ts'
import { type Hold, itemsInFlight } from './items-in-flight.ts'
import { type LatencyOptions, latency, pause } from './latency.ts'
import { partialBatch, partialResult, type Send, withoutMadeUpStart } from './partial-results.ts'
import { seededRandom } from './random.ts'
import { IN_PROGRESS, requestTokens } from './request-tokens.ts'

type Options = {
  readonly seed: number
  readonly latency: LatencyOptions
  readonly now: () => number
  readonly onConflict: (key: string) => void
}

type Engine = { readonly send: Send; readonly sortKey: () => Promise<string | undefined> }

/** Executes calls: with their latency, conflicts, tokens and the fault that each may have. */
export function createExecutor({ seed, latency: latencyOptions, now, onConflict }: Options) {
  const { draw, drawShare, refuse } = latency(latencyOptions, seed)
  const items = itemsInFlight(onConflict)
  const tokens = requestTokens(now)
  const random = seededRandom(seed, 'partial results')

  return async (call: Call, fault: AppliedFault | undefined, engine: Engine): Promise<Reply> => {
    const refusal = fault && replyBeforeEngine(call, fault)
    if (refusal) {
      await refuse()
      fault.reached()
      return refusal
    }
    const reply = await execute(call, fault, engine)
    if (fault?.kind !== 'response-lost' && fault?.kind !== 'error-after-commit') return reply
    fault.reached()
    return fault.kind === 'response-lost' ? 'disconnect' : INTERNAL_ERROR
  }

  function execute(call: Call, fault: AppliedFault | undefined, engine: Engine): Promise<Reply> {
    /** Through the engine, at some point of the call's latency. */
    const run = async (send: () => Promise<Reply>): Promise<Reply> => {
      const total = draw(call.operation)
      const before = Math.round(total * drawShare())
      await pause(before)
      await waitAt('before-commit', fault)
      const sentAt = performance.now()
      const reply = await send()
      const engineMs = performance.now() - sentAt
      await waitAt('after-commit', fault)
      await pause(Math.round(total - before - engineMs))
      return reply
    }
    switch (call.operation) {
      case 'TransactWriteItems':
        return transactWrite(call, engine, run)
      case 'TransactGetItems':
        return transactGet(call, engine, run)
      case 'BatchWriteItem':
        return batchWrite(call, run, (input) => sendPart({ ...call, input }, fault, engine))
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem':
        return singleWrite(call, engine, run)
      default:
        return run(() => sendPart({ ...call, input: withoutMadeUpStart(call.input) }, fault, engine))
    }
  }

  /** Sends what the fault lets through. */
  async function sendPart(
    call: Call,
    fault: AppliedFault | undefined,
    { send, sortKey }: Engine,
  ): Promise<Reply> {
    if (fault?.kind !== 'partial-result') return send(call.input)
    fault.reached()
    const { processed } = fault
    const isQuery = call.operation === 'Query'
    return partialResult(call, { processed, sortKey: isQuery ? await sortKey() : undefined, random, send })
  }

  async function transactWrite(call: Call, engine: Engine, run: Run): Promise<Reply> {
    const { ClientRequestToken, ...input } = call.input
    if (ClientRequestToken === undefined) return transact(call, () => engine.send(input), run)
    const token = tokens.begin(ClientRequestToken, input)
    if ('reply' in token) {
      await refuse()
      return token.reply
    }
    let reply: Reply = 'disconnect'
    try {
      reply = await transact(call, () => engine.send(input), run)
    } finally {
      token.finish(reply)
    }
    return reply
  }

  async function transact(call: Call, send: () => Promise<Reply>, run: Run): Promise<Reply> {
    const attempt = items.beginTransaction(call.items)
    if ('conflicts' in attempt) {
      await refuse()
      return conflictCancellation(call, attempt.conflicts)
    }
    return holding(attempt.hold, () => run(send))
  }

  async function transactGet(call: Call, engine: Engine, run: Run): Promise<Reply> {
    const read = items.beginTransactionalRead(call.items)
    const reply = await holding(read, async () => {
      if (read.conflicts.size === 0) return run(() => engine.send(call.input))
      await refuse()
      return undefined
    })
    return reply && read.conflicts.size === 0 ? reply : conflictCancellation(call, read.conflicts)
  }

  async function singleWrite(call: Call, engine: Engine, run: Run): Promise<Reply> {
    const { hold, conflicts } = items.beginWrites(call.items)
    return holding(hold, async () => {
      if (conflicts.size === 0) return run(() => engine.send(call.input))
      await refuse()
      return errorReply('TransactionConflictException', CONFLICT_MESSAGE)
    })
  }

  /** BatchWriteItem has no error for a conflict, so its items that conflict are left unprocessed. */
  async function batchWrite(call: Call, run: Run, send: Send): Promise<Reply> {
    const { hold, conflicts } = items.beginWrites(call.items)
    return holding(hold, () =>
      run(() =>
        conflicts.size === 0
          ? send(call.input)
          : partialBatch(call.input, (index) => !conflicts.has(index), send),
      ),
    )
  }
}

type Run = (send: () => Promise<Reply>) => Promise<Reply>

async function holding<T>({ release }: Hold, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    release()
  }
}

const conflictCancellation = ({ items }: Call, conflicts: ReadonlySet<number>): Reply =>
  cancellation(items.length, (index) => conflicts.has(index), 'TransactionConflict')

/** Waits where a fault delays or holds the call. */
async function waitAt(point: HoldPoint, fault: AppliedFault | undefined): Promise<void> {
  if (fault?.kind !== 'delayed' && fault?.kind !== 'held') return
  if ((fault.point ?? 'before-commit') !== point) return
  fault.reached()
  await (fault.kind === 'held' ? fault.released : pause(fault.milliseconds))
}

const INTERNAL_ERROR = errorReply('InternalServerError', 'Internal server error', { status: 500 })

/** The reply of a call that never reaches the engine; undefined when the fault is of another kind. */
function replyBeforeEngine({ items }: Call, fault: AppliedFault): Reply | undefined {
  switch (fault.kind) {
    case 'request-lost':
      return 'disconnect'
    case 'error-before-commit':
      return INTERNAL_ERROR
    case 'transaction-in-progress':
      return IN_PROGRESS
    case 'throttled':
      return errorReply(fault.error ?? 'ProvisionedThroughputExceededException', THROTTLED_MESSAGE)
    case 'items-throttled': {
      const { isThrottled = () => true } = fault
      return cancellation(items.length, (index) => isThrottled(items[index]?.key ?? ''), 'ThrottlingError')
    }
    default:
      return undefined
  }
}

const THROTTLED_MESSAGE = 'Throughput exceeds the current capacity of your table or index.'
