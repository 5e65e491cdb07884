import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ClinicId, ClinicInfo } from '../domain/clinic.ts'
import {
  type Credential,
  type CredentialPair,
  type CredentialWithUse,
  isActive,
} from '../domain/credential.ts'
import type { Scope } from '../domain/scope.ts'
import { clinicStore, type StoredClinic } from './clinics.ts'
import { credentialUse } from './credential-use.ts'
import { clinicCredentialKey, clinicCredentialsPartition, clinicKey, credentialKey } from './keys/clinics.ts'
import { ifConditionHolds } from './table/errors.ts'
import { withScope } from './table/request-scope.ts'
import { retryOnConflict } from './table/retries.ts'
import type { Table } from './table/table.ts'
import type { Item } from './table/write-requests.ts'

/** The properties of a new credential, besides its generated key and secret. */
export type NewCredential = {
  readonly name: string
  readonly clinic: ClinicId
  /** The deployment that issues it. */
  readonly cell: string
  readonly scopes: readonly Scope[]
  /** ISO 8601 instant; null if it never expires. */
  readonly expiresAt: string | null
  /** Null means the stage's default. */
  readonly requestsPerMinute: number | null
}

/**
 * The version of an active credential's row in its clinic. Revoking increments it, so that a transaction of a request can
 * require that its credential has not been revoked in between. Requests cannot read credentials themselves.
 */
export const ACTIVE_VERSION = 1

/** A secret as it is stored. */
type HashedSecret = { readonly salt: Uint8Array; readonly hash: Uint8Array }

/** The secret before the last rotation, and the instant until which it is accepted. */
type PreviousSecret = HashedSecret & { readonly until: string }

export type StoredSecrets = HashedSecret & { readonly previous?: PreviousSecret }

/**
 * Replaces the item of an unknown key, and the previous secret of a credential without one, so that each request compares
 * two secrets.
 */
const DUMMY_SECRET = {
  salt: new Uint8Array(16),
  hash: new Uint8Array(32),
  until: '1970-01-01T00:00:00.000Z',
}

/** A new secret, and as it is stored. */
export function newCredentialSecret(): { readonly secret: string; readonly stored: HashedSecret } {
  const secret = `cs_${randomBytes(32).toString('base64url')}`
  return { secret, stored: storedSecret(secret) }
}

function storedSecret(secret: string): HashedSecret {
  const salt = randomBytes(16)
  return { salt, hash: hashSecret(secret, salt) }
}

const newPair = (cell: string): CredentialPair => ({
  key: `ck_${cell}_${randomBytes(12).toString('base64url')}`,
  secret: newCredentialSecret().secret,
})

/** A secret has 256 random bits, so one keyed hash is as strong as any slow one, and a request can afford it. */
const hashSecret = (secret: string, salt: Uint8Array): Buffer =>
  // Bytes as the key would take twice as long.
  createHmac('sha256', createSecretKey(salt)).update(secret).digest()

const isSecret = (secret: string, { salt, hash }: HashedSecret): boolean =>
  timingSafeEqual(hashSecret(secret, salt), hash)

