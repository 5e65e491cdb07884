import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { readEmailFeedback, readSmsReceipt } from '../../../../shared/delivery/email/feedback.ts'
import { property } from '../../../support/scale.ts'

const CLINIC = '6d0e2a7c-0000-4000-8000-000000000001'
const MESSAGE = '6d0e2a7c-0000-4000-8000-000000000002'

const GARBAGE = ['', '{', 'null', '[]', '{}', '"text"', '1', '<html></html>', '\ufeff{}']

describe('an SES event', () => {
  const feedback = (more: object = {}) => ({
    event: 'Delivery',
    clinic: [CLINIC],
    message: [MESSAGE],
    provider_message_id: 'ses-1',
    at: '2026-05-01T07:00:01Z',
    detail: [],
    ...more,
  })
  const read = (more: object = {}) => readEmailFeedback(JSON.stringify(feedback(more)))
  const at = '2026-05-01T07:00:01Z'

  const known = { at, providerMessageId: 'ses-1' }
  const bounced = (detail: string) => ({ kind: 'failed', reason: `Bounce: ${detail}` })

  it.each<[string, object, object]>([
    ['Send', { event: 'Send' }, { ...known, kind: 'sent' }],
    ['Delivery', {}, { ...known, kind: 'delivered' }],
    ['Bounce', { event: 'Bounce', detail: ['Permanent', 'Suppressed'] }, bounced('Permanent, Suppressed')],
    // EventBridge renders a missing value as empty text.
    ['Bounce of no type', { event: 'Bounce', detail: ['', ''] }, { kind: 'failed', reason: 'Bounce' }],
    ['Bounce of half a type', { event: 'Bounce', detail: ['Transient', ''] }, bounced('Transient')],
    ['Complaint', { event: 'Complaint' }, { ...known, kind: 'complaint', reason: 'Complaint' }],
    ['Reject', { event: 'Reject' }, { kind: 'failed', reason: 'The provider rejected it' }],
    ['Delivery with unknown fields', { source: 'aws.ses' }, { ...known, kind: 'delivered' }],
  ])('of %s is parsed into its message and feedback', (_, more, feedback) => {
    expect(read(more)).toEqual({ clinic: CLINIC, message: MESSAGE, feedback })
  })

  it.each<[string, object]>([
    ['an unknown event', { event: 'Open' }],
    ['no event', { event: undefined }],
    ['tags that are not lists', { clinic: CLINIC }],
    ['no tags', { message: [] }],
    ['two values of a tag', { message: [MESSAGE, MESSAGE] }],
    ['a tag that is not an id', { clinic: ['nord'] }],
    ['no provider message id', { provider_message_id: '' }],
    ['no time', { at: 'yesterday' }],
    ['an empty time', { at: '' }],
    ['no detail', { detail: undefined }],
  ])('with %s is rejected', (_, more) => {
    expect(() => read(more)).toThrow()
  })

  it.each(GARBAGE)('is rejected as %j', (body) => {
    expect(() => readEmailFeedback(body)).toThrow()
  })

  it('is either parsed completely or rejected, for any JSON', () => {
    const any = fc.oneof(
      fc.json(),
      fc.string(),
      fc.jsonValue().map((detail) => JSON.stringify(feedback({ detail }))),
    )
    fc.assert(
      fc.property(any, (body) => {
        try {
          expect(readEmailFeedback(body)).toMatchObject({ clinic: CLINIC, message: MESSAGE })
        } catch (error) {
          expect((error as Error).name).toMatch(/^(SyntaxError|ZodError|\$ZodError)$/)
        }
      }),
      property(500, 20_000),
    )
  })
})

