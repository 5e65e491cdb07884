import { createHash } from 'node:crypto'
import type { ClinicId } from '../domain/clinic.ts'
import { KeptAnswer } from '../domain/kept-answer.ts'
import type { Changeset } from './changeset.ts'
import { keptAnswerKey, TTL } from './keys.ts'
import type { Table } from './table.ts'

/** Answers are kept for a day. */
const KEPT_SECONDS = 24 * 60 * 60

/** A request that may come more than once: whose, where, under which key of the caller's, and with which body. */
export type Repeatable = {
  readonly clinic: ClinicId
  readonly credential: string
  readonly route: string
  /** Undefined for a request without a key, which happens as often as it is sent. */
  readonly key: string | undefined
  readonly body: string
}

/** The key was used with another body. */
export class KeyReused extends Error {}

export type Once = ReturnType<typeof once>

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url')

/** Does a request once: its answer is kept in the transaction of its effect, so a crash leaves both or neither. */
export function once({ table, now }: { table: Table; now: () => number }, request: Repeatable) {
  const { clinic, credential, route, key, body } = request
  const place = key === undefined ? null : keptAnswerKey(clinic, credential, route, hashOf(key))

  /**
   * The answer that was given, if this is a repetition.
   * @throws KeyReused when the key came with another body before
   */
  async function find(): Promise<KeptAnswer | null> {
    const item = place && (await table.get(place))
    // Deletion by time to live lags behind.
    if (!item || (item[TTL] as number) <= now() / 1000) return null
    if (item.hash !== hashOf(body)) throw new KeyReused('the key was used with another body')
    return new KeptAnswer(item.status as number, item.body as string)
  }

  /** Adds the answer to the changes that it answers for; `patient` is whom it tells of. */
  function keep(changes: Changeset, status: number, answer: unknown, patient: string): void {
    if (!place) return
    const seconds = Math.floor(now() / 1000)
    const kept = {
      status,
      body: JSON.stringify(answer),
      hash: hashOf(body),
      p: patient,
      [TTL]: seconds + KEPT_SECONDS,
    }
    changes.put({ ...place, ...kept }, { unless: TTL, after: seconds })
  }

  return { find, keep }
}
