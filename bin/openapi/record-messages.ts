import type { ExampleRecorder } from './example-recorder.ts'
import type { Operator } from './operator.ts'

/** Recipients with a fate (docs/messages.md): not delivered, refused for the moment, bounced. */
const RECIPIENTS = {
  lost: { phone_number: '+12015550104', email_address: 'bounce@simulator.amazonses.com' },
  throttled: { phone_number: '+12015550102', email_address: null },
  abroad: { phone_number: '+9779812345678', email_address: null },
  unreachable: { phone_number: null, email_address: null },
}

const TEXT = 'Your appointment is on Monday at 10:00.'

export async function recordMessages(recorder: ExampleRecorder, { run }: Operator): Promise<void> {
  const { sendRequest: ask, recordSuccess: succeed, recordError: refuse } = recorder
  const patients = await ask('GET', '/patients?search=defne%20aksoy')
  const patient_id = patients.body.data[0].id
  const sms = { body: { channel: 'sms', patient_id, message: TEXT } }
  const email = { body: { channel: 'email', patient_id, message: TEXT, subject: 'Your appointment' } }
  await succeed('send-message', '/messages', sms, 'sms')
  await succeed('send-message', '/messages', email, 'email')

  const createPatient = async (recipient: keyof typeof RECIPIENTS) =>
    (
      await ask('POST', '/patients', {
        body: { first_name: 'Umut', last_name: 'Demir', ...RECIPIENTS[recipient] },
      })
    ).body.data.id as string
  const to = (patient: string, body = sms.body) => ({ body: { ...body, patient_id: patient } })
  const lost = await createPatient('lost')
  await ask('POST', '/messages', to(lost))
  await ask('POST', '/messages', { body: { ...email.body, patient_id: lost } })
  await refuse('provider_unavailable', 'POST', '/messages', to(await createPatient('throttled')))
  await refuse('country_not_allowed', 'POST', '/messages', to(await createPatient('abroad')))
  const unreachable = await createPatient('unreachable')
  await refuse('patient_has_no_phone', 'POST', '/messages', to(unreachable))
  await refuse('patient_has_no_email', 'POST', '/messages', {
    body: { ...email.body, patient_id: unreachable },
  })
  await recordInProgress(recorder, sms.body)
  await succeed('list-messages', '/messages?limit=2')
  await run('clinic', 'set', '--sms-per-day', '1')
  await refuse('daily_message_limit', 'POST', '/messages', sms)
}

/** Of requests that begin together, some find the first one under way. */
async function recordInProgress({ sendRequest: ask, errors }: ExampleRecorder, body: object): Promise<void> {
  for (let round = 0; errors.idempotency_in_progress === undefined; round++) {
    const headers = { 'idempotency-key': `reminder-${round}` }
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => ask('POST', '/messages', { body, headers })),
    )
    errors.idempotency_in_progress = responses.find(({ status }) => status === 409)?.body
  }
}
