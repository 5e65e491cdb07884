import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EVENTS, PING } from '../../../../shared/domain/webhooks/event.ts'
import {
  DISABLE_AFTER_MS,
  isSubscribedTo,
  JITTER,
  MAX_PREVIOUS_SECRETS,
  nextRetryDelay,
  nextSecretEnd,
  parseRetryAfter,
  RETRY_DELAYS_MS,
  SECRET_OVERLAP_MS,
  signingSecrets,
  type Webhook,
  withNewSecret,
} from '../../../../shared/domain/webhooks/webhook.ts'
import { property } from '../../../support/scale.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const NOW = Date.parse('2026-05-01T07:00:00Z')

const webhook: Webhook = {
  id: '6d0e2a7c-0000-4000-8000-000000000001',
  url: 'https://example.com/',
  events: ['patient.created', 'invoice.paid'],
  isActive: true,
  description: null,
  secret: 'the-present-secret',
  secretNumber: 1,
  previousSecrets: [],
  createdBy: 'ck_creator',
  createdAt: '2026-05-01T07:00:00.000Z',
  updatedAt: '2026-05-01T07:00:00.000Z',
}

describe('nextRetryDelay', () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true })
  const failures = RETRY_DELAYS_MS.map((scheduled, at) => [at + 1, scheduled] as const)

  it('follows the documented schedule', () => {
    expect(RETRY_DELAYS_MS).toEqual([
      5000,
      5 * MINUTE,
      30 * MINUTE,
      2 * HOUR,
      5 * HOUR,
      10 * HOUR,
      14 * HOUR,
      20 * HOUR,
      24 * HOUR,
    ])
  })

  it.each(failures)('after failure no. %i is %i ms plus up to a tenth', (failed, scheduled) => {
    fc.assert(
      fc.property(unit, (random) => {
        const wait = nextRetryDelay(failed, null, random)
        expect(Number.isInteger(wait)).toBe(true)
        expect(wait).toBeGreaterThanOrEqual(scheduled)
        expect(wait).toBeLessThanOrEqual(Math.ceil(scheduled * (1 + JITTER)))
      }),
      property(200, 20_000),
    )
    expect(nextRetryDelay(failed, null, 0)).toBe(scheduled)
    expect(nextRetryDelay(failed, null, 1)).toBe(Math.round(scheduled * 1.1))
  })

  it.each([RETRY_DELAYS_MS.length + 1, RETRY_DELAYS_MS.length + 2, 1000])(
    'is null after %i failures',
    (failed) => {
      expect(nextRetryDelay(failed, null, 0.5)).toBeNull()
      // Also if the endpoint requests a delay.
      expect(nextRetryDelay(failed, HOUR, 0.5)).toBeNull()
    },
  )

  it.each(failures)(
    'after failure no. %i is the scheduled delay, or a longer requested one up to a day',
    (failed) => {
      fc.assert(
        fc.property(fc.nat(100 * HOUR), unit, (asked, random) => {
          const [own, wait] = [
            nextRetryDelay(failed, null, random) ?? 0,
            nextRetryDelay(failed, asked, random),
          ]
          expect(wait).toBe(Math.max(own, Math.min(asked, 24 * HOUR)))
        }),
        property(200, 20_000),
      )
    },
  )
})

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['1', 1000],
    ['120', 2 * MINUTE],
    ['007', 7000],
    [' 120 ', 2 * MINUTE],
    ['1000000000', 1_000_000_000_000],
    ['99999999999999999999', 1e23],
    ['Fri, 01 May 2026 07:02:00 GMT', 2 * MINUTE],
    ['Fri, 01 May 2026 07:00:00 GMT', 0],
    // A time in the past is no delay.
    ['Fri, 01 May 2026 06:00:00 GMT', 0],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('parses %j as %i ms', (header, ms) => {
    expect(parseRetryAfter(header, NOW)).toBe(ms)
  })

  it.each(['', ' ', 'soon', 'NaN', 'Infinity', 'null', '1e9s', '0x10', '１２０', '12 hours', '1,5'])(
    'requests no delay for %j',
    (header) => {
      expect(parseRetryAfter(header, NOW) ?? 0).toBe(0)
    },
  )

  it('is null without the header', () => {
    expect(parseRetryAfter(null, NOW)).toBeNull()
  })

  it('is null, or finite and not negative, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (header) => {
        const asked = parseRetryAfter(header, NOW)
        if (asked !== null) expect(Number.isFinite(asked) && asked >= 0).toBe(true)
        const wait = nextRetryDelay(1, asked, 0)
        expect(wait).toBeGreaterThanOrEqual(5000)
        expect(wait).toBeLessThanOrEqual(24 * HOUR)
      }),
      property(500, 50_000),
    )
  })
})

