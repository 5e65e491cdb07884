import { describe, expect, it } from 'vitest'
import { fanOutClinics, sweepEvents } from '../../../shared/delivery/fan-out-clinics.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'

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
    },
  }
  const queues = { push: async () => {} }
  return { taken, sweep: { events, queues, now: () => time } }
}

describe('the sweep of events', () => {
  it('takes turns: a clinic with many events does not hold up the others', async () => {
    const { taken, sweep } = waiting({ large: 4, b: 1, c: 2 })
    await sweepEvents(sweep)
    expect(taken).toEqual(['large', 'b', 'c', 'large', 'c', 'large', 'large'])
  })

  it('does not repeat a clinic that failed, and fails after the others', async () => {
    const { taken, sweep } = waiting({ broken: -1, b: 3 })
    await expect(sweepEvents(sweep)).rejects.toThrow('no broken')
    expect(taken).toEqual(['broken', 'b', 'b', 'b'])
  })

  it('ends when its time is up', async () => {
    const { taken, sweep } = waiting({ a: 100, b: 100 }, 10_000)
    await sweepEvents(sweep)
    expect(taken).toEqual(['a', 'b', 'a', 'b', 'a', 'b'])
  })
})

describe('the fan-out of some clinics', () => {
  it('has one turn for each', async () => {
    const { taken, sweep } = waiting({ a: 5, b: 5 })
    await fanOutClinics(sweep, ['a', 'b'] as ClinicId[])
    expect(taken).toEqual(['a', 'b'])
  })
})
