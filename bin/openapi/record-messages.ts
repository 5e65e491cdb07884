import type { Notebook } from './notebook.ts'
import type { Operator } from './operator.ts'

/** Recipients with a fate (docs/messages.md): not delivered, refused for the moment, bounced. */
const FATES = {
  lost: { phone_number: '+12015550104', email_address: 'bounce@simulator.amazonses.com' },
  throttled: { phone_number: '+12015550102', email_address: null },
  abroad: { phone_number: '+9779812345678', email_address: null },
  unreachable: { phone_number: null, email_address: null },
}

const TEXT = 'Your appointment is on Monday at 10:00.'

export async function recordMessages(notes: Notebook, { run }: Operator): Promise<void> {
  const { ask, succeed, refuse } = notes
  const found = await ask('GET', '/patients?search=defne%20aksoy')
  const patient_id = found.body.data[0].id
  const sms = { body: { channel: 'sms', patient_id, message: TEXT } }
  const email = { body: { channel: 'email', patient_id, message: TEXT, subject: 'Your appointment' } }
  await succeed('send-message', '/messages', sms, 'sms')
  await succeed('send-message', '/messages', email, 'email')

  const enter = async (fate: keyof typeof FATES) =>
    (await ask('POST', '/patients', { body: { first_name: 'Umut', last_name: 'Demir', ...FATES[fate] } }))
      .body.data.id as string
  const to = (patient: string, body = sms.body) => ({ body: { ...body, patient_id: patient } })
  const lost = await enter('lost')
  await ask('POST', '/messages', to(lost))
  await ask('POST', '/messages', { body: { ...email.body, patient_id: lost } })
  await refuse('provider_unavailable', 'POST', '/messages', to(await enter('throttled')))
  await refuse('country_not_allowed', 'POST', '/messages', to(await enter('abroad')))
  const unreachable = await enter('unreachable')
  await refuse('patient_has_no_phone', 'POST', '/messages', to(unreachable))
  await refuse('patient_has_no_email', 'POST', '/messages', {
    body: { ...email.body, patient_id: unreachable },
  })
  await recordInProgress(notes, sms.body)
  await succeed('list-messages', '/messages?limit=2')
  await run('clinic', 'set', '--sms-per-day', '1')
  await refuse('daily_message_limit', 'POST', '/messages', sms)
}

/** Of requests that begin together, some find the first one under way. */
async function recordInProgress({ ask, errors }: Notebook, body: object): Promise<void> {
  for (let round = 0; errors.idempotency_in_progress === undefined; round++) {
    const headers = { 'idempotency-key': `reminder-${round}` }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => ask('POST', '/messages', { body, headers })),
    )
    errors.idempotency_in_progress = answers.find(({ status }) => status === 409)?.body
  }
}
