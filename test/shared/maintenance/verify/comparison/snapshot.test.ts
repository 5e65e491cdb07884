import { beforeAll, beforeEach, expect, it } from 'vitest'
import { snapshotOf } from '../../../../../shared/maintenance/verify/comparison/snapshot.ts'
import { ConditionFailed } from '../../../../../shared/store/table/errors.ts'
import type { Item } from '../../../../../shared/store/table/write-requests.ts'
import { tableOfFile } from '../../../../support/table.ts'
import { faultInjection } from './fault-injection.ts'

const db = tableOfFile()
const VERSIONED: Item = { pk: 'snapshot', sk: 'versioned', name: 'a', v: 1 }
const PLAIN: Item = { pk: 'snapshot', sk: 'plain', name: 'a', bits: new Uint8Array([1]) }
const MISSING: Item = { pk: 'snapshot', sk: 'missing' }
const ITEMS = [VERSIONED, PLAIN, MISSING]

let raw: ReturnType<typeof faultInjection>
beforeAll(() => {
  raw = faultInjection(db)
})
beforeEach(reset)

async function reset(): Promise<void> {
  await raw.put(VERSIONED)
  await raw.put(PLAIN)
  await raw.remove(MISSING)
}

async function readAll() {
  const snapshot = snapshotOf(db.table)
  for (const { pk, sk } of ITEMS) await snapshot.get({ pk, sk })
  return snapshot
}

it('writes, creates and deletes items that are as they were read', async () => {
  const snapshot = await readAll()
  expect(await snapshot.isCurrent()).toBe(true)
  await snapshot.write([db.table.putWrite({ ...VERSIONED, name: 'b', v: 2 }), db.table.deleteWrite(PLAIN)])
  expect(await db.table.getMany(ITEMS)).toEqual([{ ...VERSIONED, name: 'b', v: 2 }])
})

it.each([
  ['has another version', () => raw.alter(VERSIONED, () => ({ v: 2 }))],
  ['has another attribute and no version', () => raw.alter(PLAIN, () => ({ name: 'b' }))],
  ['was deleted', () => raw.remove(PLAIN)],
  ['was created', () => raw.put({ ...MISSING, v: 1 })],
])('rejects every write if an item that was read %s', async (_, change) => {
  for (const written of ITEMS) {
    const snapshot = await readAll()
    await change()
    expect(await snapshot.isCurrent()).toBe(false)
    await expect(snapshot.write([db.table.putWrite({ ...written, name: 'c' })])).rejects.toThrow(
      ConditionFailed,
    )
    await reset()
  }
})
