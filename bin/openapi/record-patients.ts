import type { ExampleRecorder } from './example-recorder.ts'
import type { Operator } from './operator.ts'

export async function recordPatients(
  { sendRequest, recordSuccess }: ExampleRecorder,
  { run }: Operator,
): Promise<void> {
  const { body } = await recordSuccess('list-patients', '/patients?search=kaya&limit=2')
  await recordSuccess('get-patient', `/patients/${body.data[0].id}`)
  const createRequest = {
    body: {
      first_name: 'Defne',
      last_name: 'Aksoy',
      date_of_birth: '1991-04-17',
      gender: 'female',
      phone_number: '+905321234567',
      email_address: 'defne.aksoy@example.com',
    },
    headers: { 'idempotency-key': 'import-2026-05-04-row-17' },
  }
  const made = await recordSuccess('create-patient', '/patients', createRequest)
  // For the header of a replayed response.
  await sendRequest('POST', '/patients', createRequest)
  await run('patient', 'update', made.body.data.id, '--phone', '+905321234568')
}

/** Creates and erases a patient, so nothing that selects the newest patient may be recorded after it. */
export async function recordErasure({ sendRequest }: ExampleRecorder, { run }: Operator): Promise<void> {
  const { body } = await sendRequest('POST', '/patients', {
    body: { first_name: 'Kerem', last_name: 'Yalçın' },
  })
  await run('patient', 'erase', body.data.id)
}
