/** Migrations of this test: rehearsed while other processes write, and interrupted. */
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { migrateTable } from '../../../../shared/maintenance/migrate/migrate-table.ts'
import {
  MIGRATIONS,
  type Migration,
  REQUIRED_FORMAT,
  readTableFormat,
} from '../../../../shared/maintenance/migrate/migrations.ts'
import { verifyClinic } from '../../../../shared/maintenance/verify/verify-clinic.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { FORMAT, type Key } from '../../../../shared/store/keys/key.ts'
import { tableFormatKey } from '../../../../shared/store/keys/operator.ts'
import { patientHeadKey, patientKey } from '../../../../shared/store/keys/patients.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { ConditionFailed } from '../../../../shared/store/table/errors.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { aPatient, freshTable, type TestTable } from '../../../support/table.ts'

let db: TestTable
beforeEach(async () => {
  db = await freshTable()
})

const counterKey = (id: number): Key => ({ pk: `counter#${id}`, sk: 'counter' })
const COUNTERS = 60

/** Renames the attribute of counters, and doubles its unit. */
const halves: Migration = {
  format: 1,
  summary: 'counters count halves',
  concerns: ({ pk }) => pk.startsWith('counter#'),
  migrate: ({ count, ...rest }) => ({ ...rest, halves: (count as number) * 2 }),
}

/** Changes an item like a release that reads both formats and writes the new one. Each call changes one item, in one attempt. */
async function increment(id: number): Promise<void> {
  for (;;) {
    const item = (await db.table.get(counterKey(id))) as Item
    const isNew = item[FORMAT] === 1
    try {
      await db.table.update(counterKey(id), {
        UpdateExpression: isNew ? 'ADD #to :two' : 'SET #to = :next, fv = :one REMOVE #from',
        ConditionExpression: isNew ? 'attribute_exists(#to)' : '#from = :read',
        ExpressionAttributeNames: isNew ? { '#to': 'halves' } : { '#to': 'halves', '#from': 'count' },
        ExpressionAttributeValues: isNew
          ? { ':two': 2 }
          : { ':one': 1, ':read': item.count, ':next': (item.count as number) * 2 + 2 },
      })
      return
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
    }
  }
}

const ids = Array.from({ length: COUNTERS }, (_, id) => id)
const createCounters = () =>
  db.table.putMany(ids.map((id) => ({ ...counterKey(id), count: id, other: 'kept' })))
const counters = async (): Promise<Item[]> =>
  (await db.table.getMany(ids.map(counterKey))).sort((a, b) => (a.halves as number) - (b.halves as number))
const migrated = (id: number) => ({ ...counterKey(id), halves: id * 2, other: 'kept', fv: 1 })

const platform = () => ({ table: db.table, client: db.client, name: db.name })