describe('an SMS receipt', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  const receipt = ({ status = 'SUCCESS', ...more }: { status?: string } & Record<string, unknown> = {}) => ({
    notification: { messageId: 'sns-1', timestamp: '2026-05-01 07:00:01.234' },
    delivery: {
      phoneCarrier: 'My Phone Carrier',
      mnc: 270,
      numberOfMessageParts: 1,
      destination: '+905321234567',
      priceInUSD: 0.00645,
      smsType: 'Transactional',
      mcc: 310,
      providerResponse: 'Message has been accepted by phone carrier',
      dwellTimeMs: 599,
      dwellTimeMsUntilDeviceAck: 1344,
    },
    status,
    ...more,
  })
  const read = (more: Parameters<typeof receipt>[0] = {}) => readSmsReceipt(JSON.stringify(receipt(more)))
  const rejected = (providerResponse?: string) =>
    read({ status: 'FAILURE', delivery: { destination: '+905321234567', providerResponse } })
  const reasonOf = (providerResponse?: string): string => {
    const feedback = rejected(providerResponse)?.feedback
    return feedback?.kind === 'failed' ? feedback.reason : ''
  }

  it('of a success has the delivery time in UTC, in any local time zone', () => {
    vi.stubEnv('TZ', 'Asia/Kathmandu')
    expect(new Date(2026, 0).toISOString()).toBe('2025-12-31T18:15:00.000Z')
    expect(read()).toEqual({
      providerMessageId: 'sns-1',
      feedback: { kind: 'delivered', at: '2026-05-01T07:00:01.234Z', providerMessageId: 'sns-1' },
    })
  })

  it.each([
    [
      'Phone is currently unreachable/unavailable',
      'Not delivered: Phone is currently unreachable/unavailable',
    ],
    [undefined, 'Not delivered: no response'],
    ['x'.repeat(300), `Not delivered: ${'x'.repeat(200)}`],
    ['Error 1234 of carrier 31027', 'Not delivered: Error 1234 of carrier 31027'],
  ])('of a failure has the carrier’s response %j as its reason', (answer, reason) => {
    expect(rejected(answer)).toEqual({ providerMessageId: 'sns-1', feedback: { kind: 'failed', reason } })
  })

  it.each([
    '+905321234567',
    '+90 (532) 123-45-67',
    '555\u00a0123\u00a04567',
    // Other separators, and digits that are not ASCII's.
    '0532/123/45/67',
    '555\u2011123\u20114567',
    '555–123–4567',
    '555_123_4567',
    '٠٥٣٢١٢٣٤٥٦٧',
  ])('removes the phone number %j from the carrier’s response', (number) => {
    const reason = reasonOf(`Number ${number} is unknown (to: ${number})`)
    expect(reason).toMatch(/^Not delivered: Number .* is unknown \(to: .*\)$/)
    expect(reason.replace(/[^\p{Nd}]/gu, '').length).toBeLessThan(6)
  })

  it('does not split a character when it shortens the carrier’s response', () => {
    expect(reasonOf(`${'x'.repeat(199)}😀`).isWellFormed()).toBe(true)
  })

  it.each<[string, object]>([
    ['no notification', { notification: undefined }],
    ['no id', { notification: { messageId: '', timestamp: '2026-05-01 07:00:01.234' } }],
    ['no delivery', { delivery: undefined }],
    ['an unknown status', { status: 'PENDING' }],
    ['no time', { notification: { messageId: 'sns-1', timestamp: 'yesterday' } }],
  ])('with %s is ignored', (_, more) => {
    expect(read(more as Parameters<typeof receipt>[0])).toBeNull()
  })

  it.each(GARBAGE)('is ignored as %j', (body) => {
    expect(readSmsReceipt(body)).toBeNull()
  })

  it('removes phone numbers in any form and context', () => {
    const separators = fc.constantFrom('', ' ', '-', '.', ') ', ' (')
    const number = fc
      .array(fc.tuple(fc.integer({ min: 0, max: 9 }), separators), { minLength: 7, maxLength: 15 })
      .map((digits) => digits.flat().join(''))
    const words = fc.stringMatching(/^[a-z ]{0,20}$/)
    fc.assert(
      fc.property(words, number, words, (before, digits, after) => {
        expect(reasonOf(`${before} ${digits}x${after}`)).not.toMatch(/\d/)
      }),
      property(500, 50_000),
    )
  })
})
