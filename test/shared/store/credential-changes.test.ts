/** Changes of credentials: their settings, and the rotation of their secrets. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { credentialChanges, type DuringOverlap } from '../../../shared/store/credential-changes.ts'
import { credentialUse } from '../../../shared/store/credential-use.ts'
import { credentialStore } from '../../../shared/store/credentials.ts'
import { credentialKey } from '../../../shared/store/keys/clinics.ts'
import { ConditionFailed } from '../../../shared/store/table/errors.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { issueCredential } from '../../support/credentials.ts'
import { newClinic, tableOfFile } from '../../support/table.ts'
import { tableText } from '../../support/table-text.ts'

const START = Date.parse('2030-05-01T10:00:00Z')
const UNTIL = '2030-05-02T10:00:00.000Z'

const db = tableOfFile()
let clinic: Clinic
let now = START
const stores = (table: Table = db.table) => {
  const platform = { table, now: () => now }
  return { ...credentialStore(platform), ...credentialChanges(platform), ...credentialUse(platform) }
}
beforeAll(async () => {
  clinic = await newClinic(db.table)
})

/** A credential, and whether a secret of it is accepted. */
async function prepare() {
  now = START
  const { key, secret } = await issueCredential(db.table, clinic)
  const accepts = async (tried: string) => (await stores().authenticate({ key, secret: tried })) !== null
  return { key, secret, accepts }
}
async function rotated(key: string, until = UNTIL, duringOverlap: DuringOverlap = 'reject') {
  const outcome = await stores().rotate(key, until, duringOverlap)
  if (outcome.kind !== 'rotated') throw new Error(outcome.kind)
  return outcome.secret
}

describe('a rotation', () => {
  it('accepts both secrets until the end of the overlap, and then the new one alone', async () => {
    const { key, secret, accepts } = await prepare()
    const renewed = await rotated(key)
    expect([await accepts(secret), await accepts(renewed), await accepts('cs_other')]).toEqual([
      true,
      true,
      false,
    ])
    now = Date.parse(UNTIL) - 1
    expect(await accepts(secret)).toBe(true)
    now = Date.parse(UNTIL)
    expect([await accepts(secret), await accepts(renewed)]).toEqual([false, true])
    expect(await stores().find(key)).toMatchObject({ previousSecretUntil: UNTIL })
  })

  it('stores neither secret', async () => {
    const { key, secret } = await prepare()
    const renewed = await rotated(key)
    const text = (await tableText(db)).toLowerCase()
    const isStored = (value: string) => text.includes(value.toLowerCase())
    expect([secret, renewed, key].map(isStored)).toEqual([false, false, true])
    const { previous, hash, salt, ...credential } = (await stores().authenticate({
      key,
      secret,
    })) as never as Record<string, unknown>
    expect([previous, hash, salt, credential.key]).toEqual([undefined, undefined, undefined, key])
  })

  it('does not delay a revocation: both secrets are rejected from the next request on', async () => {
    const { key, secret, accepts } = await prepare()
    const renewed = await rotated(key)
    await stores().revoke(key)
    expect([await accepts(secret), await accepts(renewed)]).toEqual([false, false])
    expect(await stores().rotate(key, UNTIL)).toEqual({ kind: 'revoked' })
  })

  it('ends an earlier overlap only if that is asked for', async () => {
    const { key, secret, accepts } = await prepare()
    const second = await rotated(key)
    expect(await stores().rotate(key, UNTIL)).toMatchObject({
      kind: 'rotating',
      credential: { key, previousSecretUntil: UNTIL },
    })
    const third = await rotated(key, UNTIL, 'end-previous')
    expect(await Promise.all([secret, second, third].map(accepts))).toEqual([false, true, true])
    now = Date.parse(UNTIL) + 1
    await rotated(key, '2030-06-01T00:00:00.000Z')
    expect(await Promise.all([second, third].map(accepts))).toEqual([false, true])
  })

  it('replaces a secret that was lost, and keeps accepting the previous one', async () => {
    const { key, secret, accepts } = await prepare()
    expect(await stores().rotate(key, UNTIL, 'replace-current')).toEqual({ kind: 'not-rotating' })
    const lost = await rotated(key)
    now = Date.parse(UNTIL) - 1
    const until = '2030-05-03T10:00:00.000Z'
    const renewed = await rotated(key, until, 'replace-current')
    expect(await Promise.all([secret, lost, renewed].map(accepts))).toEqual([true, false, true])
    now = Date.parse(until)
    expect(await Promise.all([secret, renewed].map(accepts))).toEqual([false, true])
  })

  it('authenticates with one read, whichever secret is sent', async () => {
    const { key, secret } = await prepare()
    const renewed = await rotated(key)
    for (const tried of [secret, renewed, 'cs_other']) {
      let reads = 0
      const get: Table['get'] = (...args) => {
        reads++
        return db.table.get(...args)
      }
      await stores({ ...db.table, get }).authenticate({ key, secret: tried })
      expect(reads).toBe(1)
    }
  })

  it('returns its secret even if the response to its write was lost', async () => {
    const { key, accepts } = await prepare()
    let isLost = true
    const update: Table['update'] = async (...args) => {
      const result = await db.table.update(...args)
      // The SDK sends a write whose response was lost again, and then its condition does not hold.
      if (isLost) throw new ConditionFailed([])
      return result
    }
    const outcome = await stores({ ...db.table, update }).rotate(key, UNTIL)
    isLost = false
    expect(outcome.kind === 'rotated' && (await accepts(outcome.secret))).toBe(true)
  })

  it('of an expired or unknown credential is rejected', async () => {
    const { key } = await prepare()
    await stores().change(key, { expiresAt: '2030-05-01T10:00:00.001Z' })
    now = START + 1
    expect(await stores().rotate(key, UNTIL)).toEqual({ kind: 'expired' })
    expect(await stores().rotate('ck_unknown', UNTIL)).toEqual({ kind: 'unknown' })
  })
})

