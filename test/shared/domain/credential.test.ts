import { describe, expect, it } from 'vitest'
import {
  CELL_PATTERN,
  type Credential,
  DEFAULT_CELL,
  isActive,
  parseAuthorization,
} from '../../../shared/domain/credential.ts'

describe('the name of a deployment', () => {
  it.each([DEFAULT_CELL, 'a', 'z', '0', '9', 'eu7', 'eightchr'])('may be %j', (cell) => {
    expect(CELL_PATTERN.test(cell)).toBe(true)
  })

  it.each(['', 'A', 'a_b', 'a-b', 'ninechars', ' a', 'a '])('may not be %j', (cell) => {
    expect(CELL_PATTERN.test(cell)).toBe(false)
  })
})

describe('parseAuthorization', () => {
  it.each(['Developer k:s', 'developer k:s', 'DEVELOPER k:s'])('parses %s', (header) => {
    expect(parseAuthorization(header)).toEqual({ key: 'k', secret: 's' })
  })

  it('parses a key and a secret of several characters, with all kinds of visible ASCII', () => {
    expect(parseAuthorization('Developer ck_!~9:cs_;/9')).toEqual({ key: 'ck_!~9', secret: 'cs_;/9' })
  })

  it('accepts a header of 512 characters', () => {
    const key = 'k'.repeat(500)
    expect(parseAuthorization(`Developer ${key}:s`)).toEqual({ key, secret: 's' })
  })

  it.each([
    ['nothing', ''],
    ['no scheme', 'k:s'],
    ['another scheme', 'Bearer k:s'],
    ['a scheme that only begins so', 'Developers k:s'],
    ['the scheme alone', 'Developer'],
    ['no pair', 'Developer '],
    ['no colon', 'Developer ks'],
    ['two colons', 'Developer k:s:t'],
    ['no key', 'Developer :s'],
    ['no secret', 'Developer k:'],
    ['only a colon', 'Developer :'],
    ['two spaces', 'Developer  k:s'],
    ['a tab', 'Developer\tk:s'],
    ['a space in the pair', 'Developer k: s'],
    ['a space before', ' Developer k:s'],
    ['a space behind', 'Developer k:s '],
    ['two pairs', 'Developer k:s, Developer k:s'],
    ['8 KB', `Developer ${'k'.repeat(8192)}:s`],
    ['letters beyond ASCII', 'Developer ké:s'],
    ['a full-width colon', 'Developer k：s'],
    ['NUL', 'Developer k\u0000:s'],
    ['a header of 513 characters', `Developer ${'k'.repeat(500)}:ss`],
    ['a line break', 'Developer k:s\r\nX-Evil: 1'],
    ['a line feed behind', 'Developer k:s\n'],
    ['DEL', 'Developer k\u007f:s'],
  ])('returns null for %s', (_, header) => {
    expect(parseAuthorization(header)).toBeNull()
  })
})

describe('isActive', () => {
  const NOW = Date.parse('2026-05-01T07:00:00Z')
  const credential = (facts: Partial<Credential>) =>
    ({ expiresAt: null, revokedAt: null, ...facts }) as Credential

  it.each<[boolean, string, Partial<Credential>]>([
    [true, 'without an expiry', {}],
    [true, 'before its expiry', { expiresAt: new Date(NOW + 1).toISOString() }],
    [false, 'at its expiry', { expiresAt: new Date(NOW).toISOString() }],
    [false, 'after its expiry', { expiresAt: new Date(NOW - 1).toISOString() }],
    [false, 'when revoked', { revokedAt: new Date(NOW - 1).toISOString() }],
    [
      false,
      'when revoked before its expiry',
      { revokedAt: new Date(NOW - 1).toISOString(), expiresAt: new Date(NOW + 1).toISOString() },
    ],
  ])('is %j %s', (expected, _, facts) => {
    expect(isActive(credential(facts), NOW)).toBe(expected)
  })
})
