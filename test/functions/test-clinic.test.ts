/** A test clinic on the real engines, with a clock that the test moves: its messages pass the statuses that the guide lists. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { SNSClient } from '@aws-sdk/client-sns'
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest'
import { CHANNELS } from '../../shared/domain/messages/message.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { mapConcurrent } from '../../shared/store/table/map-concurrent.ts'
import { issueCredential } from '../support/credentials.ts'
import { createAcceptedEmail } from '../support/emails.ts'
import { handlerOf, request, stubFunctionEnvironment } from '../support/functions.ts'
import { importRecords, writeRows } from '../support/imports.ts'
import { mockClient } from '../support/mock-client.ts'
import { stackQueues } from '../support/stack-queues.ts'
import { aPatient, newClinic, tableOfFile } from '../support/table.ts'

const sns = mockClient(SNSClient)
const ses = mockClient(SESv2Client)
const db = tableOfFile()
let queues: Awaited<ReturnType<typeof stackQueues>>

beforeAll(async () => {
  queues = await stackQueues()
  const EMAIL_QUEUE_URL = queues.queue('emails').url
  stubFunctionEnvironment(db.name, { EMAIL_QUEUE_URL, AWS_ENDPOINT_URL_SQS: queues.endpoint })
})
afterAll(() => queues.stop())

type Outcome = { recipient: string; response: string; statuses: string[]; error: string | null }

/** The rows of the guide's table of recipients. */
const documented = readFileSync('docs/guides/messages.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| (`|any other)/.test(line))
  .map((line): Outcome => {
    const [recipient = '', response = '', statuses = '', error] = line.split(/ ?\| ?/).slice(1)
    return {
      recipient: recipient.replaceAll('`', ''),
      response: response.replaceAll('`', ''),
      statuses: [...statuses.matchAll(/`(\w+)`/g)].map(([, status = '']) => status),
      error: error || null,
    }
  })

it('finishes messages whose simulated receipt or event could not be recorded', async () => {
  const clinic = await newClinic(db.table, { isTest: true })
  const patient = aPatient()
  await patientWriter(db).createMany(clinic.id, [patient])
  const messages = messageDispatch(db)
  const at = new Date().toISOString()
  const recipients = { sms: '+12015550104', email: 'bounce@simulator.amazonses.com' }
  const sent = await mapConcurrent(1, CHANNELS, async (channel) => {
    const facts = { channel, recipient: recipients[channel], isTest: true } as const
    const { id } = await createAcceptedEmail(db.table, clinic, patient, Date.now() - 180_000, facts)
    await messages.recordFeedback(clinic.id, id, { kind: 'sent', at, providerMessageId: id })
    return id
  })
  const sweep = (await handlerOf({ id: 'sweep-messages' })) as (event: object) => Promise<never>
  await sweep({})
  for (const id of sent) {
    const record = (await messages.find(clinic.id, id))?.record
    expect(record).toMatchObject({ status: 'failed', providerMessageId: id, dispatch: null })
  }
})

it('simulates messages as the guide lists, once, whichever way they are sent, without a call of SNS or SES or a count', async () => {
  vi.useFakeTimers({ now: Date.parse('2026-05-04T08:00:00Z'), toFake: ['Date'] })
  const clinic = await newClinic(db.table, { isTest: true })
  const { headers } = await issueCredential(db.table, clinic)
  const work = async (id: string) => (await handlerOf({ id })) as (event: object) => Promise<never>
  const [sendEmail, sweep, fanOut] = await Promise.all(
    ['send-email', 'sweep-messages', 'sweep-events'].map(work),
  )
  const queue = queues.queue('emails')

  const logs: string[] = []
  const outcomes = new Map<string, Outcome>()
  for (const { recipient } of documented) {
    const channel = /^\+|number$/.test(recipient) ? 'sms' : 'email'
    const field = channel === 'sms' ? 'phoneNumber' : 'emailAddress'
    const patient = aPatient(recipient.startsWith('any') ? {} : { [field]: recipient })
    await patientWriter(db).createMany(clinic.id, [patient])
    const message = { channel, patient_id: patient.id, message: 'See you at ten' }
    const { status, body, logged } = await request('send-message', { headers, body: message })
    const response = [status, body.data?.status].filter((part) => part !== undefined).join(' ')
    logs.push(logged)
    outcomes.set(patient.id, { recipient, response, statuses: [], error: null })
  }
  const file = join(mkdtempSync(join(inject('runFolder'), 'test-clinic-')), 'messages.ndjson')
  const [patient] = outcomes.keys()
  const queued = { patient_id: patient, channel: 'email', recipient: 'a@example.com', status: 'queued' }
  writeRows(file, [{ external_id: 'm1', message: 'See you', ...queued }])
  expect(await importRecords(db.table, clinic, 'messages', file)).toMatchObject({ imported: 1 })

  // The queue loses the emails, so the sweep queues them. They are delivered twice; the last one waits for a day.
  await queue.purge()
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.setSystemTime(Date.now() + 130_000)
  await sweep?.({})
  for (const body of await queue.bodies()) await queue.push(body ?? '')
  for (const seconds of [...Array(12).fill(5), ...Array(26).fill(3600)]) {
    while ((await queue.deliverBatch(sendEmail as never)) > 0);
    await sweep?.({})
    vi.setSystemTime(Date.now() + seconds * 1000)
  }
  await fanOut?.({})
  const events = (await request('list-events', { headers, query: { limit: '100' } })).body.data
  for (const { event, data } of events)
    if (/^(sms|email)\./.test(event)) outcomes.get(data.patient_id)?.statuses.push(event.split('.')[1])
  for (const message of (await messageStore(db).page(clinic.id, {}, { page: 1, limit: 100 })).items) {
    const outcome = outcomes.get(message.patient.id)
    if (outcome && message.text === 'See you at ten') outcome.error = message.errorMessage
  }
  expect([...outcomes.values()]).toEqual(documented)
  expect([...sns.calls(), ...ses.calls()]).toEqual([])
  const lines = [...logs, ...written.mock.calls].join('\n')
  expect(lines).toContain('email_queued_again')
  expect(lines).not.toMatch(/message_status|message_unresolved|sms_not_noted/)
})
