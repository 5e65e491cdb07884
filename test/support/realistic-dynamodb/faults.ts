import { seededRandom } from '../random.ts'
import type { DataOperation, EngineCall } from './call.ts'

/** A fault that is injected into a call. */
export type InjectedFault =
  /** The connection is cut before the engine gets the request. */
  | { readonly kind: 'request-lost' }
  /** The connection is cut when the engine has finished: a transaction or write that succeeded is committed. */
  | { readonly kind: 'response-lost' }
  /** 500 InternalServerError; the engine does not get the request. */
  | { readonly kind: 'error-before-commit' }
  /** 500 InternalServerError when the engine has finished. */
  | { readonly kind: 'error-after-commit' }
  | { readonly kind: 'throttled'; readonly error?: ThrottlingError }
  /** The transaction is cancelled with ThrottlingError at all items. */
  | { readonly kind: 'items-throttled' }
  /** TransactionInProgressException; the engine does not get the request. */
  | { readonly kind: 'transaction-in-progress' }
  /**
   * A batch leaves some of its items unprocessed, at least one; a Query or Scan returns a short page with a
   * LastEvaluatedKey. `processed` is the number of items that are processed or returned; drawn unless given.
   */
  | { readonly kind: 'partial-result'; readonly processed?: number }
  /** The call takes longer, with its items in flight. Before the commit unless said otherwise. */
  | { readonly kind: 'delayed'; readonly milliseconds: number; readonly point?: HoldPoint }
  /** The call waits until the test releases it, with its items in flight. Before the commit unless said otherwise. */
  | { readonly kind: 'held'; readonly point?: HoldPoint }

export type FaultKind = InjectedFault['kind']
export type HoldPoint = 'before-commit' | 'after-commit'
type ThrottlingError = 'ProvisionedThroughputExceededException' | 'ThrottlingException'

/** Which calls a fault is for; all that its kind applies to, unless narrowed. */
export type Selection = {
  readonly operation?: DataOperation | readonly DataOperation[]
  /** One of the call's keys begins with it: `pk|sk`. */
  readonly keyPrefix?: string
  readonly matches?: (call: EngineCall) => boolean
  /** How many calls get the fault; 1 unless given. */
  readonly times?: number
}

/** A fault that waits for its call. */
export type PlannedFault = {
  /** Resolves when a call gets the fault; for one that is held or delayed, when it waits with its items in flight. */
  readonly reached: Promise<void>
  /** Lets a held call continue, now or when it arrives. */
  readonly release: () => void
}

/** The probability of each kind, for a call to which it applies. Together at most 1. */
export type FaultRates = Readonly<Partial<Record<Exclude<FaultKind, 'held'>, number>>>

export type RandomFaults = {
  readonly seed: number
  readonly rates: FaultRates
  /** Delays are drawn from 1 to this; 50 unless given. */
  readonly maxDelayMs?: number
}

/** A fault as the proxy applies it to one call. */
export type AppliedFault = InjectedFault & { readonly reached: () => void; readonly released: Promise<void> }

export type Faults = {
  /** Plans a fault for a chosen call. */
  readonly next: (fault: InjectedFault & Selection) => PlannedFault
  /**
   * Draws faults. The fault of the n-th call of an operation depends on the seed alone, so a run with the same
   * calls has the same faults, in whatever order its operations mix.
   */
  readonly random: (options: RandomFaults) => void
  /** Forgets planned and random faults, and releases calls that are held. */
  readonly clear: () => void
}

type Plan = {
  readonly fault: InjectedFault
  readonly selection: Selection
  readonly reached: PromiseWithResolvers<void>
  readonly released: PromiseWithResolvers<void>
  toApply: number
}

export function createFaults(): Faults & { readonly take: (call: EngineCall) => AppliedFault | undefined } {
  let plans: Plan[] = []
  let draw: ((call: EngineCall) => InjectedFault | undefined) | undefined
  const releases = new Set<() => void>()

  return {
    next: (planned) => {
      const { operation, keyPrefix, matches, times = 1, ...fault } = planned
      const plan = {
        fault: fault as InjectedFault,
        selection: { operation, keyPrefix, matches } as Selection,
        reached: Promise.withResolvers<void>(),
        released: Promise.withResolvers<void>(),
        toApply: times,
      }
      plans.push(plan)
      releases.add(plan.released.resolve)
      return { reached: plan.reached.promise, release: plan.released.resolve }
    },
    random: (options) => {
      draw = randomFault(options)
    },
    clear: () => {
      plans = []
      draw = undefined
      for (const release of releases) release()
      releases.clear()
    },
    take: (call) => {
      const plan = plans.find(({ fault, selection }) => isSelected(call, fault.kind, selection))
      if (plan) {
        plan.toApply--
        if (plan.toApply <= 0) plans = plans.filter((other) => other !== plan)
        return { ...plan.fault, reached: plan.reached.resolve, released: plan.released.promise }
      }
      const fault = draw?.(call)
      return fault && { ...fault, reached: () => {}, released: Promise.resolve() }
    },
  }
}

function isSelected(
  call: EngineCall,
  kind: FaultKind,
  { operation, keyPrefix, matches }: Selection,
): boolean {
  if (!applies(kind, call)) return false
  if (operation !== undefined && ![operation].flat().includes(call.operation)) return false
  if (keyPrefix !== undefined && !call.items.some(({ key }) => key.startsWith(keyPrefix))) return false
  return matches?.(call) ?? true
}

/** Whether DynamoDB could do this to a call. */
function applies(kind: FaultKind, { operation, items }: EngineCall): boolean {
  switch (kind) {
    case 'transaction-in-progress':
      return operation === 'TransactWriteItems'
    case 'items-throttled':
      return operation === 'TransactWriteItems' || operation === 'TransactGetItems'
    case 'partial-result':
      if (operation === 'Query' || operation === 'Scan') return true
      return (operation === 'BatchGetItem' || operation === 'BatchWriteItem') && items.length > 1
    default:
      return true
  }
}

function randomFault({ seed, rates, maxDelayMs = 50 }: RandomFaults) {
  const generators = new Map<DataOperation, () => number>()
  return (call: EngineCall): InjectedFault | undefined => {
    const random = generators.get(call.operation) ?? seededRandom(seed, call.operation)
    generators.set(call.operation, random)
    // Each call draws the same number of values, so that a fault of one call does not change the next.
    const [chance, detail] = [random(), random()]
    let sum = 0
    for (const kind of Object.keys(rates).sort() as (keyof FaultRates)[]) {
      sum += rates[kind] ?? 0
      if (chance < sum) return applies(kind, call) ? detailed(kind, detail, maxDelayMs) : undefined
    }
    return undefined
  }
}

function detailed(kind: keyof FaultRates, detail: number, maxDelayMs: number): InjectedFault {
  switch (kind) {
    case 'delayed':
      return {
        kind,
        milliseconds: Math.ceil(detail * maxDelayMs),
        point: detail * 1000 - Math.floor(detail * 1000) < 0.5 ? 'before-commit' : 'after-commit',
      }
    case 'throttled':
      return { kind, error: detail < 0.5 ? 'ProvisionedThroughputExceededException' : 'ThrottlingException' }
    default:
      return { kind }
  }
}
