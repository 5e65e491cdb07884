import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ClinicId, ClinicInfo } from '../domain/clinic.ts'
import { type Credential, type CredentialPair, isActive } from '../domain/credential.ts'
import type { RequestCount } from '../domain/rate-limit.ts'
import type { Scope } from '../domain/scope.ts'
import {
  clinicCredentialKey,
  clinicCredentialsPartition,
  credentialKey,
  credentialMinuteKey,
} from './keys/clinics.ts'
import { TTL } from './keys/key.ts'
import { ConditionFailed, type Item, type Table, type UpdateParts } from './table/table.ts'

/** What is issued beside the generated key and secret. */
export type NewCredential = {
  readonly name: string
  readonly clinic: ClinicInfo
  readonly scopes: readonly Scope[]
  /** ISO 8601 instant; null never expires. */
  readonly expiresAt: string | null
  /** Null is the default of the stage. */
  readonly requestsPerMinute: number | null
}

/** Stands in for the item of a key that does not exist, so that refusing it takes the same work. */
const DUMMY_CREDENTIAL = { salt: randomBytes(16), hash: randomBytes(32) }

/** A secret has 256 random bits, so one keyed hash is as strong as any slow one, and a request can afford it. */
const hashSecret = (secret: string, salt: Uint8Array): Buffer =>
  createHmac('sha256', salt).update(secret).digest()

export function credentialStore({ table, now }: { table: Table; now: () => number }) {
  /** The credential that the pair proves, if it may act now. An unknown key and a wrong secret do the same work. */
  async function authenticate(pair: CredentialPair): Promise<Credential | null> {
    const item = await table.get(credentialKey(pair.key))
    const { salt, hash } = (item ?? DUMMY_CREDENTIAL) as typeof DUMMY_CREDENTIAL
    const isSecretValid = timingSafeEqual(hashSecret(pair.secret, salt), hash)
    if (!item || !isSecretValid) return null
    const credential = toCredential(item)
    return isActive(credential, now()) ? credential : null
  }

  /** Makes a credential. The secret is in this answer and nowhere else. */
  async function issue(wanted: NewCredential): Promise<Credential & { secret: string }> {
    const key = `ck_${randomBytes(12).toString('base64url')}`
    const secret = `cs_${randomBytes(32).toString('base64url')}`
    const salt = randomBytes(16)
    const credential = {
      ...wanted,
      key,
      createdAt: new Date(now()).toISOString(),
      revokedAt: null,
      lastUsedAt: null,
    }
    const { clinic, ...own } = credential
    await table.transact([
      table.putWrite({ ...credentialKey(key), ...own, clinic, salt, hash: hashSecret(secret, salt) }, 'new'),
      table.putWrite({ ...clinicCredentialKey(clinic.id, key) }),
    ])
    return { ...credential, secret }
  }

  /** A clinic's credentials, oldest first. */
  async function list(clinic: ClinicId): Promise<Credential[]> {
    const rows = await table.query({ pk: clinicCredentialsPartition(clinic), limit: 10_000 })
    const items = await table.getMany(rows.map((row) => credentialKey(row.sk)))
    return items.map(toCredential).sort((a, b) => (a.createdAt + a.key < b.createdAt + b.key ? -1 : 1))
  }

  /** Takes effect at the next request. Null when there is no such key; the first revocation's time stays. */
  async function revoke(key: string): Promise<Credential | null> {
    const revoked = await change(key, {
      UpdateExpression: 'SET revokedAt = :now',
      ConditionExpression: 'revokedAt = :none',
      ExpressionAttributeValues: { ':now': new Date(now()).toISOString(), ':none': null },
    })
    if (revoked) return revoked
    const item = await table.get(credentialKey(key))
    return item ? toCredential(item) : null
  }

  /** Brings a credential's copy of its clinic's name, zone and currency up to date. */
  const refreshClinic = (key: string, clinic: ClinicInfo): Promise<Credential | null> =>
    change(key, {
      UpdateExpression: 'SET clinic = :clinic',
      ExpressionAttributeValues: { ':clinic': clinic },
    })

  /** Notes the use of a credential, to the hour; at most one write an hour. */
  async function recordUse(credential: Credential): Promise<void> {
    const hour = new Date(now()).toISOString().replace(/:\d\d:\d\d\.\d+Z$/, ':00:00.000Z')
    if (credential.lastUsedAt === hour) return
    await change(credential.key, {
      UpdateExpression: 'SET lastUsedAt = :hour',
      ExpressionAttributeValues: { ':hour': hour },
    })
  }

  /** Counts a request in its minute and second: one write, to an item that lives two minutes. */
  async function countRequest({ key }: Credential): Promise<RequestCount> {
    const seconds = Math.floor(now() / 1000)
    const counts = await table.update(credentialMinuteKey(key, Math.floor(seconds / 60)), {
      UpdateExpression: 'ADD #minute :one, #second :one SET #ttl = :ttl',
      ExpressionAttributeNames: { '#minute': 'n', '#second': `s${seconds % 60}`, '#ttl': TTL },
      ExpressionAttributeValues: { ':one': 1, ':ttl': seconds + 120 },
      ReturnValues: 'UPDATED_NEW',
    })
    return { minute: counts?.n as number, second: counts?.[`s${seconds % 60}`] as number }
  }

  /** The changed credential, or null when it does not exist or the condition does not hold. */
  async function change(key: string, parts: UpdateParts): Promise<Credential | null> {
    try {
      const item = await table.update(credentialKey(key), {
        ConditionExpression: 'attribute_exists(pk)',
        ...parts,
        ReturnValues: 'ALL_NEW',
      })
      return item ? toCredential(item as Item) : null
    } catch (error) {
      if (error instanceof ConditionFailed) return null
      throw error
    }
  }

  return { authenticate, issue, list, revoke, refreshClinic, recordUse, countRequest }
}

function toCredential(item: Item): Credential {
  const { pk, sk, salt, hash, ...credential } = item
  return credential as unknown as Credential
}
