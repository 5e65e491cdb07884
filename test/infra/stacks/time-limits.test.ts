/** The time limits of sending: in the template, and in the code that must stay within them. */
import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import { EMAIL_LEASE_MS } from '../../../shared/delivery/email/send-queued-email.ts'
import { SMS_CLAIM_MS } from '../../../shared/domain/messages/accept-message.ts'
import { TIMEOUT_MARGIN_MS } from '../../../shared/http/chain.ts'
import {
  EMAIL_STEP_MS,
  emailIntervalMs,
  SES_CALL_MS,
  SMS_DEADLINE_MS,
} from '../../../shared/runtime/messaging.ts'
import { QUEUE_CALL } from '../../../shared/runtime/queue-client.ts'
import { RETRY_BUDGET_MS } from '../../../shared/store/table/retries.ts'
import { logicalIdAt, resourceOfFunction, resourcesOf } from '../../support/template.ts'
import { arnOf, dev } from './expected-template.ts'

const timeoutMs = (id: string): number => {
  const { Timeout } = resourceOfFunction(dev, 'AWS::Lambda::Function', id).Properties as unknown as {
    Timeout: number
  }
  return Timeout * 1000
}
const { [logicalIdAt(dev, 'Messaging/Emails')]: EMAILS } = resourcesOf(dev, 'AWS::SQS::Queue')
const visibilityMs = Number(EMAILS?.Properties.VisibilityTimeout) * 1000

it('an SMS leaves time to record its result before the request ends with a 504', () => {
  expect(SMS_DEADLINE_MS + RETRY_BUDGET_MS).toBeLessThanOrEqual(timeoutMs('send-message') - TIMEOUT_MARGIN_MS)
})

it('the claim on an SMS outlasts the function that sends it', () => {
  expect(SMS_CLAIM_MS).toBeGreaterThan(timeoutMs('send-message'))
})

it('all steps of sending an email take less time than its consumer has', () => {
  const queueCallMs = QUEUE_CALL.maxAttempts * (QUEUE_CALL.requestTimeout + 1000)
  const claim = 2 * EMAIL_STEP_MS
  const record = EMAIL_STEP_MS
  // The last email of a batch waits for the others and, at the lowest rate, for the last one of the batch before.
  const mappings = Object.values(resourcesOf(dev, 'AWS::Lambda::EventSourceMapping'))
  const [emails] = mappings.filter(({ Properties }) =>
    isDeepStrictEqual((Properties as { EventSourceArn?: object }).EventSourceArn, arnOf('Messaging/Emails')),
  )
  const batchSize = Number(emails?.Properties.BatchSize)
  const wait = batchSize * emailIntervalMs(1)
  // The email is queued again by the sender, and once more if recording that failed.
  expect(wait + claim + SES_CALL_MS + record + 2 * queueCallMs).toBeLessThanOrEqual(timeoutMs('send-email'))
})

it('a step of sending an email has time for the retries of a write', () => {
  expect(EMAIL_STEP_MS).toBeGreaterThan(RETRY_BUDGET_MS)
})

it('the claim on an email outlasts its consumer, and the email is not received again before it ends', () => {
  expect(EMAIL_LEASE_MS).toBeGreaterThan(timeoutMs('send-email'))
  expect(visibilityMs).toBe(6 * timeoutMs('send-email'))
  expect(visibilityMs).toBeGreaterThan(timeoutMs('send-email') + EMAIL_LEASE_MS)
})