describe('a change of settings', () => {
  it('takes effect at the next request, and keeps the secret', async () => {
    const { key, secret } = await prepare()
    const changes = { name: 'Portal', scopes: ['patient.read'], requestsPerMinute: 5 } as const
    expect(await stores().change(key, changes)).toMatchObject({ kind: 'changed', credential: changes })
    expect(await stores().authenticate({ key, secret })).toMatchObject({ key, ...changes, expiresAt: null })
    await stores().change(key, { expiresAt: '2030-05-01T10:00:00.001Z', requestsPerMinute: null })
    expect(await stores().authenticate({ key, secret })).toMatchObject({ requestsPerMinute: null })
    now = START + 1
    expect(await stores().authenticate({ key, secret })).toBeNull()
  })

  it('writes nothing if nothing changes, and is rejected for a revoked credential', async () => {
    const { key } = await prepare()
    const before = await db.table.get(credentialKey(key))
    expect(await stores().change(key, { name: 'test', expiresAt: null })).toMatchObject({ kind: 'same' })
    expect(await db.table.get(credentialKey(key))).toEqual(before)
    await stores().revoke(key)
    expect(await stores().change(key, { name: 'X' })).toEqual({ kind: 'revoked' })
    expect(await stores().change('ck_unknown', { name: 'X' })).toEqual({ kind: 'unknown' })
  })
})

it('never shows a last use before the creation, although uses are recorded to the hour', async () => {
  now = START + 1_800_000
  const credential = await stores().issue({
    name: 'New',
    clinic: clinic.id,
    cell: 'a',
    scopes: [],
    expiresAt: null,
    requestsPerMinute: null,
  })
  await stores().recordUse(credential)
  expect(await stores().find(credential.key)).toMatchObject({ lastUsedAt: '2030-05-01T10:30:00.000Z' })
})
