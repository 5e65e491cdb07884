/** The consumer of SMS delivery receipts, on the real engine. */
import { gzipSync } from 'node:zlib'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { SMS_CLAIM_MS } from '../../../shared/domain/messages/accept-message.ts'
import type { Message } from '../../../shared/domain/messages/message.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { clinicStore } from '../../../shared/store/clinics.ts'
import { messageDispatch } from '../../../shared/store/messages/dispatch.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { handlerOf, tableOfFunctions } from '../../support/functions.ts'
import { createRecord } from '../../support/records.ts'
import { anSms } from '../../support/sample-records.ts'
import { newClinic } from '../../support/table.ts'

const db = tableOfFunctions()
let clinic: Clinic
let id: string
let messageId: string
let logged: string

beforeAll(async () => {
  clinic = await newClinic(db.table)
})

beforeEach(async () => {
  logged = ''
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    logged += String(text)
    return true
  })
  id = newUuid()
  messageId = newUuid()
  await createRecord(db.table, clinic, messageStore(db), accepted(id))
  await messageDispatch(db).recordFeedback(clinic.id, id, {
    kind: 'sent',
    at: new Date().toISOString(),
    providerMessageId: messageId,
  })
})

afterEach(() => {
  vi.restoreAllMocks()
})

const accepted = (of: string): Message =>
  anSms({
    id: of,
    acceptedAt: new Date().toISOString(),
    acceptedOn: new Date().toISOString().slice(0, 10),
    dispatch: { dueAt: Date.now(), claim: { token: newUuid(), until: Date.now() }, isUnresolved: false },
  })

const receipt = (
  of: string,
  status = 'SUCCESS',
  providerResponse = 'Unknown error attempting to reach phone',
) =>
  JSON.stringify({
    notification: { messageId: of, timestamp: '2026-05-01 07:00:01.234' },
    delivery: { destination: '+905321234567', providerResponse },
    status,
  })

/** Invokes the function with lines of the log group that are `age` milliseconds old. */
async function deliver(lines: string[], age = 0): Promise<unknown> {
  const handler = (await handlerOf({ id: 'sms-receipts' })) as (event: object) => Promise<unknown>
  const logEvents = lines.map((message, at) => ({ id: String(at), timestamp: Date.now() - age, message }))
  const data = gzipSync(JSON.stringify({ messageType: 'DATA_MESSAGE', logEvents })).toString('base64')
  return handler({ awslogs: { data } })
}

const read = async () => (await messageStore(db).find(clinic.id, id))?.record

describe('a receipt', () => {
  it('changes nothing while a restored table is to replace this one', async () => {
    const { update } = clinicStore(db)
    const before = await read()
    const since = new Date().toISOString()
    await update(clinic.id, { replacement: { table: 'restored', since, wasPaused: false } })
    const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    await expect(deliver([receipt(messageId)])).rejects.toThrow('sms-receipts failed')
    // The runbook names the error.
    expect(String(written.mock.lastCall)).toContain('"name":"TableBeingReplaced"')
    written.mockRestore()
    await update(clinic.id, { replacement: null })
    expect(await read()).toEqual(before)
  })

  it('is recorded once when it arrives twice', async () => {
    await deliver([receipt(messageId)])
    expect(await read()).toMatchObject({ status: 'delivered', errorMessage: null })
    const version = (await messageStore(db).find(clinic.id, id))?.version
    await deliver([receipt(messageId), receipt(messageId)])
    expect((await messageStore(db).find(clinic.id, id))?.version).toBe(version)
  })

  it('of a failure is recorded with the carrier’s text, without numbers', async () => {
    await deliver([receipt(messageId, 'FAILURE', 'No route to +90 532 123 45 67')])
    expect(await read()).toMatchObject({ status: 'failed', errorMessage: 'Not delivered: No route to ...' })
  })

  it('that arrives before its SMS is recorded waits for it, after the others are recorded', async () => {
    const early = { ...accepted(newUuid()), dispatch: accepted(id).dispatch }
    await createRecord(db.table, clinic, messageStore(db), early)
    const earlyId = newUuid()
    const delivered = deliver([receipt(earlyId), receipt(messageId)], SMS_CLAIM_MS - 1500)
    await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'delivered' }))
    await messageDispatch(db).recordFeedback(clinic.id, early.id, {
      kind: 'sent',
      at: new Date().toISOString(),
      providerMessageId: earlyId,
    })
    await delivered
    const stored = await messageStore(db).find(clinic.id, early.id)
    expect(stored?.record).toMatchObject({ status: 'delivered' })
    expect(logged).not.toContain('feedback_for_nobody')
  })

  it.each([
    ['still arrives early', SMS_CLAIM_MS - 50],
    ['arrives later', SMS_CLAIM_MS + 1],
  ])('of another application’s SMS is only counted, even if it %s', async (_when, age) => {
    const startedAt = performance.now()
    await deliver([receipt(newUuid())], age)
    expect(performance.now() - startedAt).toBeLessThan(5000)
    expect(logged).toContain('"feedback_for_nobody":1')
    // The timestamp may contain any digits.
    expect(logged.replaceAll(/"Timestamp":\d+/g, '')).not.toContain('532')
  })

  it('that is unreadable does not block the others', async () => {
    await deliver(['no receipt', receipt(messageId)]).catch(() => {})
    expect(await read()).toMatchObject({ status: 'delivered' })
  })
})