export function credentialStore({ table, now }: { table: Table; now: () => number }) {
  const clinics = clinicStore({ table })
  const uses = credentialUse({ table, now })

  /**
   * The credential of the pair, if its secret is right and it is active. An unknown key and a wrong secret take the same
   * time, whether or not the secret was rotated. A throttled read is not repeated: a flood with one key, which anyone can send,
   * would keep functions waiting.
   * @throws UnavailableError at once if the read is throttled
   */
  async function authenticate(pair: CredentialPair): Promise<Credential | null> {
    const item = await withScope({ repeatsThrottled: false }, () => table.get(credentialKey(pair.key)))
    const secrets = (item ?? DUMMY_SECRET) as StoredSecrets
    const previous = secrets.previous ?? DUMMY_SECRET
    const isCurrent = isSecret(pair.secret, secrets)
    const isPrevious = isSecret(pair.secret, previous)
    if (!item || !(isCurrent || (isPrevious && now() < Date.parse(previous.until)))) return null
    const credential = toCredential(item)
    return isActive(credential, now()) ? credential : null
  }

  /**
   * Issues a credential for a clinic. The secret is only in the returned value. The clinic's settings
   * are copied as they are now: a concurrent change either is copied, or finds the new credential.
   * @param pair a random one, except for demo clinics, whose credentials are the same at every start
   * @throws ClinicBeingDeleted
   */
  async function issue(
    { cell, ...wanted }: NewCredential,
    { key, secret }: CredentialPair = newPair(cell),
  ): Promise<CredentialWithUse & { secret: string }> {
    const stored = storedSecret(secret)
    const createdAt = new Date(now()).toISOString()
    return retryOnConflict(async () => {
      const clinic = await clinics.requireNotDeleting(wanted.clinic)
      const own = { ...wanted, clinic: clinicInfo(clinic), key, createdAt, revokedAt: null }
      await table.tryTransact([
        table.putWrite({ ...credentialKey(key), ...own, cv: clinic.version, ...stored }, 'new'),
        table.putWrite({ ...clinicCredentialKey(clinic.id, key), v: ACTIVE_VERSION }),
        table.checkWrite(clinicKey(clinic.id), clinic.version),
      ])
      return { ...own, lastUsedAt: null, previousSecretUntil: null, secret }
    })
  }

  /** A clinic's credentials, oldest first. */
  async function list(clinic: ClinicId): Promise<CredentialWithUse[]> {
    const rows = await table.query({ pk: clinicCredentialsPartition(clinic), limit: 10_000 })
    const keys = rows.map(({ sk }) => sk)
    const [items, used] = await Promise.all([table.getMany(keys.map(credentialKey)), uses.lastUses(keys)])
    return items
      .map((item) => withUse(item, used))
      .sort((a, b) => (a.createdAt + a.key < b.createdAt + b.key ? -1 : 1))
  }

  /** The credential with this key; null for an unknown key. */
  async function find(key: string): Promise<CredentialWithUse | null> {
    const [item, used] = await Promise.all([table.get(credentialKey(key)), uses.lastUses([key])])
    return item ? withUse(item, used) : null
  }

  /** Takes effect at the next request, and keeps the time of the first revocation. Null for an unknown key. */
  async function revoke(key: string): Promise<CredentialWithUse | null> {
    return retryOnConflict(async () => {
      const credential = await find(key)
      if (!credential || credential.revokedAt !== null) return credential
      const revokedAt = new Date(now()).toISOString()
      await table.tryTransact([
        table.updateWrite(credentialKey(key), {
          UpdateExpression: 'SET revokedAt = :now',
          ConditionExpression: 'revokedAt = :none',
          ExpressionAttributeValues: { ':now': revokedAt, ':none': null },
        }),
        table.updateWrite(clinicCredentialKey(credential.clinic.id, key), {
          UpdateExpression: 'SET v = :revoked',
          ExpressionAttributeValues: { ':revoked': ACTIVE_VERSION + 1 },
        }),
      ])
      return { ...credential, revokedAt }
    })
  }

  /** Brings the copies in a clinic's credentials up to date; an older change never replaces a newer one. */
  async function refreshClinic(clinic: StoredClinic): Promise<void> {
    for (const { key } of await list(clinic.id)) {
      const update = table.update(credentialKey(key), {
        UpdateExpression: 'SET clinic = :clinic, cv = :version',
        ConditionExpression: 'attribute_exists(pk) AND cv < :version',
        ExpressionAttributeValues: { ':clinic': clinicInfo(clinic), ':version': clinic.version },
      })
      await ifConditionHolds(update)
    }
  }

  return { authenticate, issue, list, find, revoke, refreshClinic }
}

/** As it was issued: every request reads one, and only this store writes them. */
function toCredential(item: Item): Credential {
  const { pk, sk, salt, hash, previous, cv, ...credential } = item
  return credential as Credential
}

function withUse(item: Item, lastUses: ReadonlyMap<string, string>): CredentialWithUse {
  const credential = toCredential(item)
  const hour = lastUses.get(credential.key)
  // The hour of the use may have begun before the credential was created.
  const lastUsedAt = hour === undefined || hour > credential.createdAt ? hour : credential.createdAt
  const { previous } = item as Item & StoredSecrets
  return { ...credential, lastUsedAt: lastUsedAt ?? null, previousSecretUntil: previous?.until ?? null }
}

/** The fields of a clinic that its credentials copy. */
export const clinicInfo = ({
  id,
  name,
  timezone,
  currency,
  pausedAt,
  isTest,
  restores,
}: ClinicInfo): ClinicInfo => ({
  id,
  name,
  timezone,
  currency,
  ...(pausedAt !== undefined && { pausedAt }),
  ...(isTest && { isTest }),
  ...(restores !== undefined && { restores }),
})
