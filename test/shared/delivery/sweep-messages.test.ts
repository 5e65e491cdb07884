import { describe, expect, it } from 'vitest'
import { MAX_AGE_MS } from '../../../shared/delivery/send-queued-email.ts'
import { type MessageSweep, sweepMessages } from '../../../shared/delivery/sweep-messages.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import type { Dispatch, Message } from '../../../shared/domain/message.ts'

const CLINIC = '6d0e2a7c-0000-4000-8000-000000000001' as ClinicId
const NOW = Date.parse('2026-05-01T07:00:00Z')
const MINUTE = 60_000
const DUE = NOW - MINUTE

const waiting: Dispatch = { dueAt: DUE, claim: null, isUnresolved: false }
const claimedUntil = (until: number): Dispatch => ({ ...waiting, claim: { token: 't', until } })

const aMessage = (id: string, dispatch: Dispatch | null, age = 2 * MINUTE): Message => ({
  id,
  channel: 'email',
  type: 'manual',
  recipient: 'ada@example.com',
  subject: 'Your visit',
  text: 'See you at ten',
  status: dispatch ? 'queued' : 'sent',
  providerMessageId: null,
  errorMessage: null,
  sentAt: null,
  patient: { id: '6d0e2a7c-0000-4000-8000-000000000002', fullName: 'Ada Kaya' },
  acceptedAt: new Date(NOW - age).toISOString(),
  acceptedOn: '2026-05-01',
  dispatch,
})

/** Sweeps over what is due, and tells what was done; a message of null is none, and `broken` calls fail for one id. */
async function swept(messages: Record<string, Message | null>, broken: Record<string, string> = {}) {
  const done: unknown[][] = []
  const counted: string[] = []
  const asked: unknown[][] = []
  const did =
    (name: string) =>
    async (...args: unknown[]): Promise<void> => {
      if (name in broken && JSON.stringify(args).includes(`"${broken[name]}"`)) throw new Error('no')
      done.push([name, ...args])
    }
  const sweep: MessageSweep = {
    now: () => NOW,
    count: (metric) => counted.push(metric),
    queue: { push: did('push') },
    messages: {
      due: async (...args) => {
        asked.push(args)
        return Object.keys(messages).map((id) => ({ clinic: CLINIC, id, at: DUE }))
      },
      find: async (_clinic, id) => {
        if (broken.find === id) throw new Error('no')
        const record = messages[id]
        return record ? { record, version: 3, events: 0 } : null
      },
      recordFeedback: did('note'),
      postpone: did('postpone'),
      markUnresolved: did('leaveUnresolved'),
      removeDue: did('forget'),
    },
  }
  const failed = await sweepMessages(sweep).then(
    () => false,
    () => true,
  )
  return { done, counted, asked, failed }
}

const due = (id: string) => ({ clinic: CLINIC, id, at: DUE })
const pushed = (message: string) => ['push', { clinic: CLINIC, message, waits: 0 }]

describe('the sweep', () => {
  it('asks for what is due by now, so much at a time', async () => {
    expect(await swept({})).toEqual({ done: [], counted: [], asked: [[NOW, 250]], failed: false })
  })

  it.each<[string, Message | null]>([
    ['that does not exist', null],
    ['that is done', aMessage('m', null)],
    ['that is due at another time', aMessage('m', { ...waiting, dueAt: DUE + 1 })],
  ])('forgets a message %s', async (_, message) => {
    expect(await swept({ m: message })).toMatchObject({ done: [['forget', due('m')]], counted: [] })
  })

  it('leaves a message to a person when its sender ended without a word', async () => {
    expect(await swept({ m: aMessage('m', claimedUntil(NOW)) })).toMatchObject({
      done: [
        [
          'leaveUnresolved',
          CLINIC,
          'm',
          'The sender stopped without reporting a result: the message may have been sent',
        ],
      ],
      counted: ['message_unresolved'],
    })
  })

  it('never sends a message again that somebody claimed, however old', async () => {
    for (const dispatch of [claimedUntil(NOW - MAX_AGE_MS), claimedUntil(NOW + 1)]) {
      const { done } = await swept({ m: aMessage('m', dispatch, 2 * MAX_AGE_MS) })
      expect(done.map(([name]) => name)).not.toContain('push')
      expect(done.map(([name]) => name)).not.toContain('note')
    }
  })

  it('leaves a message alone while somebody is at it', async () => {
    expect(await swept({ m: aMessage('m', claimedUntil(NOW + 1)) })).toMatchObject({ done: [], counted: [] })
  })

  it.each<[string, number, number]>([
    ['soon after it was accepted', 2 * MINUTE, 15 * MINUTE],
    ['after 15 minutes', 15 * MINUTE, 15 * MINUTE],
    ['ever less often: after half an hour', 30 * MINUTE, 30 * MINUTE],
    ['but once an hour at least', MAX_AGE_MS, 60 * MINUTE],
  ])('queues an email that waits, and looks again later: %s', async (_, age, next) => {
    const message = aMessage('m', waiting, age)
    expect(await swept({ m: message })).toMatchObject({
      done: [pushed('m'), ['postpone', CLINIC, { record: message, version: 3 }, NOW + next]],
      counted: ['email_queued_again'],
    })
  })

  it('gives an email up that has waited for more than a day', async () => {
    expect(await swept({ m: aMessage('m', waiting, MAX_AGE_MS + 1) })).toMatchObject({
      done: [
        ['note', CLINIC, 'm', { kind: 'failed', reason: 'Not sent: the message waited for more than a day' }],
      ],
      counted: [],
    })
  })

  it('looks at each that is due', async () => {
    const { done } = await swept({
      a: aMessage('a', waiting),
      b: null,
      c: aMessage('c', claimedUntil(NOW - 1)),
      d: aMessage('d', waiting),
    })
    expect(done.map(([name]) => name)).toEqual([
      'push',
      'postpone',
      'forget',
      'leaveUnresolved',
      'push',
      'postpone',
    ])
  })

  it('does not put off what it could not queue: the next minute tries again', async () => {
    const { done, failed } = await swept({ m: aMessage('m', waiting) }, { push: 'm' })
    expect({ done, failed }).toEqual({ done: [], failed: true })
  })

  it.each([
    ['cannot be read', { find: 'a' }],
    ['cannot be queued', { push: 'a' }],
    ['cannot be put off', { postpone: 'a' }],
  ])('is not held up for ever by one message that %s', async (_, broken) => {
    const { done } = await swept({ a: aMessage('a', waiting), b: aMessage('b', waiting) }, broken)
    expect(done).toContainEqual(pushed('b'))
  })
})
