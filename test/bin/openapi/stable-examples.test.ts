import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { EXAMPLE_SECRET } from '../../../bin/openapi/example-recorder.ts'
import { stableExamples } from '../../../bin/openapi/stable-examples.ts'
import type { Examples } from '../../../shared/api/openapi/examples.ts'
import { signatureHeaders } from '../../../shared/delivery/webhook-signature.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'

const CLINIC = 'b05f0a1e-7c1d-4d0a-9e55-2f1d3c4b5a60'
const DEMO_PATIENT = '9f556aec-9fb6-56fe-946e-ff23bc4b3bcf'
const DEMO_TIME = '2025-10-15T17:23:00+03:00'

/** Examples as a recording makes them that runs at `seconds` past its start: a patient, a message to them, an event. */
function recording(seconds: number, more: Examples['successes'] = {}): Examples {
  const [patient, event, message] = [newUuid(), newUuid(), newUuid()]
  const created_at = `2026-05-04T12:00:${seconds}+03:00`
  const body = {
    data: { id: patient },
    ...{ sequence: 1, created_at, clinic_id: CLINIC, event: 'patient.created', id: `evt_${event}` },
  }
  const emailId = `ses-${100_000_000 + seconds}`
  return {
    successes: {
      'create-patient': { default: { path: '/patients', answer: { data: { id: patient, created_at } } } },
      ...more,
      'get-patient': {
        default: { path: `/patients/${DEMO_PATIENT}`, answer: { id: DEMO_PATIENT, created_at: DEMO_TIME } },
      },
      'list-messages': {
        default: {
          path: `/messages?patient_id=${patient}`,
          answer: [
            { id: message, patient: { id: patient }, provider_message_id: emailId, latency_ms: seconds },
          ],
        },
      },
    },
    refusals: {},
    errors: {},
    headers: {
      ratelimit: `"default";r=59999;t=${seconds}`,
      location: `/api/developer/v1/patients/${patient}`,
      etag: `"${'x'.repeat(41)}${seconds}"`,
      'x-request-id': `${'x'.repeat(13)}${seconds}=`,
    },
    events: { 'patient.created': { headers: { 'webhook-signature': `v1,${seconds}` }, body } },
  }
}

it('returns equal examples for two recordings of one API', () => {
  const [first, second] = [recording(11), recording(47)]
  expect(JSON.stringify(first)).not.toBe(JSON.stringify(second))
  expect(JSON.stringify(stableExamples(first, CLINIC))).toBe(JSON.stringify(stableExamples(second, CLINIC)))
})

it('changes no other example when an example is added', () => {
  const rooms = { path: '/rooms', answer: { data: { id: newUuid(), building: newUuid() } } }
  const { 'create-room': added, ...others } = stableExamples(
    recording(12, { 'create-room': { default: rooms } }),
    CLINIC,
  ).successes
  expect(added).toBeDefined()
  expect(others).toEqual(stableExamples(recording(13), CLINIC).successes)
})

it('shows one id for a record in every example', () => {
  const { successes, headers, events } = stableExamples(recording(14), CLINIC)
  const id = headers.location?.split('/').at(-1) ?? ''
  expect(id).toMatch(/^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/)
  expect(successes['create-patient']?.default?.answer).toMatchObject({ data: { id } })
  expect(successes['list-messages']?.default).toMatchObject({
    path: `/messages?patient_id=${id}`,
    answer: [{ id: expect.not.stringMatching(id), patient: { id } }],
  })
  expect(events['patient.created']?.body).toMatchObject({ data: { id } })
})

it('keeps the ids and times of the demo clinics', () => {
  const { successes, events } = stableExamples(recording(15), CLINIC)
  expect(successes['get-patient']).toEqual(recording(15).successes['get-patient'])
  expect(events['patient.created']?.body).toMatchObject({ clinic_id: CLINIC })
})

it('signs deliveries with the secret that the document shows', () => {
  const { headers, body } = stableExamples(recording(16), CLINIC).events['patient.created'] ?? {}
  const { id, created_at } = body as { id: string; created_at: string }
  expect(headers).toEqual(
    signatureHeaders({
      id,
      timestampSeconds: Date.parse(created_at) / 1000,
      body: JSON.stringify(body),
      secrets: [EXAMPLE_SECRET],
    }),
  )
})

it('does not change examples that are stable already', () => {
  const examples = JSON.parse(readFileSync('bin/openapi/examples.json', 'utf8')) as Examples
  expect(stableExamples(examples, CLINIC)).toEqual(examples)
})
