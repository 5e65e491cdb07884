import { describe, expect, it } from 'vitest'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { commitPacked, type Unit } from '../../../../shared/store/table/commit-packed.ts'
import { ConditionFailed, WriteConflict } from '../../../../shared/store/table/errors.ts'
import { retryOnConflict } from '../../../../shared/store/table/retries.ts'
import { openTable } from '../../../../shared/store/table/table.ts'
import {
  MAX_CHANGE_AGE_MS,
  MAX_TRANSACTION_MS,
  VISIBILITY_DELAY_MS,
} from '../../../../shared/store/table/visibility-delay.ts'
import { freshSdkTable, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile(freshSdkTable)

const clinic = newUuid() as ClinicId
const newKey = () => ({ pk: 'changed', sk: newUuid() })
const changeset = (build: (changes: Changeset) => void): Changeset => {
  const changes = new Changeset(db.table, clinic)
  build(changes)
  return changes
}

describe('merging two changesets', () => {
  it('adds up what both add to one item', async () => {
    const key = newKey()
    const merged = changeset((changes) => changes.add(key, 'n', 1))
    expect(merged.merge(changeset((changes) => changes.add(key, 'n', 2)))).toBe(true)
    await merged.commit()
    expect(await db.table.get(key)).toMatchObject({ n: 3, v: 1 })
  })

  it.each([
    ['different versions', 1],
    ['the same version', 2],
  ])('is rejected, and changes nothing, when both require %s of an item they change', async (_, version) => {
    const key = newKey()
    const [mine, theirs] = [2, version].map((read, index) =>
      changeset((changes) => {
        changes.set(key, `by${index}`, true)
        changes.expectVersion(key, read)
      }),
    ) as [Changeset, Changeset]
    const before = mine.writes()
    expect(mine.merge(theirs)).toBe(false)
    expect(mine.writes()).toEqual(before)
  })

  it('is rejected when both limit the counter that they add to', () => {
    const key = newKey()
    const limited = () =>
      changeset((changes) => {
        changes.add(key, 'n', 1)
        changes.limitCounter(key, 'n', 1)
      })
    expect(limited().merge(limited())).toBe(false)
  })

  it('is rejected when one changes an item that the other writes or requires to be unchanged', () => {
    const key = newKey()
    const updating = () => changeset((changes) => changes.add(key, 'n', 1))
    const others = [
      () => changeset((changes) => changes.requireVersion(key, 1)),
      () => changeset((changes) => changes.put({ ...key, n: 7 })),
    ]
    for (const other of others) {
      expect(updating().merge(other())).toBe(false)
      expect(other().merge(updating())).toBe(false)
    }
  })

  it('keeps the requirement of either when only one has it', async () => {
    const key = newKey()
    await db.table.transact([db.table.putWrite({ ...key, v: 3 })])
    const outdated = () =>
      changeset((changes) => {
        changes.set(key, 'a', true)
        changes.expectVersion(key, 2)
      })
    const unconditional = () => changeset((changes) => changes.set(key, 'b', true))
    for (const [mine, theirs] of [
      [outdated(), unconditional()],
      [unconditional(), outdated()],
    ] as const) {
      expect(mine.merge(theirs)).toBe(true)
      await expect(mine.commit()).rejects.toThrow(ConditionFailed)
    }
  })
})

describe('changing one item in a changeset', () => {
  it('checks both its version and the limit of its counter', async () => {
    const key = newKey()
    await db.table.transact([db.table.putWrite({ ...key, v: 3, n: 1 })])
    const commit = (version: number, limit: number) =>
      changeset((changes) => {
        changes.add(key, 'n', 1)
        changes.expectVersion(key, version)
        changes.limitCounter(key, 'n', limit)
      }).commit()
    await expect(commit(2, 5)).rejects.toThrow(ConditionFailed)
    await expect(commit(3, 1)).rejects.toThrow(ConditionFailed)
    await commit(3, 2)
    expect(await db.table.get(key)).toMatchObject({ n: 2, v: 4 })
  })

  it('throws an error for two different versions', () => {
    const key = newKey()
    expect(() =>
      changeset((changes) => {
        changes.expectVersion(key, 1)
        changes.expectVersion(key, 2)
      }),
    ).toThrow('two versions')
  })
})

it('commits units one after the other, and builds those again that require an outdated version', async () => {
  const key = newKey()
  await db.table.transact([db.table.putWrite({ ...key, v: 1 })])
  const unit = (attribute: string): Unit => {
    const build = (version: number) =>
      changeset((changes) => {
        changes.set(key, attribute, version)
        changes.expectVersion(key, version)
      })
    return {
      changes: build(1),
      rebuild: async () => build((await db.table.get(key))?.v as number),
    }
  }
  await commitPacked(db.table, clinic, [unit('a'), unit('b')])
  expect(await db.table.get(key)).toMatchObject({ a: 1, b: 2, v: 3 })
})

describe('the time of a change', () => {
  /** A changeset of a table whose clock the test sets. */
  const NOON = Date.parse('2026-05-01T12:00:00.000Z')
  function clocked() {
    let now = NOON
    const table = openTable(db.client, db.name, { now: () => now })
    return { changes: new Changeset(table, clinic), table, pass: (ms: number) => (now += ms) }
  }
  const at = (ms: number) => new Date(ms).toISOString()

  it('is the time of the table, not the creation of a record that was created long ago', () => {
    const { changes } = clocked()
    expect(changes.timeOfChange(null)).toBe(at(NOON))
    expect(changes.timeOfChange(at(NOON - 60_000))).toBe(at(NOON))
    expect(changes.timeOfChange(at(NOON + 60_000))).toBe(at(NOON))
  })

  it('is the creation of a record that was created just now', () => {
    expect(clocked().changes.timeOfChange(at(NOON - 1500))).toBe(at(NOON - 1500))
  })

  it.each([
    ['a change', null, MAX_CHANGE_AGE_MS + 1],
    ['a creation', at(NOON - 3000), MAX_CHANGE_AGE_MS - 3000 + 1],
  ])('is not committed late: %s has to be built again', async (_, createdAt, ms) => {
    const { changes, pass } = clocked()
    const key = newKey()
    changes.put(key)
    changes.timeOfChange(createdAt)
    pass(ms)
    await expect(changes.commit()).rejects.toThrow(WriteConflict)
    expect(await db.table.get(key)).toBeUndefined()
  })

  it('is the time of the oldest change of a transaction', async () => {
    const { changes, table, pass } = clocked()
    changes.put(newKey())
    changes.timeOfChange(null)
    pass(MAX_CHANGE_AGE_MS)
    const merged = new Changeset(table, clinic)
    merged.put(newKey())
    merged.timeOfChange(null)
    expect(merged.merge(changes)).toBe(true)
    pass(1)
    await expect(merged.commit()).rejects.toThrow(WriteConflict)
  })

  it('is taken again when the changes are built again', async () => {
    const { table, pass } = clocked()
    const times: string[] = []
    await retryOnConflict(async (attempt) => {
      const changes = new Changeset(table, clinic)
      changes.put(newKey())
      times.push(changes.timeOfChange(at(NOON)))
      if (attempt === 1) pass(MAX_CHANGE_AGE_MS + 1)
      await changes.commit()
    })
    expect(times).toEqual([at(NOON), at(NOON + MAX_CHANGE_AGE_MS + 1)])
  })

  it('leaves a second for clocks that differ, within the delay of readers', () => {
    expect(MAX_CHANGE_AGE_MS + MAX_TRANSACTION_MS).toBeLessThanOrEqual(VISIBILITY_DELAY_MS - 1000)
  })
})
