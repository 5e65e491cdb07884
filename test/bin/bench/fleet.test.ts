import { describe, expect, it } from 'vitest'
import { brokenBounds } from '../../../bin/bench/fleet/bounds.ts'
import { simulatedClock } from '../../../bin/bench/fleet/clock.ts'
import { simulateEmails } from '../../../bin/bench/fleet/emails.ts'
import { monthlyCosts } from '../../../bin/bench/fleet/prices.ts'
import { fleetSection } from '../../../bin/bench/fleet/report.ts'
import { type Scenario, simulate } from '../../../bin/bench/fleet/simulate.ts'

const SMALL: Scenario = {
  seed: 7,
  clinics: 200,
  eventsPerSecond: 10,
  hangingShare: 0.05,
  healthyMs: 30_000,
  hangingMs: 120_000,
  recoveryMs: 30_000,
  lanes: { quick: { batchSize: 10, maxConcurrency: 50 }, slow: { batchSize: 1, maxConcurrency: 100 } },
  sweepParts: 4,
}

const EMAILS = {
  emails: 1000,
  perSecond: 1,
  dueMs: 120_000,
  minRecheckMs: 900_000,
  maxRecheckMs: 3_600_000,
  sweptPerMinute: 10_000,
}

const section = async (scenario: Scenario): Promise<string> => {
  const simulation = await simulate(scenario)
  return fleetSection([{ name: 'small', simulation }], [], monthlyCosts(simulation))
}

describe('a small fleet', () => {
  it('keeps the bounds of innocent endpoints while one endpoint in twenty hangs', async () => {
    const simulation = await simulate(SMALL)
    expect(brokenBounds(simulation)).toEqual([])
    const { counts, open } = simulation.observed
    expect(counts.deliveries).toBeGreaterThan(3000)
    expect(counts.attempts).toBeGreaterThan(counts.deliveries)
    expect(counts.failed).toBe(0)
    expect(open.all).toBeLessThan(counts.deliveries / 5)
  })

  it('has the same result for the same seed, and another for another', async () => {
    const short = { ...SMALL, hangingMs: 30_000, recoveryMs: 10_000 }
    const first = await section(short)
    expect(await section(short)).toBe(first)
    expect(await section({ ...short, seed: 8 })).not.toBe(first)
  })

  it('exceeds the bounds when its functions are too few', async () => {
    const lanes = { ...SMALL.lanes, quick: { batchSize: 1, maxConcurrency: 2 } }
    expect(brokenBounds(await simulate({ ...SMALL, lanes }))).toContain('first attempts')
  })
})

describe('the simulated clock', () => {
  it('runs what is scheduled in order of time, with what follows from it', async () => {
    const clock = simulatedClock(1000)
    const seen: string[] = []
    clock.at(1030, () => seen.push(`c ${clock.now()}`))
    clock.at(1010, async () => {
      await clock.sleep(10)
      seen.push(`a ${clock.now()}`)
      await clock.sleep(0)
      seen.push(`b ${clock.now()}`)
    })
    clock.at(1030, () => seen.push(`d ${clock.now()}`))
    await clock.runUntil(1029)
    expect(seen).toEqual(['a 1020', 'b 1020'])
    await clock.runUntil(2000)
    expect(seen).toEqual(['a 1020', 'b 1020', 'c 1030', 'd 1030'])
    expect(clock.now()).toBe(2000)
  })
})

it('sends emails once each, at the rate of SES, however often the sweep queues them', () => {
  const { hoursUntilSent, hoursUntilEmpty, messagesPerEmail, sendsPerEmail } = simulateEmails(EMAILS)
  expect(sendsPerEmail).toBe(1)
  expect(messagesPerEmail).toBeGreaterThan(1.5)
  expect(hoursUntilSent).toBeCloseTo(1000 / 3600, 2)
  expect(hoursUntilEmpty).toBeCloseTo(hoursUntilSent, 2)
})
