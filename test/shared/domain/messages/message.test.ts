import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eraseFields } from '../../../../shared/domain/field-policy.ts'
import {
  applyFeedback,
  asUnresolved,
  type Dispatch,
  isMessageWaiting,
  isUnresolved,
  MESSAGE_FIELDS,
  MESSAGE_STATUSES,
  type Message,
  type ProviderFeedback,
} from '../../../../shared/domain/messages/message.ts'
import { anEmail } from '../../../support/sample-records.ts'
import { property } from '../../../support/scale.ts'

const claim = { token: 't', until: 1000 }
const waiting: Dispatch = { dueAt: 1000, claim: null, isUnresolved: false }
const claimed: Dispatch = { ...waiting, claim }
const unresolved: Dispatch = { ...claimed, isUnresolved: true }

const sent: ProviderFeedback = { kind: 'sent', at: '2026-05-01T07:00:01.000Z', providerMessageId: 'p-1' }
const delivered: ProviderFeedback = {
  kind: 'delivered',
  at: '2026-05-01T07:00:09.000Z',
  providerMessageId: 'p-1',
}
const failed: ProviderFeedback = { kind: 'failed', reason: 'Bounce: Permanent' }
const complaint: ProviderFeedback = {
  kind: 'complaint',
  at: '2026-05-01T08:00:00.000Z',
  providerMessageId: 'p-1',
  reason: 'Complaint',
}

const all = (message: Message, ...occurrences: readonly ProviderFeedback[]): Message =>
  occurrences.reduce(applyFeedback, message)

describe('feedback on a message', () => {
  it('moves the status of a message whose patient is erased, and stores no text of the provider', () => {
    const erased = eraseFields(anEmail(), MESSAGE_FIELDS)
    const bounce: ProviderFeedback = { kind: 'failed', reason: 'ada@example.com: mailbox full' }
    expect(all(erased, sent, bounce)).toEqual({ ...erased, status: 'failed', sentAt: sent.at })
  })

  it.each<[string, ProviderFeedback[], Partial<Message>]>([
    ['sent', [sent], { status: 'sent', sentAt: sent.at, providerMessageId: 'p-1', errorMessage: null }],
    ['sent, delivered', [sent, delivered], { status: 'delivered', sentAt: sent.at }],
    // The sender may record its success last.
    ['delivered, sent', [delivered, sent], { status: 'delivered', sentAt: delivered.at }],
    ['sent, failed', [sent, failed], { status: 'failed', sentAt: sent.at, errorMessage: failed.reason }],
    ['failed', [failed], { status: 'failed', sentAt: null, providerMessageId: null }],
    ['failed, sent', [failed, sent], { status: 'failed', sentAt: sent.at, errorMessage: failed.reason }],
    // The mailbox accepted the message and bounced it later.
    ['delivered, failed', [delivered, failed], { status: 'delivered', errorMessage: failed.reason }],
    ['failed, delivered', [failed, delivered], { status: 'failed', errorMessage: failed.reason }],
    // A recipient who complains has received the message.
    ['complaint', [complaint], { status: 'delivered', errorMessage: 'Complaint', sentAt: complaint.at }],
    ['sent, complaint', [sent, complaint], { status: 'delivered', sentAt: sent.at }],
    ['failed, complaint', [failed, complaint], { status: 'failed', errorMessage: failed.reason }],
  ])('%s', (_, occurrences, expected) => {
    expect(all(anEmail({ dispatch: claimed }), ...occurrences)).toMatchObject(expected)
  })

  it('settles the message, so that it is no longer due', () => {
    for (const dispatch of [waiting, claimed, unresolved])
      for (const occurrence of [sent, delivered, failed, complaint])
        expect(all(anEmail({ dispatch }), occurrence).dispatch).toBeNull()
  })

  it('changes only the fields of its outcome', () => {
    const message = anEmail({ dispatch: claimed })
    const { status, sentAt, providerMessageId, errorMessage, dispatch, ...rest } = all(message, sent)
    expect(message).toMatchObject(rest)
    expect(Object.keys(rest).length).toBe(Object.keys(message).length - 5)
  })
})

describe('a lost reply', () => {
  const lost = asUnresolved(anEmail({ dispatch: claimed }), 'The reply was lost')

  it('leaves the message queued, claimed and unresolved, with the reason', () => {
    expect(lost).toEqual(anEmail({ dispatch: unresolved, errorMessage: 'The reply was lost' }))
    expect(isUnresolved(lost, 0)).toBe(true)
  })

  it.each<[string, ProviderFeedback, Partial<Message>]>([
    ['sent', sent, { status: 'sent', errorMessage: null, providerMessageId: 'p-1' }],
    ['delivered', delivered, { status: 'delivered', errorMessage: null }],
    ['failed', failed, { status: 'failed', errorMessage: failed.reason }],
    ['a complaint', complaint, { status: 'delivered', errorMessage: 'Complaint' }],
  ])('is resolved by later feedback of the provider: %s', (_, occurrence, expected) => {
    const resolved = all(lost, occurrence)
    expect(resolved).toMatchObject({ ...expected, dispatch: null })
    expect(isUnresolved(resolved, Number.POSITIVE_INFINITY)).toBe(false)
  })

  it('leaves a settled message settled', () => {
    const settled = all(anEmail({ dispatch: claimed }), sent)
    expect(asUnresolved(settled, 'late').dispatch).toBeNull()
  })
})

