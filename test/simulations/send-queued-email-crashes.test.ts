/**
 * Consumers that crash at every step, on the real table: no email is lost, and none is sent twice. Only a crash between the
 * claim and the note leaves one unresolved, and those are counted.
 */
import { beforeAll, expect, it } from 'vitest'
import type { QueuedEmail } from '../../shared/delivery/email/email-queue.ts'
import {
  type EmailConsumer,
  MAX_AGE_MS,
  sendQueuedEmail,
} from '../../shared/delivery/email/send-queued-email.ts'
import { sweepMessages } from '../../shared/delivery/email/sweep-messages.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Patient } from '../../shared/domain/patients/patient.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { messageDispatch } from '../../shared/store/messages/dispatch.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { Crashed } from '../support/crashable-table.ts'
import { createAcceptedEmail } from '../support/emails.ts'
import { mulberry32 } from '../support/random.ts'
import { rounds } from '../support/scale.ts'
import { aPatient, newClinic, tableOfFile } from '../support/table.ts'

type Step = { readonly call: string; readonly when: 'before' | 'after' }

const db = tableOfFile()
let clinic: Clinic
let patient: Patient

beforeAll(async () => {
  clinic = await newClinic(db.table)
  patient = aPatient()
  await patientWriter(db).createMany(clinic.id, [patient])
})

/** A consumer that crashes where `shouldCrash` returns true: before a call, or after it with its result lost. */
function consumer(shouldCrash: (step: Step) => boolean, now: () => number, accepted: (id: string) => void) {
  const crashing =
    <A extends unknown[], R>(call: string, act: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (shouldCrash({ call, when: 'before' })) throw new Crashed()
      const result = await act(...args)
      if (shouldCrash({ call, when: 'after' })) throw new Crashed()
      return result
    }
  const log = messageDispatch(db)
  const pushed: { message: string }[] = []
  const parts: EmailConsumer = {
    now,
    random: () => 0.5,
    newToken: newUuid,
    waitForTurn: async () => {},
    mailSettings: async () => ({ name: 'Clinic' }),
    messages: {
      find: crashing('find', log.find),
      claim: crashing('claim', log.claim),
      recordFeedback: crashing('recordFeedback', log.recordFeedback),
      giveUp: crashing('giveUp', log.giveUp),
      markUnresolved: crashing('markUnresolved', log.markUnresolved),
      release: crashing('release', log.release),
      postpone: crashing('postpone', log.postpone),
    },
    sender: {
      send: crashing('send', async ({ message }) => {
        accepted(message)
        return { kind: 'accepted' as const, providerMessageId: `ses-${message}` }
      }),
    },
    queue: { push: crashing('push', async (email: { message: string }) => void pushed.push(email)) },
  }
  return parts
}

const STEPS: Step[] = ['find', 'claim', 'send', 'recordFeedback'].flatMap((call) => [
  { call, when: 'before' as const },
  { call, when: 'after' as const },
])
/** Between writing the claim and recording the result, the outcome is unknown to any other process. */
const WINDOW = new Set(['claim after', 'send before', 'send after', 'recordFeedback before'])

it.each(STEPS)('a crash $when $call sends the email at most once', async ({ call, when }) => {
  let time = Date.now()
  const message = await createAcceptedEmail(db.table, clinic, patient, time)
  const sent: string[] = []
  const email = { clinic: clinic.id, message: message.id, waits: 0 }
  const crashingConsumer = consumer(
    (step) => step.call === call && step.when === when,
    () => time,
    (id) => sent.push(id),
  )
  await expect(sendQueuedEmail(crashingConsumer, email)).rejects.toThrow(Crashed)
  // The queue delivers it again several times, to consumers that do not crash.
  const living = consumer(
    () => false,
    () => time,
    (id) => sent.push(id),
  )
  for (let n = 0; n < 4; n++) await sendQueuedEmail(living, email)
  time += 10 * 60_000
  const counted: string[] = []
  const log = messageDispatch({ ...db, count: (name) => counted.push(name) })
  await sweepMessages({ messages: log, queue: living.queue, now: () => time, count: () => {} })
  await sendQueuedEmail(living, email)
  const entry = (await log.find(clinic.id, message.id))?.record
  if (WINDOW.has(`${call} ${when}`)) {
    expect(sent.length).toBe(call === 'send' && when === 'after' ? 1 : call === 'recordFeedback' ? 1 : 0)
    expect(entry).toMatchObject({ status: 'queued', dispatch: { isUnresolved: true } })
    expect(counted).toEqual(['message_unresolved'])
    expect((await log.unresolved()).map(({ id }) => id)).toContain(message.id)
    // Feedback from SES or a decision of the operator resolves it.
    await log.recordFeedback(clinic.id, message.id, {
      kind: 'sent',
      at: new Date(time).toISOString(),
      providerMessageId: 'x',
    })
    expect((await log.unresolved()).map(({ id }) => id)).not.toContain(message.id)
  } else {
    expect(sent).toEqual([message.id])
    expect(entry).toMatchObject({ status: 'sent', dispatch: null })
  }
  expect((await log.due(time + 86_400_000, 1000)).map(({ id }) => id)).not.toContain(message.id)
})

