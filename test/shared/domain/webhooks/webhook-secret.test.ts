import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { secretBytes, secretIssue } from '../../../../shared/domain/webhooks/webhook-secret.ts'
import { property } from '../../../support/scale.ts'

const whsec = (bytes: number) => `whsec_${Buffer.alloc(bytes, 0xa7).toString('base64')}`

describe('a webhook secret', () => {
  it.each([
    'sixteen-visible!',
    'x'.repeat(256),
    `!${'~'.repeat(20)}`,
    'WHSEC_not-the-form',
    'whsec-not-the-form',
    whsec(24),
    whsec(25),
    whsec(32),
    whsec(64),
  ])('is valid as %s', (secret) => {
    expect(secretIssue(secret)).toBeNull()
  })

  it.each([
    ['', /visible/],
    ['fifteen-visible', /visible/],
    ['x'.repeat(257), /visible/],
    ['with a space in it', /visible/],
    ['with-a-tab\tin-it-somewhere', /visible/],
    ['sixteen-visible!\n', /visible/],
    ['\u007fsixteen-visible', /visible/],
    ['sixteen-visible-ü', /visible/],
    ['sixteen-visible-\u200b', /visible/],
    ['whsec_', /visible/],
    ['whsec_not*base64*at*all*not*base64*at*all', /base64/],
    [whsec(32).replace('=', ''), /base64/],
    [`${whsec(32)}=`, /base64/],
    [`whsec_${'-_-_'.repeat(8)}`, /base64/],
    // The same bytes, but with bits that no byte has.
    [`whsec_${'A'.repeat(42)}B=`, /base64/],
    [whsec(23), /24 to 64/],
    [whsec(65), /24 to 64/],
    // Copied with a quotation mark, a name or a second prefix.
    [`"${whsec(32)}"`, /must begin with whsec_/],
    [`SECRET=${whsec(32)}`, /must begin with whsec_/],
    [`whsec_${whsec(32)}`, /must begin with whsec_/],
  ])('is invalid as %j', (secret, issue) => {
    expect(secretIssue(secret)).toMatch(issue)
  })

  it('signs with the decoded bytes after whsec_', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 24, maxLength: 64 }), (bytes) => {
        const secret = `whsec_${Buffer.from(bytes).toString('base64')}`
        expect(secretIssue(secret)).toBeNull()
        expect(Buffer.from(secretBytes(secret))).toEqual(Buffer.from(bytes))
      }),
      property(200, 20_000),
    )
  })

  it('signs with its characters when it has no prefix', () => {
    expect(Buffer.from(secretBytes('MfKQ9r8GKYqrTwjU')).toString('latin1')).toBe('MfKQ9r8GKYqrTwjU')
  })
})
