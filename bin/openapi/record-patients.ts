import type { ExampleRecorder } from './example-recorder.ts'
import type { Operator } from './operator.ts'

export async function recordPatients(recorder: ExampleRecorder): Promise<void> {
  const { sendRequest, recordSuccess } = recorder
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
      national_id: '12345678950',
      notes: 'Prefers afternoons.',
    },
    headers: { 'idempotency-key': 'import-2026-05-04-row-17' },
  }
  const made = await recordSuccess('create-patient', '/patients', createRequest)
  // For the header of a replayed response.
  await sendRequest('POST', '/patients', createRequest)
  await recordSuccess('update-patient', `/patients/${made.body.data.id}`, {
    body: { phone_number: '+905321234568', notes: null },
  })
  await recordStatus(recorder, made.body.data.id)
}

/** Deactivates a patient, so that nothing can be booked or sent, and activates the patient again. */
async function recordStatus({ recordSuccess, recordError }: ExampleRecorder, id: string): Promise<void> {
  await recordSuccess('deactivate-patient', `/patients/${id}/deactivate`, { body: {} })
  await recordError('patient_inactive', 'POST', '/messages', {
    body: { channel: 'sms', patient_id: id, message: 'See you at ten' },
  })
  await recordSuccess('activate-patient', `/patients/${id}/activate`, { body: {} })
}

/** Creates and erases a patient, so nothing that selects the newest patient may be recorded after it. */
export async function recordErasure({ sendRequest }: ExampleRecorder, { run }: Operator): Promise<void> {
  const { body } = await sendRequest('POST', '/patients', {
    body: { first_name: 'Kerem', last_name: 'Yalçın' },
  })
  await run('patient', 'erase', body.data.id, '--yes', '--confirm', 'Kerem Yalçın')
}
