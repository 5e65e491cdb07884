/** Reads without the SDK: the same items, the same signature, and the SDK where they fail. */
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { withLeanReads } from '../../../../bin/clinic/verify/lean-reads.ts'
import { signer } from '../../../../bin/clinic/verify/signature.ts'
import { openTable, type Table } from '../../../../shared/store/table/table.ts'
import { freshTable, type TestTable } from '../../../support/table.ts'

const ITEMS = Array.from({ length: 120 }, (_, at) => ({
  ...{ pk: 'p', sk: String(at).padStart(3, '0'), n: at / 4, yes: true, none: null, text: 'ş"\n' },
  ...{
    bytes: new Uint8Array([1, 2]),
    list: [{ a: 1, b: ['x'] }],
    names: new Set(['a']),
    numbers: new Set([1, 2]),
  },
}))

let db: TestTable
let plain: Table
let lean: Table
beforeAll(async () => {
  db = await freshTable()
  plain = openTable(db.client, db.name)
  await plain.putMany(ITEMS)
  lean = await withLeanReads(plain, db.client, db.name)
})

describe('lean reads', () => {
  it('return what the SDK returns', async () => {
    for (const range of [
      { pk: 'p', limit: 1000 },
      { pk: 'p', from: '010', limit: 5 },
      { pk: 'p', to: '003', descending: true, limit: 10 },
      { pk: 'p', from: '010', to: '012', limit: 10, eventual: true },
      { pk: 'none', limit: 10 },
    ])
      expect(await lean.query(range)).toEqual(await plain.query(range))
    const bySort = (items: { sk: string }[]) => items.toSorted((a, b) => (a.sk < b.sk ? -1 : 1))
    const keys = [...ITEMS, { pk: 'p', sk: 'none' }]
    expect(bySort(await lean.getMany(keys))).toEqual(bySort(await plain.getMany(keys)))
    expect(await lean.get({ pk: 'p', sk: '007' })).toEqual(await plain.get({ pk: 'p', sk: '007' }))
    expect(await lean.get({ pk: 'p', sk: 'none' })).toBeUndefined()
  })

  it('do not use the SDK while they succeed, and only the SDK after they failed twenty times', async () => {
    const send = vi.spyOn(db.client, 'send')
    await lean.get({ pk: 'p', sk: '007' })
    expect(send).not.toHaveBeenCalled()
    const broken = await withLeanReads(plain, db.client, `${db.name}-none`)
    for (let count = 0; count < 25; count++)
      expect(await broken.get({ pk: 'p', sk: '007' })).toMatchObject({ n: 7 / 4 })
    expect(send).toHaveBeenCalledTimes(25)
    send.mockRestore()
  })

  it('sign their calls as the SDK does', async () => {
    const now = new Date('2026-05-01T07:00:00Z')
    const credentials = { accessKeyId: 'AKIA', secretAccessKey: 'secret', sessionToken: 'token' }
    const host = 'dynamodb.eu-central-1.amazonaws.com'
    const { authorization, ...headers } = signer(host, 'eu-central-1')('Query', '{"a":"ş"}', credentials, now)
    const { 'x-amz-date': _, 'x-amz-security-token': __, 'content-length': ___, ...unsigned } = headers
    const { config } = new DynamoDBClient({ region: 'eu-central-1', credentials })
    const scheme = { name: 'sigv4', signingName: 'dynamodb', signingRegion: 'eu-central-1', properties: {} }
    const sdk = await config.signer(scheme as Parameters<typeof config.signer>[0])
    const request = {
      method: 'POST',
      protocol: 'https:',
      hostname: host,
      path: '/',
      query: {},
      headers: unsigned,
    }
    const signed = (await sdk.sign({ ...request, body: '{"a":"ş"}' } as Parameters<typeof sdk.sign>[0], {
      signingDate: now,
      // The SDK adds it; DynamoDB does not ask for it.
      unsignableHeaders: new Set(['x-amz-content-sha256']),
      signingService: 'dynamodb',
      signingRegion: 'eu-central-1',
    })) as unknown as { headers: Record<string, string> }
    expect(signed.headers.authorization).toBe(authorization)
  })
})
