import { setTimeout as sleep } from 'node:timers/promises'
import type { ExampleRecorder } from './example-recorder.ts'
import type { Operator } from './operator.ts'

/** Recipients with a known outcome (docs/messages.md). */
const RECIPIENTS = {
  undeliverable: { phone_number: '+12015550104', email_address: 'bounce@simulator.amazonses.com' },
  throttled: { phone_number: '+12015550102', email_address: null },
  abroad: { phone_number: '+9779812345678', email_address: null },
  premium: { phone_number: '+908881234567', email_address: null },
  unreachable: { phone_number: null, email_address: null },
}

const TEXT = 'Your appointment is on Monday at 10:00.'

const smsTo = (patient_id: string) => ({ body: { channel: 'sms', patient_id, message: TEXT } })
const emailTo = (patient_id: string) => ({
  body: { channel: 'email', patient_id, message: TEXT, subject: 'Your appointment' },
})

/** Ends with the event `email.failed`. */
export async function recordMessages(recorder: ExampleRecorder): Promise<void> {
  const { sendRequest, recordSuccess } = recorder
  const undeliverable = await createPatient(recorder, 'undeliverable')
  const patient = await findPatient(recorder)
  await recordSuccess('send-message', '/messages', smsTo(patient), 'sms')
  await waitForOutcome(recorder)
  await recordSuccess('send-message', '/messages', emailTo(patient), 'email')
  await waitForOutcome(recorder)
  const messages = await recordSuccess('list-messages', '/messages?limit=2')
  await recordSuccess('get-message', `/messages/${messages.body.data[0].id}`)
  for (const message of [smsTo(undeliverable), emailTo(undeliverable)]) {
    await sendRequest('POST', '/messages', message)
    await waitForOutcome(recorder)
  }
}

/** Sends an unknown number of messages, so nothing that lists messages or their events may be recorded after it. */
export async function recordMessageErrors(recorder: ExampleRecorder, { run }: Operator): Promise<void> {
  const { recordError } = recorder
  const throttled = await createPatient(recorder, 'throttled')
  await recordError('provider_unavailable', 'POST', '/messages', smsTo(throttled))
  const abroad = await createPatient(recorder, 'abroad')
  await recordError('country_not_allowed', 'POST', '/messages', smsTo(abroad))
  const premium = await createPatient(recorder, 'premium')
  await recordError('number_not_allowed', 'POST', '/messages', smsTo(premium))
  const unreachable = await createPatient(recorder, 'unreachable')
  await recordError('patient_has_no_phone', 'POST', '/messages', smsTo(unreachable))
  await recordError('patient_has_no_email', 'POST', '/messages', emailTo(unreachable))
  const sms = smsTo(await findPatient(recorder))
  await run('clinic', 'set', '--messages-per-recipient', '1000')
  await recordInProgress(recorder, sms.body)
  await run('clinic', 'set', '--messages-per-recipient', '1')
  await recordError('recipient_message_limit', 'POST', '/messages', sms)
  await run('clinic', 'set', '--sms-per-day', '1')
  await recordError('daily_message_limit', 'POST', '/messages', sms)
}

async function createPatient(
  { sendRequest }: ExampleRecorder,
  recipient: keyof typeof RECIPIENTS,
): Promise<string> {
  const body = { first_name: 'Umut', last_name: 'Demir', ...RECIPIENTS[recipient] }
  return (await sendRequest('POST', '/patients', { body })).body.data.id
}

async function findPatient({ sendRequest }: ExampleRecorder): Promise<string> {
  const { body } = await sendRequest('GET', '/patients?search=defne%20aksoy')
  return body.data[0].id
}

/** Waits until the provider has reported on the newest message, so that events are always in the same order. */
async function waitForOutcome({ sendRequest }: ExampleRecorder): Promise<void> {
  for (let status = 'queued'; status === 'queued' || status === 'sent'; await sleep(50))
    status = (await sendRequest('GET', '/messages?limit=1')).body.data[0].status
}

/** Sends requests with one key at the same time, until one of them arrives while another is in progress. */
async function recordInProgress({ sendRequest, errors }: ExampleRecorder, body: object): Promise<void> {
  for (let round = 0; errors.idempotency_in_progress === undefined; round++) {
    const headers = { 'idempotency-key': `reminder-${round}` }
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => sendRequest('POST', '/messages', { body, headers })),
    )
    errors.idempotency_in_progress = responses.find(({ status }) => status === 409)?.body
  }
}
