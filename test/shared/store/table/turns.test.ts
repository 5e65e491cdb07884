import { beforeAll, describe, expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { patientTurnsKey } from '../../../../shared/store/keys/patients.ts'
import { ConditionFailed, UnavailableError } from '../../../../shared/store/table/errors.ts'
import { openTable, type Table } from '../../../../shared/store/table/table.ts'
import { Contended, retryInTurns, TURN_MS } from '../../../../shared/store/table/turns.ts'
import { freshTable, type TestTable } from '../../../support/table.ts'

let db: TestTable
let now = Date.parse('2026-05-01T07:00:00Z')
let table: Table
beforeAll(async () => {
  db = await freshTable()
  table = openTable(db.client, db.name, { now: () => now })
})

const newQueue = () => patientTurnsKey(newUuid() as ClinicId)

/** Sleeps move no clock: what is recorded is how long each writer waits. */
const recording = (waits: number[]) => ({
  now: () => 0,
  sleep: async (ms: number) => void waits.push(ms),
  random: () => 0,
})

const refusedOnce = () => {
  let runs = 0
  return async (inTurn: boolean) => {
    if (runs++ === 0) throw new ConditionFailed([0])
    return inTurn
  }
}

describe('writers of a contended item', () => {
  it('pay for no turn while they are not refused', async () => {
    const queue = newQueue()
    expect(await retryInTurns({ table, queue }, async (inTurn) => inTurn)).toBe(false)
    expect(await table.get(queue)).toBeUndefined()
  })

  it('get turns one after the other, none of them twice', async () => {
    const queue = newQueue()
    const waits: number[] = []
    const writers = Array.from({ length: 20 }, () =>
      retryInTurns({ table, queue, timing: recording(waits) }, refusedOnce()),
    )
    expect(await Promise.all(writers)).toEqual(Array(20).fill(true))
    expect(waits.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index * TURN_MS))
  })

  it('take a turn at once when they see that others do', async () => {
    const work = async (inTurn: boolean) => {
      if (!inTurn) throw new Contended()
      return 'done'
    }
    const timing = recording([])
    expect(await retryInTurns({ table, queue: newQueue(), timing }, work)).toBe('done')
  })

  it('start over with the first turn when the queue has been empty for a while', async () => {
    const queue = newQueue()
    const waits: number[] = []
    const timing = recording(waits)
    await retryInTurns({ table, queue, timing }, refusedOnce())
    now += 60_000
    await retryInTurns({ table, queue, timing }, refusedOnce())
    expect(waits).toEqual([0, 0])
  })

  it('are refused at once, without a turn, when the queue is longer than the retry budget', async () => {
    const queue = newQueue()
    const next = now + 3_600_000
    await table.transact([table.putWrite({ ...queue, next })])
    await expect(retryInTurns({ table, queue }, refusedOnce())).rejects.toThrow(UnavailableError)
    expect(await table.get(queue)).toMatchObject({ next })
  })

  it('throw errors that are no refusal as they are', async () => {
    const failing = async () => {
      throw new RangeError('not a refusal')
    }
    await expect(retryInTurns({ table, queue: newQueue() }, failing)).rejects.toThrow('not a refusal')
  })
})