describe('any sequence of feedback', () => {
  const at = fc.integer({ min: 0, max: 1e12 }).map((ms) => new Date(ms).toISOString())
  const providerMessageId = fc.constantFrom(null, 'p-1', 'p-2')
  const occurrence: fc.Arbitrary<ProviderFeedback> = fc.oneof(
    fc.record({ kind: fc.constant('sent' as const), at, providerMessageId }),
    fc.record({ kind: fc.constant('delivered' as const), at, providerMessageId }),
    fc.record({ kind: fc.constant('failed' as const), reason: fc.constantFrom('Bounce', 'Rejected') }),
    fc.record({
      kind: fc.constant('complaint' as const),
      at,
      providerMessageId,
      reason: fc.constantFrom('abuse', 'fraud'),
    }),
  )
  const start = fc.constantFrom(
    ...[waiting, claimed, null].map((dispatch) => anEmail({ dispatch })),
    asUnresolved(anEmail({ dispatch: claimed }), 'lost'),
  )
  /** Occurrences in any order, each any number of times. */
  const sequence = fc
    .uniqueArray(occurrence, { minLength: 1, maxLength: 4 })
    .chain((kinds) => fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 12 }))

  it('only moves the status forward, and never changes a final one', () => {
    const rank = { queued: 0, sent: 1, delivered: 2, failed: 2 }
    fc.assert(
      fc.property(start, sequence, (message, occurrences) => {
        let now = message
        for (const one of occurrences) {
          const next = all(now, one)
          expect(rank[next.status]).toBeGreaterThanOrEqual(Math.max(rank[now.status], 1))
          if (rank[now.status] === 2) expect(next.status).toBe(now.status)
          // Known facts are never lost.
          expect(next.sentAt).toBe(now.sentAt ?? ('at' in one ? one.at : null))
          expect(next.providerMessageId ?? now.providerMessageId).toBe(next.providerMessageId)
          if (now.dispatch === null && now.errorMessage) expect(next.errorMessage).toBe(now.errorMessage)
          expect(next.dispatch).toBeNull()
          now = next
        }
        expect(MESSAGE_STATUSES).toContain(now.status)
      }),
      property(300, 100_000),
    )
  })

  it('has the same result when an occurrence is reported again later', () => {
    fc.assert(
      fc.property(start, sequence, (message, occurrences) => {
        // A set keeps the first of each occurrence.
        expect(all(message, ...occurrences)).toEqual(all(message, ...new Set(occurrences)))
      }),
      property(300, 100_000),
    )
  })

  it('ends in the first final status, or in sent', () => {
    fc.assert(
      fc.property(start, sequence, (message, occurrences) => {
        const [first] = occurrences.filter(({ kind }) => kind !== 'sent')
        const expected = !first ? 'sent' : first.kind === 'failed' ? 'failed' : 'delivered'
        expect(all(message, ...occurrences).status).toBe(expected)
      }),
      property(300, 100_000),
    )
  })
})

describe('a message on its way', () => {
  const expired = { ...claimed, claim: { ...claim, until: 999 } }
  it.each<[string, Partial<Message>, [isWaiting: boolean, isUnresolved: boolean]]>([
    ['sent by others', { dispatch: null }, [false, false]],
    ['waiting', { dispatch: waiting }, [true, false]],
    ['claimed, at 999', { dispatch: claimed }, [false, false]],
    ['claimed until then', { dispatch: expired }, [false, true]],
    ['left to a person', { dispatch: unresolved }, [false, true]],
    ['sent', { status: 'sent', dispatch: null }, [false, false]],
    ['failed, with a claim that has expired', { status: 'failed', dispatch: expired }, [false, false]],
    ['failed before it was claimed', { status: 'failed', dispatch: waiting }, [false, false]],
    ['failed while claimed', { status: 'failed', dispatch: claimed }, [false, false]],
    ['delivered, unresolved', { status: 'delivered', dispatch: unresolved }, [false, false]],
  ])('that is %s', (_, facts, expected) => {
    const message = anEmail(facts)
    expect([isMessageWaiting(message), isUnresolved(message, 999)]).toEqual(expected)
  })
})