describe('signingSecrets', () => {
  it('is the one secret before a rotation', () => {
    expect(signingSecrets(webhook, NOW)).toEqual(['the-present-secret'])
  })

  it.each([
    [-SECRET_OVERLAP_MS, true],
    [-1000, true],
    [-1, true],
    [0, false],
    [1, false],
    [SECRET_OVERLAP_MS, false],
  ])('%i ms after the end of the overlap has both secrets, the current one first: %j', (ms, both) => {
    const until = new Date(NOW).toISOString()
    const rotated = { ...webhook, previousSecrets: [{ secret: 'the-old-secret', until }] }
    expect(signingSecrets(rotated, NOW + ms)).toEqual(
      both ? ['the-present-secret', 'the-old-secret'] : ['the-present-secret'],
    )
  })
})

describe('withNewSecret', () => {
  const DAY = 24 * HOUR
  /** The webhook after a rotation at each of these times. */
  const rotatedAt = (...times: number[]) =>
    times.reduce<Webhook>(
      (before, at, n) => withNewSecret(before, `secret-${n + 2}`, NOW + at) ?? before,
      webhook,
    )

  it('replaces the secret, which then signs for a day', () => {
    expect(withNewSecret(webhook, 'the-new-secret', NOW)).toEqual({
      ...webhook,
      secret: 'the-new-secret',
      secretNumber: 2,
      previousSecrets: [{ secret: 'the-present-secret', until: '2026-05-02T07:00:00.000Z' }],
      updatedAt: '2026-05-01T07:00:01.000Z',
    })
  })

  it('keeps the ends of earlier secrets, newest first, and drops those that have ended', () => {
    const twice = rotatedAt(0, HOUR)
    expect(signingSecrets(twice, NOW + DAY - 1)).toEqual(['secret-3', 'secret-2', 'the-present-secret'])
    expect(signingSecrets(twice, NOW + DAY)).toEqual(['secret-3', 'secret-2'])
    expect(withNewSecret(twice, 'x', NOW + DAY)?.previousSecrets.map(({ secret }) => secret)).toEqual([
      'secret-3',
      'secret-2',
    ])
  })

  it('is null while three earlier secrets sign, and possible when the first has ended', () => {
    const full = rotatedAt(0, HOUR, 2 * HOUR)
    expect(full.previousSecrets.length).toBe(MAX_PREVIOUS_SECRETS)
    expect(withNewSecret(full, 'x', NOW + DAY - 1)).toBeNull()
    expect(nextSecretEnd(full, NOW + DAY - 1)).toBe(1)
    expect(withNewSecret(full, 'x', NOW + DAY)?.secretNumber).toBe(5)
    expect(nextSecretEnd(full, NOW + DAY)).toBe(HOUR)
  })

  it('changes nothing for the current secret, even when no further one is possible', () => {
    const full = rotatedAt(0, HOUR, 2 * HOUR)
    expect(withNewSecret(full, full.secret, NOW + 3 * HOUR)).toBe(full)
  })

  it('makes an earlier secret current without listing it twice', () => {
    const full = rotatedAt(0, HOUR, 2 * HOUR)
    const back = withNewSecret(full, 'the-present-secret', NOW + 3 * HOUR)
    expect(back && signingSecrets(back, NOW + 3 * HOUR)).toEqual([
      'the-present-secret',
      'secret-4',
      'secret-3',
      'secret-2',
    ])
  })
})

it('disables a webhook after five days of failures', () => {
  expect(DISABLE_AFTER_MS).toBe(120 * HOUR)
})

describe('isSubscribedTo', () => {
  it.each([...EVENTS, PING])('is true for %s if the webhook lists it or it is a ping', (event) => {
    expect(isSubscribedTo(webhook, event)).toBe(event === PING || webhook.events.includes(event))
    expect(isSubscribedTo({ ...webhook, events: [event] }, event)).toBe(true)
  })

  it.each([...EVENTS, PING])('is false for %s if the webhook is disabled', (event) => {
    expect(isSubscribedTo({ ...webhook, events: [...EVENTS], isActive: false }, event)).toBe(false)
  })
})
