/** Stored responses of requests with an Idempotency-Key. */
import { QueryCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { storedResponsesPartition } from '../../../../shared/store/keys/idempotency.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { idempotencyGuard } from '../../../../shared/store/table/idempotency.ts'
import { freshSdkTable, newClinic, tableOfFile } from '../../../support/table.ts'

const NOW = Date.parse('2026-05-01T07:00:00Z')
const NOW_SECONDS = NOW / 1000
/** DynamoDB never deletes an item whose time to live lies further in the past. */
const FIVE_YEARS_SECONDS = 5 * 365 * 24 * 60 * 60

const db = tableOfFile(freshSdkTable)
let clinic: Clinic

beforeAll(async () => {
  clinic = await newClinic(db.table)
})

const guard = () => {
  const request = { clinic: clinic.id, credential: 'ck', route: 'send-message', key: 'k', body: '{}' }
  return idempotencyGuard({ table: db.table, now: () => NOW }, request)
}

async function commit(add: (changes: Changeset) => void | Promise<void>): Promise<void> {
  const changes = new Changeset(db.table, clinic.id)
  await add(changes)
  await changes.commit()
}

it('lets DynamoDB delete the item of a freed key, and another request use the key at once', async () => {
  const first = guard()
  await commit((changes) => first.reserve(changes, 202, { data: 1 }, 'patient', NOW + 60_000))
  await commit((changes) => first.complete(changes, 202, null))
  const { Items = [] } = await db.client.send(
    new QueryCommand({
      TableName: db.name,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': storedResponsesPartition(clinic.id) },
    }),
  )
  expect(Items.length).toBe(1)
  expect(Items[0]?.ttl).toBeLessThan(NOW_SECONDS)
  expect(Items[0]?.ttl).toBeGreaterThan(NOW_SECONDS - FIVE_YEARS_SECONDS)
  const second = guard()
  expect(await second.find()).toBeNull()
  await commit((changes) => second.store(changes, 202, { data: 2 }, 'patient'))
  expect((await guard().find())?.body).toBe('{"data":2}')
})
