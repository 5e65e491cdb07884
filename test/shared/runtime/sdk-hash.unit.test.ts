import { createHash, createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { Sha256Node } from '../../../shared/runtime/sdk-hash.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

it.each([
  ['no key', undefined],
  ['a text as the key', 'AWS4 secret'],
  ['bytes as the key', bytes('derived key')],
] as const)('digests what it got since its start or reset, with %s', async (_, key) => {
  const hash = new Sha256Node(key)
  for (const parts of [['20261126', 'eu-central-1'], [bytes('body')], []]) {
    const expected = key === undefined ? createHash('sha256') : createHmac('sha256', key)
    for (const one of [hash, expected]) for (const part of parts) one.update(part)
    expect([...(await hash.digest())]).toEqual([...expected.digest()])
    hash.reset()
  }
})
