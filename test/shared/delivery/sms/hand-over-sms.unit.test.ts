import { expect, it } from 'vitest'
import type { SendResult } from '../../../../shared/delivery/send-result.ts'
import { handOverSms } from '../../../../shared/delivery/sms/hand-over-sms.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { anSms } from '../../../support/sample-records.ts'

const DEADLINE = new AbortController().signal
const CLINIC = 'clinic-1' as ClinicId
const message = anSms()

/** Hands an SMS over to a provider with this result. Returns the outcome and everything that was called, in order. */
async function handOver(result: SendResult, isLogDown = false) {
  const calls: unknown[][] = []
  const record =
    (name: string) =>
    async (...[clinic, id, detail, extend]: RecordArguments) => {
      calls.push([name, clinic, id, detail])
      if (isLogDown) throw new Error('down')
      await extend?.('changes')
    }
  const outcome = await handOverSms<string>(
    {
      messages: { recordFeedback: record('recordFeedback'), markUnresolved: record('markUnresolved') },
      sender: {
        send: async (...sent) => {
          calls.push(['send', ...sent])
          return result
        },
      },
      deadline: DEADLINE,
      now: () => Date.parse('2026-05-01T07:00:02.000Z'),
      count: (...counted) => calls.push(['count', ...counted]),
    },
    CLINIC,
    message,
    async (changes, sent) => void calls.push([changes, sent?.status ?? null]),
  )
  return { status: outcome?.status ?? null, calls: calls.slice(1), sent: calls[0] }
}
type RecordArguments = [string, string, unknown, ((changes: string) => Promise<void>)?]

const SENT = { kind: 'sent', at: '2026-05-01T07:00:02.000Z', providerMessageId: 'sns-1' }
const recordedAs = (feedback: object) => ['recordFeedback', CLINIC, 'm1', feedback]
const NOT_SENT = recordedAs({ kind: 'failed', reason: 'no' })

it.each<[result: SendResult, status: string | null, recorded: unknown[]]>([
  [{ kind: 'accepted', providerMessageId: 'sns-1' }, 'sent', recordedAs(SENT)],
  [{ kind: 'rejected', reason: 'no' }, 'failed', NOT_SENT],
  [{ kind: 'unavailable', reason: 'no' }, null, NOT_SENT],
  [{ kind: 'unknown', reason: 'lost' }, 'queued', ['markUnresolved', CLINIC, 'm1', 'lost']],
])('records the result %o with status %s', async (result, status, recorded) => {
  expect(await handOver(result)).toEqual({
    status,
    sent: ['send', message, DEADLINE],
    calls: [recorded, ['changes', status]],
  })
})

it('returns the provider’s result and counts a metric when the result cannot be recorded', async () => {
  const { status, calls } = await handOver({ kind: 'accepted', providerMessageId: 'sns-1' }, true)
  expect(status).toBe('sent')
  expect(calls.at(-1)).toEqual(['count', 'sms_not_noted', {}, new Error('down')])
})
