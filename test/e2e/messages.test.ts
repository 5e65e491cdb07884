/** Messages over HTTP on the synthesized stack: through functions, queue, rules and local providers, to the log. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Patient } from '../../shared/domain/patients/patient.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, post, type RunningStack, runStack } from '../support/local-stack.ts'
import { aPatient, newClinic } from '../support/table.ts'

let stack: RunningStack
let clinic: Clinic
let pair: string

beforeAll(async () => {
  stack = await runStack({ demo: false })
  clinic = await newClinic(stack.table, { name: 'Praxis Nord' })
  const { key, secret } = await issueCredential(stack.table, clinic)
  pair = `${key}:${secret}`
}, 60_000)
afterAll(() => stack?.close())

async function entered(facts: Partial<Patient> = {}): Promise<Patient> {
  const patient = aPatient(facts)
  await patientWriter(stack).createMany(clinic.id, [patient])
  return patient
}

const send = (patient: Patient, body: object, key?: string) =>
  post(
    stack,
    '/messages',
    { patient_id: patient.id, message: 'See you at ten', ...body },
    key ? { pair, key } : { pair },
  )

const logOf = async (patient: Patient): Promise<any[]> =>
  (await get(stack, `/messages?patient_id=${patient.id}`, pair)).body.data

/** The messages of a recipient in the SMS outbox or the email inbox. */
const outbox = async (url: string, to: string) => {
  const messages = (await (await fetch(url)).json()) as { to: string | string[]; from?: string }[]
  return messages.filter((message) => [message.to].flat().includes(to))
}

it('delivers an SMS to the local outbox and shows it in the log', async () => {
  const patient = await entered()
  const answer = await send(patient, { channel: 'sms' })
  const recipient = patient.phoneNumber as string
  expect([answer.status, answer.body]).toEqual([
    202,
    { data: { id: expect.any(String), channel: 'sms', status: 'sent', recipient } },
  ])
  expect(await outbox(stack.smsOutboxUrl, recipient)).toMatchObject([
    { message: 'See you at ten', sender_id: 'Clinic' },
  ])
  expect(await logOf(patient)).toEqual([
    {
      id: answer.body.data.id,
      channel: 'sms',
      type: 'manual',
      recipient,
      subject: null,
      message: 'See you at ten',
      status: 'sent',
      provider: 'sns',
      provider_message_id: expect.any(String),
      error_message: null,
      sent_at: expect.stringMatching(/\+03:00$/),
      created_at: expect.stringMatching(/\+03:00$/),
      updated_at: expect.stringMatching(/\+03:00$/),
      patient: { id: patient.id, full_name: `${patient.firstName} ${patient.lastName}` },
    },
  ])
})

it('sends one email when the reply of SES is lost, and learns its outcome from SES’s events', async () => {
  const patient = await entered({ emailAddress: 'lost-reply@test.example' })
  await send(patient, { channel: 'email' })
  const isDelivered = async () =>
    expect(await logOf(patient)).toMatchObject([{ status: 'delivered', error_message: null }])
  await vi.waitFor(isDelivered, { timeout: 15_000, interval: 40 })
  expect((await outbox(stack.emailInboxUrl, 'lost-reply@test.example')).length).toBe(1)
})
