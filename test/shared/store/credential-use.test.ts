import { describe, expect, it, vi } from 'vitest'
import type { Credential } from '../../../shared/domain/credential.ts'
import { credentialUse } from '../../../shared/store/credential-use.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { credentialKey, credentialMinuteKey, lastUseKey } from '../../../shared/store/keys/clinics.ts'
import { issueCredential } from '../../support/credentials.ts'
import { newClinic, tableOfFile } from '../../support/table.ts'

const db = tableOfFile()

/** A new credential, and a store of a process of its own whose clock the test sets. */
async function prepare(): Promise<{ credential: Credential; storeAt: (time: string) => Store }> {
  const credential = await issueCredential(db.table, await newClinic(db.table))
  const storeAt = (time: string): Store => {
    const options = { table: db.table, now: () => Date.parse(time) }
    return { ...credentialStore(options), ...credentialUse(options) }
  }
  return { credential, storeAt }
}
type Store = ReturnType<typeof credentialStore> & ReturnType<typeof credentialUse>

describe('the use of a credential', () => {
  it('is listed to the hour, and found with the credential', async () => {
    const { credential, storeAt } = await prepare()
    const store = storeAt('2030-05-01T10:59:59.999Z')
    const { id } = credential.clinic
    expect((await store.list(id)).map(({ lastUsedAt }) => lastUsedAt)).toEqual([null])
    await store.recordUse(credential)
    expect((await store.list(id)).map(({ lastUsedAt }) => lastUsedAt)).toEqual(['2030-05-01T10:00:00.000Z'])
    await storeAt('2030-05-01T11:00:00.000Z').recordUse(credential)
    expect(await store.find(credential.key)).toMatchObject({ lastUsedAt: '2030-05-01T11:00:00.000Z' })
    expect(await store.revoke(credential.key)).toMatchObject({
      lastUsedAt: '2030-05-01T11:00:00.000Z',
      revokedAt: '2030-05-01T10:59:59.999Z',
    })
  })

  it('is written once in an hour by all processes, and read once in an hour by each', async () => {
    const { credential } = await prepare()
    const get = vi.fn(db.table.get)
    const update = vi.fn(db.table.update)
    let time = Date.parse('2030-05-01T10:00:00Z')
    const newStore = () => credentialUse({ table: { ...db.table, get, update }, now: () => time })
    const processes = [newStore(), newStore()]
    for (let minute = 0; minute < 5; minute++) {
      time += 60_000
      for (const { recordUse } of processes) await recordUse(credential)
    }
    expect([get.mock.calls.length, update.mock.calls.length]).toEqual([2, 1])
    time += 3_600_000
    await processes[0]?.recordUse(credential)
    expect([get.mock.calls.length, update.mock.calls.length]).toEqual([3, 2])
  })

  it('never changes the credential itself, and expires but for the time of the last use', async () => {
    const { credential, storeAt } = await prepare()
    const before = await db.table.get(credentialKey(credential.key))
    const store = storeAt('2030-05-01T10:00:30Z')
    expect(await store.countRequest(credential)).toMatchObject({ minute: 1, second: 1 })
    expect(await store.countRequest(credential)).toMatchObject({ minute: 2, second: 2 })
    await store.recordUse(credential)
    expect(await db.table.get(credentialKey(credential.key))).toEqual(before)
    const { pk } = lastUseKey(credential.key)
    const items = await db.table.query({ pk, limit: 10 })
    expect(items.map(({ sk, ttl }) => [sk.replace(/\d+$/, 'N'), ttl])).toEqual([
      ['last', undefined],
      ['minute#N', Date.parse('2030-05-01T10:02:30Z') / 1000],
    ])
    expect(pk).toBe(credentialMinuteKey(credential.key, 0).pk)
  })
})