it.each(['sweep', 'consumer'])(
  'a %s gives up no email that another consumer claims after it was read',
  async (reader) => {
    const now = Date.now()
    const { id } = await createAcceptedEmail(db.table, clinic, patient, now - MAX_AGE_MS - 1)
    const log = messageDispatch(db)
    const messages: typeof log = {
      ...log,
      dueBatches: async function* () {
        for await (const batch of log.dueBatches(now, 1000)) yield batch.filter((due) => due.id === id)
      },
      find: async (...message) => {
        const read = await log.find(...message)
        if (read) await log.claim(clinic.id, read, { token: 'other', until: now + 90_000 })
        await log.markUnresolved(clinic.id, id, 'The response was lost')
        return read
      },
    }
    const parts = consumer(
      () => false,
      () => now,
      () => {},
    )
    if (reader === 'sweep')
      await sweepMessages({ messages, queue: parts.queue, now: () => now, count: () => {} })
    else await sendQueuedEmail({ ...parts, messages }, { clinic: clinic.id, message: id, waits: 0 })
    expect((await log.find(clinic.id, id))?.record).toMatchObject({
      status: 'queued',
      errorMessage: 'The response was lost',
      dispatch: { isUnresolved: true },
    })
    expect((await log.unresolved()).map((one) => one.id)).toContain(id)
  },
)

it('queues an email again at once that has changed since it was read', async () => {
  const now = Date.now()
  const { id } = await createAcceptedEmail(db.table, clinic, patient, now)
  const log = messageDispatch(db)
  const [sent, queued]: [string[], QueuedEmail[]] = [[], [{ clinic: clinic.id, message: id, waits: 0 }]]
  let reads = 0
  const find: typeof log.find = async (...message) => {
    const read = await log.find(...message)
    // As the new name of the patient changes it.
    if (read && ++reads === 1) await log.postpone(clinic.id, read, now + 1)
    return read
  }
  const parts = consumer(
    () => false,
    () => now,
    (message) => sent.push(message),
  )
  const push = async (email: QueuedEmail) => void queued.push(email)
  for (const email of queued)
    await sendQueuedEmail({ ...parts, messages: { ...parts.messages, find }, queue: { push } }, email)
  expect([sent, queued.length]).toEqual([[id], 2])
})

it('sends each of many emails at most once when four consumers crash at any point', async () => {
  const seed = Number(process.env.SEED ?? 20261120)
  const random = mulberry32(seed)
  const emails = rounds(60, 1000)
  let time = Date.now()
  const sent = new Map<string, number>()
  const windows = new Set<string>()
  const deliveries: string[] = []
  const ids = new Set<string>()
  for (let n = 0; n < emails; n++) {
    const { id } = await createAcceptedEmail(db.table, clinic, patient, time)
    ids.add(id)
    const times = Math.floor(random() * 6)
    for (let again = 0; again < times; again++) deliveries.push(id)
  }
  deliveries.sort(() => random() - 0.5)

  const accepted = (id: string) => void sent.set(id, (sent.get(id) ?? 0) + 1)
  const deliver = async (id: string, mortality: number) => {
    let at = ''
    const shouldCrash = ({ call, when }: Step) => {
      at = `${call} ${when}`
      return random() < mortality
    }
    try {
      await sendQueuedEmail(
        consumer(shouldCrash, () => time, accepted),
        { clinic: clinic.id, message: id, waits: 0 },
      )
      return true
    } catch (error) {
      if (!(error instanceof Crashed)) throw error
      if (WINDOW.has(at)) windows.add(id)
      return false
    }
  }
  const crowd = async (queue: string[], mortality: number) => {
    const four = Array.from({ length: 4 }, async () => {
      // The queue delivers the message again after a crash.
      for (let id = queue.shift(); id; id = queue.shift()) if (!(await deliver(id, mortality))) queue.push(id)
    })
    await Promise.all(four)
  }
  await crowd(deliveries, 0.08)
  const log = messageDispatch(db)
  // Some were never delivered: the sweep queues them, and those that a crash left behind.
  for (let minute = 0; minute < 40; minute++) {
    time += 60_000
    const swept: string[] = []
    const queue = { push: async ({ message }: { message: string }) => void swept.push(message) }
    await sweepMessages({ messages: log, queue, now: () => time, count: () => {} })
    await crowd(swept, 0.02)
  }

  const entries = await Promise.all([...ids].map((id) => log.find(clinic.id, id)))
  const unresolved = entries.filter((entry) => entry?.record.dispatch?.isUnresolved)
  const done = entries.filter((entry) => entry?.record.status === 'sent')
  const seen = `seed ${seed}: ${emails} emails, ${windows.size} crashes in the window, ${unresolved.length} unresolved`
  expect(
    [...sent].filter(([, times]) => times > 1),
    seen,
  ).toEqual([])
  expect(done.length + unresolved.length, seen).toBe(emails)
  expect(
    done.every((entry) => sent.get(entry?.record.id ?? '') === 1),
    seen,
  ).toBe(true)
  // At most the emails whose consumer crashed in the window are unresolved; all others are sent.
  expect(
    unresolved.map((entry) => entry?.record.id).filter((id) => !windows.has(id ?? '')),
    seen,
  ).toEqual([])
  expect(unresolved.length, seen).toBeGreaterThan(0)
  process.stdout.write(`${seen}\n`)
})
