/** The use of credentials, apart from the credentials themselves, which requests cannot change. */
import type { Credential } from '../domain/credential.ts'
import { type RequestCount, rateWindow } from '../domain/rate-limit.ts'
import { credentialMinuteKey, lastUseKey } from './keys/clinics.ts'
import { TTL } from './keys/key.ts'
import { withScope } from './table/request-scope.ts'
import type { Table } from './table/table.ts'

export function credentialUse({ table, now }: { table: Table; now: () => number }) {
  /** The hour that is recorded as the last use of each credential. */
  const recorded = new Map<string, string>()

  /** Records when a credential was last used, to the hour: at most a read, and a write if no other process has recorded it. */
  async function recordUse({ key }: Credential): Promise<void> {
    const hour = new Date(now()).toISOString().replace(/:\d\d:\d\d\.\d+Z$/, ':00:00.000Z')
    if (recorded.get(key) === hour) return
    const last = await table.get(lastUseKey(key), { eventual: true })
    if (last?.at !== hour)
      await table.update(lastUseKey(key), {
        UpdateExpression: 'SET #at = :hour',
        ExpressionAttributeNames: { '#at': 'at' },
        ExpressionAttributeValues: { ':hour': hour },
      })
    recorded.set(key, hour)
  }

  /**
   * Counts a request in its minute and second: one write, to an item that expires after two minutes.
   * @throws UnavailableError at once if the write is throttled
   */
  async function countRequest({ key }: Credential): Promise<RequestCount> {
    const at = now()
    const { number, second } = rateWindow(key, at)
    const secondCounter = `s${second}`
    const counts = await withScope({ repeatsThrottled: false }, () =>
      table.update(credentialMinuteKey(key, number), {
        UpdateExpression: 'ADD #minute :one, #second :one SET #ttl = :ttl',
        ExpressionAttributeNames: { '#minute': 'n', '#second': secondCounter, '#ttl': TTL },
        ExpressionAttributeValues: { ':one': 1, ':ttl': Math.floor(at / 1000) + 120 },
        ReturnValues: 'UPDATED_NEW',
      }),
    )
    return {
      minute: counts?.n as number,
      second: counts?.[secondCounter] as number,
      secondsLeft: 60 - second,
    }
  }

  /** When the credentials with these keys were last used. Those that never were are left out. */
  async function lastUses(keys: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const byPartition = new Map(keys.map((key) => [lastUseKey(key).pk, key]))
    const items = await table.getMany(keys.map(lastUseKey))
    return new Map(items.map(({ pk, at }) => [byPartition.get(pk) ?? '', at as string]))
  }

  return { recordUse, countRequest, lastUses }
}