describe('a migration', () => {
  it('moves every item that it concerns, and records the format of the table', async () => {
    await createCounters()
    await db.table.putMany([{ pk: 'unconcerned', sk: '1', count: 1 }])
    expect(await migrateTable(platform(), halves)).toEqual({ format: 1, migrated: COUNTERS, passes: 2 })
    expect(await counters()).toEqual(ids.map(migrated))
    expect(await db.table.get({ pk: 'unconcerned', sk: '1' })).toEqual({
      pk: 'unconcerned',
      sk: '1',
      count: 1,
    })
    expect(await readTableFormat(db.table)).toBe(1)
    expect(await migrateTable(platform(), halves)).toEqual({ format: 1, migrated: 0, passes: 0 })
  })

  it('loses no write of other processes', async () => {
    await createCounters()
    // Every second counter is written between the migration's read and its write.
    const raced = new Set<string>()
    const table: typeof db.table = {
      ...db.table,
      update: async (key, parts) => {
        const id = Number(key.pk.split('#')[1])
        if (id % 2 === 1 && !raced.has(key.pk)) {
          raced.add(key.pk)
          await db.table.update(key, {
            UpdateExpression: 'ADD #from :one',
            ExpressionAttributeNames: { '#from': 'count' },
            ExpressionAttributeValues: { ':one': 1 },
          })
        }
        return db.table.update(key, parts)
      },
    }
    const writes = ids.filter((id) => id % 2 === 0).map((id) => increment(id))
    await Promise.all([migrateTable({ ...platform(), table }, halves), ...writes])
    expect(await counters()).toEqual(ids.map((id) => ({ ...migrated(id), halves: id * 2 + 2 })))
    expect(raced.size).toBe(COUNTERS / 2)
  })

  it('loses no write that does not increment the version of its item', async () => {
    const { clinic } = await createPopulatedClinic(db.table)
    const key = patientHeadKey(clinic.id)
    const renaming: Migration = {
      format: 1,
      summary: 'the number of patients has another name',
      concerns: ({ pk, sk }) => pk === key.pk && sk === key.sk,
      migrate: ({ n, ...rest }) => ({ ...rest, patients: n }),
    }
    let isRaced = false
    const table: typeof db.table = {
      ...db.table,
      update: async (updated, parts) => {
        if (updated.pk === key.pk && !isRaced) {
          isRaced = true
          await patientWriter(db).createMany(clinic.id, [aPatient()])
        }
        return db.table.update(updated, parts)
      },
    }
    await migrateTable({ ...platform(), table }, renaming)
    expect(await db.table.get(key)).toMatchObject({ patients: 2, v: expect.any(Number) })
  })

  it('moves an item with a version and hundreds of attributes', async () => {
    const counts = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`day-${at}`, at]))
    await db.table.putMany([{ ...counterKey(1), ...counts, v: 1, count: 1 }])
    await migrateTable(platform(), halves)
    expect(await db.table.get(counterKey(1))).toEqual({ ...counterKey(1), ...counts, v: 1, halves: 2, fv: 1 })
  })

  it('is recorded as done after runs that are each shorter than a pass, and changes no item twice', async () => {
    await createCounters()
    let runs = 0
    let isDone = false
    while (!isDone && runs < 20) {
      runs++
      let scans = 0
      let isStopped = false
      const stopping = {
        send: (command: { input: object }) => {
          isStopped ||= ++scans > 25
          if (isStopped) throw new Error('killed')
          Object.assign(command.input, { Limit: 2 })
          return db.client.send(command as never)
        },
      } as unknown as DynamoDBDocumentClient
      isDone = await migrateTable({ ...platform(), client: stopping }, halves).then(
        () => true,
        () => false,
      )
    }
    expect(isDone).toBe(true)
    expect(runs).toBeGreaterThan(2)
    expect(await counters()).toEqual(ids.map(migrated))
    expect(await readTableFormat(db.table)).toBe(1)
  })

  it('begins again after a deployment, since functions of the release before may have run again', async () => {
    await createCounters()
    const table: typeof db.table = {
      ...db.table,
      update: async (key, parts) => {
        if (key.pk === tableFormatKey.pk) throw new Error('stopped')
        return db.table.update(key, parts)
      },
    }
    const stopped = migrateTable({ ...platform(), table, deployedAt: '2026-05-04' }, halves)
    await expect(stopped).rejects.toThrow('stopped')
    await db.table.putMany([{ ...counterKey(0), count: 0, other: 'kept' }])
    await migrateTable({ ...platform(), deployedAt: '2026-05-05' }, halves)
    expect(await counters()).toEqual(ids.map(migrated))
  })

  it('moves an item to another key, once', async () => {
    await createCounters()
    const moving: Migration = {
      ...halves,
      concerns: ({ pk }) => pk.startsWith('counter#'),
      migrate: (item) => ({ ...item, pk: item.pk.replace('counter', 'moved') }),
    }
    await migrateTable(platform(), moving)
    expect(await counters()).toEqual([])
    const moved = await db.table.getMany(ids.map((id) => ({ pk: `moved#${id}`, sk: 'counter' })))
    expect(moved.length).toBe(COUNTERS)
  })

  it('fails, and records no format, while items of the format before are being written', async () => {
    await createCounters()
    const client = {
      send: async (command: never) => {
        await db.table.putMany([{ ...counterKey(0), count: 1 }])
        return db.client.send(command)
      },
    } as unknown as DynamoDBDocumentClient
    await expect(migrateTable({ ...platform(), client }, halves)).rejects.toThrow('still being written')
    expect(await readTableFormat(db.table)).toBe(0)
  })

  it('runs while patients are changed, and the clinic verifies without a difference', async () => {
    const { clinic, patient } = await createPopulatedClinic(db.table)
    const withFormat: Migration = {
      format: 1,
      summary: 'patients have a format',
      concerns: ({ pk }) => pk === patientKey(clinic.id, '').pk,
      migrate: (item) => item,
    }
    const rename = async () => {
      for (let n = 1; n <= 10; n++)
        await patientChanges(db.table).update(clinic.id, patient.id, { firstName: `Name${n}` })
    }
    // The functions of this version write no format, so the item may be of the one before again.
    await Promise.all([migrateTable(platform(), withFormat).catch(() => {}), rename()])
    expect((await patientStore(db).find(clinic.id, patient.id))?.firstName).toBe('Name10')
    const verification = await verifyClinic(db.table, clinic.id, { repair: false, onDifference: () => {} })
    expect(verification.differences).toBe(0)
  })
})

it('the migrations of this version are numbered, and those that it requires exist', () => {
  expect(MIGRATIONS.map(({ format }) => format)).toEqual(MIGRATIONS.map((_, index) => index + 1))
  expect(REQUIRED_FORMAT).toBeLessThanOrEqual(MIGRATIONS.length)
})
