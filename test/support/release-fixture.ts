/** What a release has stored and answered, as test/e2e/releases/ holds it for each: test/e2e/upgrades.test.ts opens it with today's code. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { Item } from '../../shared/store/table/write-requests.ts'

export type ReleaseFixture = {
  /** Milliseconds since the epoch. Expiries of then are judged by this time. */
  readonly recordedAt: number
  readonly clinic: string
  /** A credential with all scopes of its release, as it is sent. */
  readonly credential: string
  /** The previous secret of a credential and its present one, each as it is sent. */
  readonly rotated: readonly string[]
  /** `HOST:PORT` in the URLs of the two endpoints, of which the second has always answered 500. */
  readonly address: string
  readonly webhooks: readonly string[]
  /** POST /patients with idempotency keys, and the responses. */
  readonly repeated: readonly {
    readonly key: string
    readonly body: object
    readonly status: number
    readonly text: string
  }[]
  /** Bodies of GET responses by path and query: lists page by page and after cursors, records, events, deliveries. */
  readonly responses: Readonly<Record<string, object>>
  readonly items: readonly Item[]
}

const FOLDER = join(import.meta.dirname, '../e2e/releases')
const MAX_BYTES = 1_000_000
const WINDOW_BITS = 24

/** The releases that have been recorded, oldest first. */
export const RECORDED_RELEASES = readdirSync(FOLDER)
  .map((name) => name.replace('.json.br', ''))
  .sort()

/** Reads a fixture, with `address` in place of the one in its URLs. */
export function readRelease(release: string, address: string): ReleaseFixture {
  const text = brotliDecompressSync(readFileSync(join(FOLDER, `${release}.json.br`))).toString()
  const { address: recorded } = JSON.parse(text) as ReleaseFixture
  return JSON.parse(text.replaceAll(recorded, address), (_, value) =>
    typeof value?.$binary === 'string' ? Buffer.from(value.$binary, 'base64') : value,
  )
}

/** @throws RangeError if it is too large to be committed */
export function writeRelease(release: string, fixture: ReleaseFixture): void {
  const text = JSON.stringify(fixture, (_, value) =>
    ArrayBuffer.isView(value) || value?.type === 'Buffer'
      ? { $binary: Buffer.from(value.data ?? value).toString('base64') }
      : value,
  )
  const bytes = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS } })
  if (bytes.length > MAX_BYTES) throw new RangeError(`the fixture has ${bytes.length} bytes`)
  writeFileSync(join(FOLDER, `${release}.json.br`), bytes)
}
