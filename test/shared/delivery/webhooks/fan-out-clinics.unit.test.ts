import { describe, expect, it } from 'vitest'
import { fanOutClinics, sweepEvents } from '../../../../shared/delivery/webhooks/fan-out-clinics.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')

/** Clinics that need so many turns each; a negative number fails at every turn. */
function waiting(turns: Record<string, number>, msPerTurn = 0) {
  const taken: string[] = []
  let time = NOW
  const events = {
    clinicsWithAnnounced: async () =>
      Object.keys(turns).filter((clinic) => turns[clinic] !== 0) as ClinicId[],
    fanOut: async (clinic: ClinicId) => {
      taken.push(clinic)
      time += msPerTurn
      if ((turns[clinic] ?? 0) < 0) throw new Error(`no ${clinic}`)
      turns[clinic] = (turns[clinic] ?? 0) - 1
      return turns[clinic] !== 0
    },
  }
  const queues = { push: async () => {} }
  return { taken, sweep: { events, queues, now: () => time } }
}

describe('the sweep of events', () => {
  it('takes turns: a clinic with many events does not hold up the others', async () => {
    const others = Object.fromEntries(Array.from({ length: 19 }, (_, n) => [`c${n}`, 1]))
    const { taken, sweep } = waiting({ large: 4, ...others })
    await sweepEvents(sweep)
    expect(new Set(taken.slice(0, 20)).size).toBe(20)
    expect(taken.slice(20)).toEqual(['large', 'large', 'large'])
  })

  it('does not repeat a clinic that failed, and fails after the others', async () => {
    const { taken, sweep } = waiting({ broken: -1, b: 3 })
    await expect(sweepEvents(sweep)).rejects.toThrow('no broken')
    expect(taken).toEqual(['broken', 'b', 'b', 'b'])
  })

  it('ends when its time is up', async () => {
    const { taken, sweep } = waiting({ a: 100, b: 100 }, 10_000)
    await sweepEvents(sweep)
    // Two at a time, so that a last turn can begin just before the end.
    expect(taken.length).toBeGreaterThanOrEqual(5)
    expect(taken.length).toBeLessThanOrEqual(6)
    expect(new Set(taken)).toEqual(new Set(['a', 'b']))
  })

  it('starts with other clinics in the next minute', async () => {
    const all = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`c${n}`, 1]))
    const firsts = [0, 1, 2].map(async (minute) => {
      const { taken, sweep } = waiting({ ...all })
      await sweepEvents({ ...sweep, now: () => NOW + minute * 60_000 })
      expect(new Set(taken).size).toBe(100)
      return taken[0]
    })
    expect(new Set(await Promise.all(firsts)).size).toBe(3)
  })
})

it.each([
  [[NOW - 500, NOW - 90_000, NOW - 20], 90_000],
  [[], 0],
  // A clock ahead of the sweep's clock.
  [[NOW + 100], 0],
])('the lag of the sweep of events announced at %j is %i ms', async (announced, expected) => {
  const { sweep } = waiting({ a: 1 })
  const lags: number[] = []
  const clinicsWithAnnounced = async ({ onRead }: { onRead: (announcedAt: number) => void }) => {
    for (const at of announced) onRead(at)
    return ['a'] as ClinicId[]
  }
  const events = { ...sweep.events, clinicsWithAnnounced }
  await sweepEvents({ ...sweep, events, reportLag: (ms) => lags.push(ms) })
  expect(lags).toEqual([expected])
})

it('the fan-out of some clinics processes each once, and fails after the others if one fails', async () => {
  const { taken, sweep } = waiting({ broken: -1, b: 2, c: 1 })
  await expect(fanOutClinics(sweep, ['broken', 'b', 'c'] as ClinicId[])).rejects.toThrow('no broken')
  expect(taken).toEqual(['broken', 'b', 'c'])
})
