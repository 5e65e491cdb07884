import { expect, it } from 'vitest'
import { coldStart } from '../../../shared/observability/cold-start.ts'

function invokeTwice(isStartedOnDemand: boolean) {
  const recorded: [string, number][] = []
  const report = coldStart(
    (name, ms) => recorded.push([name, ms]),
    isStartedOnDemand,
    () => 151.6,
  )
  report()
  report()
  return recorded
}

it('records the age of the process at its first invocation only', () => {
  expect(invokeTwice(true)).toEqual([['cold_start_ms', 152]])
})

it('records nothing for a process that was started ahead of its invocations', () => {
  expect(invokeTwice(false)).toEqual([])
})
