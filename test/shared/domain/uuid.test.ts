import { describe, expect, it } from 'vitest'
import { isUuid, lineItemId, newUuid, uuidOfDigest } from '../../../shared/domain/uuid.ts'

const ID = '6d0e2a7c-0b1f-4c3d-8e5f-0123456789ab'

describe('isUuid', () => {
  it.each([
    ID,
    ID.toUpperCase(),
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ])('accepts %s', (text) => {
    expect(isUuid(text)).toBe(true)
  })

  it.each([
    ['an empty text', ''],
    ['text before it', `x${ID}`],
    ['text after it', `${ID}0`],
    ['braces', `{${ID}}`],
    ['no hyphens', ID.replaceAll('-', '')],
    ['a short first group', ID.slice(1)],
    ['a short second group', '6d0e2a7c-0b1-4c3d-8e5f-0123456789ab'],
    ['a short third group', '6d0e2a7c-0b1f-4c3-8e5f-0123456789ab'],
    ['a short fourth group', '6d0e2a7c-0b1f-4c3d-8e5-0123456789ab'],
    ['a short last group', ID.slice(0, -1)],
    ...[0, 9, 14, 19, 24].map((at): [string, string] => [
      `a letter that is not hexadecimal at ${at}`,
      `${ID.slice(0, at)}g${ID.slice(at + 1)}`,
    ]),
  ])('rejects %s', (_, text) => {
    expect(isUuid(text)).toBe(false)
  })
})

it('newUuid makes ids of version 7 that sort by creation', () => {
  const ids = Array.from({ length: 100 }, newUuid)
  expect(ids.every((id) => isUuid(id) && id[14] === '7')).toBe(true)
  expect([...new Set(ids)].sort()).toEqual(ids)
})

it('uuidOfDigest makes an id of version 8 from the first 16 bytes', () => {
  const bytes = Uint8Array.from({ length: 32 }, (_, index) => 0xe0 + index)
  expect(uuidOfDigest(bytes)).toBe('e0e1e2e3-e4e5-86e7-a8e9-eaebecedeeef')
  expect(uuidOfDigest(new Uint8Array(32))).toBe('00000000-0000-8000-8000-000000000000')
})

it('lineItemId makes an id of version 5 for each item of each invoice', () => {
  const ids = [lineItemId(ID, 0), lineItemId(ID, 1), lineItemId(newUuid(), 0)]
  expect(new Set(ids).size).toBe(3)
  expect(ids.every((id) => isUuid(id) && id[14] === '5')).toBe(true)
  expect(lineItemId(ID, 0)).toBe(ids[0])
})
