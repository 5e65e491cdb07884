import { describe, expect, it } from 'vitest'
import { parseAuthorization } from '../../../shared/domain/credential.ts'

describe('parseAuthorization', () => {
  it.each(['Developer k:s', 'developer k:s', 'DEVELOPER k:s'])('reads %s', (header) => {
    expect(parseAuthorization(header)).toEqual({ key: 'k', secret: 's' })
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
    ['a line break', 'Developer k:s\r\nX-Evil: 1'],
    ['a line feed behind', 'Developer k:s\n'],
    ['DEL', 'Developer k\u007f:s'],
  ])('refuses %s', (_, header) => {
    expect(parseAuthorization(header)).toBeNull()
  })
})
