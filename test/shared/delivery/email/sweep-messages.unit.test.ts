import { describe, expect, it } from 'vitest'
import { MAX_AGE_MS } from '../../../../shared/delivery/email/send-queued-email.ts'
import { type MessageSweep, sweepMessages } from '../../../../shared/delivery/email/sweep-messages.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import type { Dispatch, Message } from '../../../../shared/domain/messages/message.ts'
import { anEmail } from '../../../support/sample-records.ts'

const CLINIC = '6d0e2a7c-0000-4000-8000-000000000001' as ClinicId
const NOW = Date.parse('2026-05-01T07:00:00Z')
const MINUTE = 60_000
const DUE = NOW - MINUTE

const waiting: Dispatch = { dueAt: DUE, claim: null, isUnresolved: false }
const claimedUntil = (until: number): Dispatch => ({ ...waiting, claim: { token: 't', until } })

const aMessage = (id: string, dispatch: Dispatch | null, age = 2 * MINUTE): Message =>
  anEmail({
    id,
    status: dispatch ? 'queued' : 'sent',
    acceptedAt: new Date(NOW - age).toISOString(),
    dispatch,
  })

/** Sweeps the given due messages and returns the calls made. A message of null does not exist; `broken` calls fail for one id. */
async function swept(
  messages: Record<string, Message | null>,
  broken: Record<string, string> = {},
  isUnchanged = true,
) {
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
      dueBatches: async function* (...args) {
        asked.push(args)
        yield Object.keys(messages).map((id) => ({ clinic: CLINIC, id, at: DUE }))
      },
      find: async (_clinic, id) => {
        if (broken.find === id) throw new Error('no')
        const record = messages[id]
        return record ? { record, version: 3, events: 0 } : null
      },
      recordFeedback: did('recordFeedback'),
      giveUp: did('giveUp'),
      postpone: async (...args) => {
        await did('postpone')(...args)
        return isUnchanged
      },
      markUnresolved: did('markUnresolved'),
      removeDue: did('removeDue'),
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

describe('the sweep of messages', () => {
  it('reads the messages that are due now', async () => {
    expect(await swept({})).toEqual({ done: [], counted: [], asked: [[NOW, 100]], failed: false })
  })

  it.each<[string, Message | null]>([
    ['that does not exist', null],
    ['that was sent', aMessage('m', null)],
    ['that is due at another time', aMessage('m', { ...waiting, dueAt: DUE + 1 })],
  ])('removes the due item of a message %s', async (_, message) => {
    expect(await swept({ m: message })).toMatchObject({ done: [['removeDue', due('m')]], counted: [] })
  })

  it('marks a message as unresolved when its claim has expired, however old', async () => {
    expect(await swept({ m: aMessage('m', claimedUntil(NOW), 2 * MAX_AGE_MS) })).toMatchObject({
      done: [
        [
          'markUnresolved',
          CLINIC,
          'm',
          "The sending function stopped before recording the provider's response; it may have been sent.",
        ],
      ],
      counted: [],
    })
  })

  it('does nothing while a message is claimed, however old', async () => {
    const claimed = aMessage('m', claimedUntil(NOW + 1), 2 * MAX_AGE_MS)
    expect(await swept({ m: claimed })).toMatchObject({ done: [], counted: [] })
  })

  it.each<[string, number, number]>([
    ['soon after it was accepted', 2 * MINUTE, 15 * MINUTE],
    ['after 15 minutes', 15 * MINUTE, 15 * MINUTE],
    ['after half an hour', 30 * MINUTE, 30 * MINUTE],
    ['after a day', MAX_AGE_MS, 60 * MINUTE],
  ])('queues a waiting email %s, and checks it again later', async (_, age, next) => {
    const message = aMessage('m', waiting, age)
    expect(await swept({ m: message })).toMatchObject({
      done: [['postpone', CLINIC, { record: message, version: 3, events: 0 }, NOW + next], pushed('m')],
      counted: ['email_queued_again'],
    })
  })

  it('fails an email that has waited for more than a day', async () => {
    expect(await swept({ m: aMessage('m', waiting, MAX_AGE_MS + 1) })).toMatchObject({
      done: [['giveUp', CLINIC, 'm', 'Not sent: the message waited for more than a day']],
      counted: [],
    })
  })

  it('leaves a message that could not be queued to the next sweep', async () => {
    const { done, failed } = await swept({ m: aMessage('m', waiting) }, { push: 'm' })
    const dueTimes = done.map(([name, , read, at]) => [name, (read as { version: number }).version, at])
    expect({ dueTimes, failed }).toEqual({
      dueTimes: [
        ['postpone', 3, NOW + 15 * MINUTE],
        ['postpone', 4, DUE],
      ],
      failed: true,
    })
  })

  it('does not queue a message that changed since it was read', async () => {
    const { done, counted } = await swept({ m: aMessage('m', waiting) }, {}, false)
    expect([done.map(([name]) => name), counted]).toEqual([['postpone'], []])
  })

  it.each([
    ['cannot be read', { find: 'a' }],
    ['cannot be queued', { push: 'a' }],
    ['cannot be postponed', { postpone: 'a' }],
  ])('processes the other messages when one %s', async (_, broken) => {
    const { done } = await swept({ a: aMessage('a', waiting), b: aMessage('b', waiting) }, broken)
    expect(done).toContainEqual(pushed('b'))
  })
})
