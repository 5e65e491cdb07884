import { expect, it } from 'vitest'
import { type FunctionLoad, nextStep } from '../../../../infra/local/functions/scheduler.ts'

const LIMITS = { loading: 2, loadingMs: 2000, environments: 6, running: 3, waiting: 100, scaleOutMs: 200 }

type Load = FunctionLoad & { readonly id: string }

/** A function whose invocations wait since these times. */
const functionWith = (id: string, since: readonly number[], state: Partial<FunctionLoad> = {}): Load => ({
  id,
  waiting: since.map((time) => ({ since: time })),
  loading: [],
  idle: 0,
  idleSince: 0,
  busy: 0,
  loadedAt: 0,
  maxEnvironments: 4,
  isPolled: false,
  ...state,
})

const stepAt = (now: number, ...functions: Load[]) => {
  const step = nextStep(functions, LIMITS, now)
  if ('run' in step) return `run ${step.run.id}`
  if (!('start' in step)) return step.at
  return step.end ? `end ${step.end.id}, start ${step.start.id}` : `start ${step.start.id}`
}

it('does nothing while no invocation waits', () => {
  expect(stepAt(1000, functionWith('a', [], { idle: 1 }))).toBe(Number.POSITIVE_INFINITY)
})

it('starts the first environment of a function at once', () => {
  expect(stepAt(1000, functionWith('a', [1000]))).toBe('start a')
})

it('runs the invocation that has waited longest of those with an idle environment', () => {
  const functions = [functionWith('a', [20], { idle: 1 }), functionWith('b', [10], { idle: 1 })]
  expect(stepAt(1000, functionWith('c', [0]), ...functions)).toBe('run b')
})

it('starts another environment when an invocation has waited for a busy one long enough', () => {
  const busy = functionWith('a', [1000], { busy: 1 })
  expect(stepAt(1100, busy)).toBe(1200)
  expect(stepAt(1200, busy)).toBe('start a')
})

it('waits as long again after a new environment was loaded', () => {
  expect(stepAt(1400, functionWith('a', [1000], { busy: 2, loadedAt: 1350 }))).toBe(1550)
})

it('starts no environment for invocations that loading ones will take', () => {
  expect(stepAt(5000, functionWith('a', [1000], { loading: [1000] }))).toBe(Number.POSITIVE_INFINITY)
  expect(stepAt(5000, functionWith('a', [1000, 1001], { loading: [1000] }))).toBe('start a')
})

it('starts first environments before further ones', () => {
  expect(stepAt(5000, functionWith('a', [1000], { busy: 1 }), functionWith('b', [4999]))).toBe('start b')
})

it('bounds the environments that load, over all functions', () => {
  const loading = [functionWith('a', [], { loading: [500] }), functionWith('b', [], { loading: [900] })]
  expect(stepAt(1000, ...loading, functionWith('c', [1000]))).toBe(2500)
  expect(stepAt(2500, ...loading, functionWith('c', [1000]))).toBe('start c')
  expect(
    stepAt(2500, ...loading, functionWith('c', [1000], { loading: [2500] }), functionWith('d', [2500])),
  ).toBe(2900)
})

it('ends the environment that has been idle longest for one beyond as many as may be', () => {
  const idle = [
    functionWith('a', [], { idle: 2, idleSince: 200, busy: 1 }),
    functionWith('b', [], { idle: 1, idleSince: 100 }),
  ]
  expect(stepAt(1000, ...idle, functionWith('c', [1000]))).toBe('start c')
  expect(
    stepAt(1000, ...idle, functionWith('d', [], { idle: 2, idleSince: 900 }), functionWith('c', [1000])),
  ).toBe('end b, start c')
  expect(stepAt(1000, functionWith('d', [], { busy: 6, isPolled: true }), functionWith('c', [1000]))).toBe(
    'start c',
  )
})

it('bounds the environments of a function', () => {
  expect(stepAt(5000, functionWith('a', [1000], { busy: 2, maxEnvironments: 2 }))).toBe(
    Number.POSITIVE_INFINITY,
  )
})

it('bounds the invocations that run, except those that queues feed', () => {
  const full = functionWith('a', [], { busy: 3 })
  expect(stepAt(5000, full, functionWith('b', [1000], { idle: 1 }))).toBe(Number.POSITIVE_INFINITY)
  expect(stepAt(5000, full, functionWith('b', [1000], { idle: 1, isPolled: true }))).toBe('run b')
  const polled = functionWith('a', [], { busy: 3, isPolled: true })
  expect(stepAt(5000, polled, functionWith('b', [1000], { idle: 1 }))).toBe('run b')
})
