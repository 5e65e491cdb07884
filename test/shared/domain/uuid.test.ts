import { describe, expect, it } from 'vitest'
import { importedUuid, isUuid, newUuid } from '../../../shared/domain/uuid.ts'

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

describe('newUuid', () => {
  it('makes ids of version 7 that sort by creation', () => {
    const ids = Array.from({ length: 100 }, newUuid)
    expect(ids.every((id) => isUuid(id) && id[14] === '7')).toBe(true)
    expect([...new Set(ids)].sort()).toEqual(ids)
  })
})

describe('importedUuid', () => {
  it('makes the same id of version 5 for the same clinic, entity and external id', () => {
    expect(importedUuid(ID, 'patients', 'A-17')).toBe(importedUuid(ID, 'patients', 'A-17'))
    expect(importedUuid(ID, 'patients', 'A-17')[14]).toBe('5')
  })

  it('makes different ids for another clinic, entity or external id', () => {
    const ids = [
      importedUuid(ID, 'patients', 'A-17'),
      importedUuid(ID, 'patients', 'A-18'),
      importedUuid(ID, 'doctors', 'A-17'),
      importedUuid(newUuid(), 'patients', 'A-17'),
    ]
    expect(new Set(ids).size).toBe(4)
  })

  it('makes the ids of earlier imports', () => {
    expect(importedUuid(ID, 'patients', 'A-17')).toBe('06e1647d-0551-5c7e-ae2b-69ca75f3feda')
  })
})
