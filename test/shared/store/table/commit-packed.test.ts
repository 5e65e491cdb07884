import { describe, expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { commitPacked } from '../../../../shared/store/table/commit-packed.ts'
import { UnavailableError } from '../../../../shared/store/table/errors.ts'
import { mapConcurrent } from '../../../../shared/store/table/map-concurrent.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { Write } from '../../../../shared/store/table/write-requests.ts'
import { freshSdkTable, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile(freshSdkTable)

const clinic = newUuid() as ClinicId

/** The same table, which records the sizes of its transactions as JSON. */
function measured(table: Table) {
  const transactions: { items: number; bytes: number }[] = []
  const observed: Table = {
    ...table,
    tryTransact: async (writes: readonly Write[]) => {
      transactions.push({ items: writes.length, bytes: JSON.stringify(writes).length })
      await table.tryTransact(writes)
    },
  }
  return { observed, transactions }
}

const unit = (table: Table, sk: string, text: string) => {
  const changes = new Changeset(table, clinic)
  changes.put({ pk: 'packed', sk, text }, 'new')
  return { changes, rebuild: async () => changes }
}

describe('packing units into transactions', () => {
  it('starts another transaction when the items would have more than 4 MB together', async () => {
    const { observed, transactions } = measured(db.table)
    const units = Array.from({ length: 30 }, (_, n) => unit(observed, `large-${n}`, 'x'.repeat(390_000)))
    await commitPacked(observed, clinic, units)
    expect(transactions.map(({ items }) => items)).toEqual([8, 8, 8, 6])
    for (const { bytes } of transactions) expect(bytes).toBeLessThan(4 * 1024 * 1024)
    expect(await db.table.query({ pk: 'packed', limit: 100 })).toHaveLength(30)
  })

  it('starts another transaction after 100 items', async () => {
    const { observed, transactions } = measured(db.table)
    await commitPacked(
      observed,
      clinic,
      Array.from({ length: 150 }, (_, n) => unit(observed, `small-${n}`, 'x')),
    )
    expect(transactions.map(({ items }) => items)).toEqual([100, 50])
  })

  it('builds the units of a transaction while the one before is being committed, one at a time', async () => {
    const events: string[] = []
    const observed: Table = {
      ...db.table,
      tryTransact: async (writes: readonly Write[]) => {
        events.push('sent')
        await new Promise((resolve) => setTimeout(resolve, 20))
        await db.table.tryTransact(writes)
        events.push('committed')
      },
    }
    async function* units() {
      for (let n = 0; n < 250; n++) {
        if (n % 100 === 0) events.push('built')
        yield unit(observed, `built-${n}`, 'x')
      }
    }
    await commitPacked(observed, clinic, units())
    // A unit that no longer fits is the first of the next transaction.
    expect(events).toEqual('built built sent built committed sent committed sent committed'.split(' '))
  })

  it('throws the error of a transaction, and neither builds nor sends what comes after the next', async () => {
    let sent = 0
    let built = 0
    const failing: Table = {
      ...db.table,
      tryTransact: async () => {
        sent++
        throw new UnavailableError('down')
      },
    }
    async function* units() {
      for (; built < 1000; built++) yield unit(failing, `failing-${built}`, 'x')
    }
    await expect(commitPacked(failing, clinic, units())).rejects.toBeInstanceOf(UnavailableError)
    expect({ sent, built }).toEqual({ sent: 1, built: 200 })
  })

  it('throws the error of building a unit once the transaction before has ended', async () => {
    const { observed, transactions } = measured(db.table)
    async function* units() {
      for (let n = 0; n <= 100; n++) yield unit(observed, `half-${n}`, 'x')
      throw new Error('unreadable')
    }
    await expect(commitPacked(observed, clinic, units())).rejects.toThrow('unreadable')
    expect(transactions).toHaveLength(1)
    expect(await db.table.get({ pk: 'packed', sk: 'half-99' })).toBeDefined()
  })
})

it('mapConcurrent starts no further call after a failure, and throws once those that run have ended', async () => {
  const started: number[] = []
  const ended: number[] = []
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const work = async (item: number) => {
    started.push(item)
    if (item === 1) throw new UnavailableError('down')
    await held
    ended.push(item)
  }
  const all = mapConcurrent(2, [0, 1, 2, 3], work)
  const settled = all.then(
    () => 'resolved',
    () => `rejected after ${ended.join()}`,
  )
  await new Promise((resolve) => setImmediate(resolve))
  release()
  expect(await settled).toBe('rejected after 0')
  expect(started).toEqual([0, 1])
})
