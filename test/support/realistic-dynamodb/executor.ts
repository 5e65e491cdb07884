import { seededRandom } from '../random.ts'
import { cancellation, type DataOperation, type EngineCall, errorReply, type Reply } from './call.ts'
import { conflictGuard } from './conflicts.ts'
import type { AppliedFault, HoldPoint } from './faults.ts'
import { type LatencyOptions, latency, pause } from './latency.ts'
import { type EngineSend, partialBatch, partialResult, withoutMadeUpStart } from './partial-results.ts'
import { IN_PROGRESS, requestTokens } from './request-tokens.ts'

type Options = {
  readonly latency: LatencyOptions
  readonly onConflict: (key: string) => void
}

type Engine = { readonly send: EngineSend; readonly sortKey: () => Promise<string | undefined> }

/** Executes calls: with their latency, conflicts, tokens and the fault that each may have. */
export function createExecutor({ latency: latencyOptions, onConflict }: Options) {
  const { draw, drawShare, reject } = latency(latencyOptions)
  const guard = conflictGuard({ onConflict, reject })
  const tokens = requestTokens()
  const random = seededRandom(1, 'partial results')

  return async (call: EngineCall, fault: AppliedFault | undefined, engine: Engine): Promise<Reply> => {
    const rejection = fault && replyBeforeEngine(call, fault)
    if (rejection) {
      await reject()
      fault.reached()
      return rejection
    }
    const reply = await execute(call, engine, fault)
    if (fault?.kind !== 'response-lost' && fault?.kind !== 'error-after-commit') return reply
    fault.reached()
    return fault.kind === 'response-lost' ? 'disconnect' : INTERNAL_ERROR
  }

  function execute(call: EngineCall, engine: Engine, fault: AppliedFault | undefined): Promise<Reply> {
    const run: Run = (send) => runInTime(call.operation, send, fault)
    const send = () => engine.send(call.input)
    switch (call.operation) {
      case 'TransactWriteItems':
        return transactWrite(call, engine, run)
      case 'TransactGetItems':
        return guard.transactionalRead(call, () => run(send))
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem':
        return guard.singleWrite(call, () => run(send))
      case 'BatchWriteItem':
        return guard.batchWrite(call, (conflicts) =>
          run(() =>
            conflicts.size === 0
              ? sendPart(call, engine, fault)
              : partialBatch(call.input, (index) => !conflicts.has(index), engine.send),
          ),
        )
      default:
        return run(() => sendPart({ ...call, input: withoutMadeUpStart(call.input) }, engine, fault))
    }
  }

  /** Sends a request at some point of its latency. */
  async function runInTime(
    operation: DataOperation,
    send: () => Promise<Reply>,
    fault: AppliedFault | undefined,
  ): Promise<Reply> {
    const total = draw(operation)
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

  /** Sends what the fault lets through. */
  async function sendPart(call: EngineCall, engine: Engine, fault: AppliedFault | undefined): Promise<Reply> {
    if (fault?.kind !== 'partial-result') return engine.send(call.input)
    fault.reached()
    const sortKey = call.operation === 'Query' ? await engine.sortKey() : undefined
    return partialResult(call, { processed: fault.processed, sortKey, random, send: engine.send })
  }

  /** The engine does not get the token: what it means is decided here. */
  async function transactWrite(call: EngineCall, engine: Engine, run: Run): Promise<Reply> {
    const { ClientRequestToken, ...input } = call.input
    const transact = () => guard.transaction(call, () => run(() => engine.send(input)))
    if (ClientRequestToken === undefined) return transact()
    const token = tokens.begin(ClientRequestToken)
    if ('reply' in token) {
      await reject()
      return token.reply
    }
    let reply: Reply = 'disconnect'
    try {
      reply = await transact()
    } finally {
      token.finish(reply)
    }
    return reply
  }
}

type Run = (send: () => Promise<Reply>) => Promise<Reply>

/** Waits where a fault delays or holds the call. */
async function waitAt(point: HoldPoint, fault: AppliedFault | undefined): Promise<void> {
  if (fault?.kind !== 'delayed' && fault?.kind !== 'held') return
  if ((fault.point ?? 'before-commit') !== point) return
  fault.reached()
  await (fault.kind === 'held' ? fault.released : pause(fault.milliseconds))
}

const INTERNAL_ERROR = errorReply('InternalServerError', 'Internal server error', { status: 500 })

/** The reply of a call that never reaches the engine; undefined when the fault is of another kind. */
function replyBeforeEngine({ items }: EngineCall, fault: AppliedFault): Reply | undefined {
  switch (fault.kind) {
    case 'request-lost':
      return 'disconnect'
    case 'error-before-commit':
      return INTERNAL_ERROR
    case 'transaction-in-progress':
      return IN_PROGRESS
    case 'throttled':
      return errorReply(fault.error ?? 'ProvisionedThroughputExceededException', THROTTLED_MESSAGE)
    case 'items-throttled':
      return cancellation(items.length, () => true, 'ThrottlingError')
    default:
      return undefined
  }
}

const THROTTLED_MESSAGE = 'Throughput exceeds the current capacity of your table or index.'
