/** The commands about messages: what they list, print, settle and reject. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import type { Message } from '../../../../shared/domain/messages/message.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { messageDispatch } from '../../../../shared/store/messages/dispatch.ts'
import { messageStore } from '../../../../shared/store/messages/messages.ts'
import { deployedTable, output } from '../../../support/deployed-stack.ts'
import { newClinic } from '../../../support/table.ts'
import { claimedDispatch, LOST_REPLY, MINUTE, storeMessage, waitingDispatch } from './message-fixtures.ts'

const { db, run } = deployedTable()
let clinic: Clinic
let other: Clinic

beforeAll(async () => {
  clinic = await newClinic(db.table, { name: 'Praxis Nord', timezone: 'Europe/Istanbul' })
  other = await newClinic(db.table, { timezone: 'America/St_Johns' })
})

const json = async (...args: string[]) => JSON.parse((await run('--json', ...args)).printed)
const data = async (...args: string[]) => (await json(...args)).data
const find = async ({ id }: Message) => (await messageStore(db).find(clinic.id, id))?.record
const rejection = (message: string) => ({ code: 2, printed: '', errors: expect.stringContaining(message) })
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d$/

describe('unresolved', () => {
  let swept: Message
  let unswept: Message
  let theirs: Message

  beforeAll(async () => {
    const { table } = db
    const now = Date.now()
    theirs = await storeMessage(table, other, {
      channel: 'sms',
      dispatch: claimedDispatch(now - 30 * MINUTE),
    })
    swept = await storeMessage(table, clinic, {
      dispatch: claimedDispatch(now - 20 * MINUTE),
      isUnresolved: true,
    })
    unswept = await storeMessage(table, clinic, {
      channel: 'sms',
      dispatch: claimedDispatch(now - 10 * MINUTE),
    })
    await storeMessage(table, clinic, { dispatch: waitingDispatch() })
    await storeMessage(table, clinic, { dispatch: claimedDispatch(now + 60 * MINUTE) })
    await storeMessage(table, clinic, { status: 'failed', errorMessage: 'Bounce' })
  })

  it('are listed oldest first, for all clinics or one', async () => {
    const ids = (list: Message[]) => list.map(({ id }) => id)
    expect(ids(await data('message', 'list', '--unresolved', '--all'))).toEqual(ids([theirs, swept, unswept]))
    const mine = await data('message', 'list', '--unresolved', '--clinic', clinic.id)
    expect(mine).toEqual([
      {
        clinic_id: clinic.id,
        id: swept.id,
        channel: 'email',
        accepted_at: expect.stringMatching(/\+03:00$/),
        claimed_until: expect.stringMatching(/\+03:00$/),
        reason: LOST_REPLY,
      },
      expect.objectContaining({
        id: unswept.id,
        channel: 'sms',
        reason:
          "The sending function stopped before recording the provider's response; it may have been sent.",
      }),
    ])
    expect(Date.parse(mine[0].claimed_until)).toBe(
      Math.floor((swept.dispatch?.claim?.until ?? 0) / 1000) * 1000,
    )
  })

  it('are printed without text, subject and recipient', async () => {
    const { printed } = await run('message', 'list', '--unresolved', '--all')
    const [first] = printed.split('\n')
    expect(first).toMatch(
      new RegExp(
        `^${other.id}  ${theirs.id}  sms    accepted \\S+  claimed until \\S+  The sending function stopped`,
      ),
    )
    expect(printed.trim().split('\n').length).toBe(3)
    expect(printed).not.toMatch(/SECRET|ada@/)
  })

  it('can be resolved once', async () => {
    expect(
      await output(
        run(...['message', 'resolve', swept.id.toUpperCase(), '--clinic', clinic.id, '--as', 'sent']),
      ),
    ).toBe(`Message ${swept.id} is sent\n`)
    const sentAt = new Date(swept.dispatch?.claim?.until ?? 0).toISOString()
    expect(await find(swept)).toMatchObject({ status: 'sent', sentAt, errorMessage: null, dispatch: null })
    const failed = await run(
      ...['--json', 'message', 'resolve', unswept.id, '--clinic', clinic.id, '--as', 'failed'],
    )
    expect(JSON.parse(failed.printed).data).toMatchObject({
      id: unswept.id,
      status: 'failed',
      error_message: 'Settled by the operator as failed',
      sent_at: null,
      progress: 'done',
    })
    expect(failed.printed).not.toContain('SECRET')
    expect(await data('message', 'list', '--unresolved', '--clinic', clinic.id)).toEqual([])
    const none = await run('message', 'list', '--unresolved', '--clinic', clinic.id)
    expect(none.printed).toBe('No unresolved messages\n')
    const due = [...(await messageDispatch(db).unresolved()), ...(await messageDispatch(db).due(1e14, 99))]
    expect(due.map(({ id }) => id)).not.toContain(swept.id)
    expect(due.map(({ id }) => id)).not.toContain(unswept.id)
    expect(await run('message', 'resolve', swept.id, '--clinic', clinic.id, '--as', 'failed')).toMatchObject(
      rejection('This message is already settled as sent.'),
    )
    expect(await output(run('message', 'resolve', swept.id, '--clinic', clinic.id, '--as', 'sent'))).toBe(
      `Nothing changed: message ${swept.id} is sent already\n`,
    )
    expect((await find(swept))?.status).toBe('sent')
  })
})

it('resolves all messages that were accepted before a time', async () => {
  const late = { dispatch: claimedDispatch(Date.now() - MINUTE), isUnresolved: true }
  const planted = await Promise.all(
    ['2026-03-01T08:00:00Z', '2026-03-01T09:00:00Z'].map((acceptedAt) =>
      storeMessage(db.table, clinic, { ...late, acceptedAt: new Date(acceptedAt).toISOString() }),
    ),
  )
  const resolve = (...args: string[]) =>
    run('--json', 'message', 'resolve', '--clinic', clinic.id, '--as', 'failed', ...args)
  const { code, printed } = await resolve('--before', '2026-03-01T12:00:00+03:00')
  expect([code, JSON.parse(printed).data.map(({ id }: Message) => id)]).toEqual([0, [planted[0]?.id]])
  expect(JSON.parse((await resolve('--before', '2026-03-02T00:00:00Z')).printed)).toMatchObject({
    data: [{ id: planted[1]?.id, status: 'failed', progress: 'done' }],
    settled_by_provider: 0,
  })
  expect(
    await output(
      run('message', 'resolve', '--clinic', clinic.id, '--as', 'sent', '--before', '2026-03-02T00:00:00Z'),
    ),
  ).toBe('Nothing changed: no unresolved message was accepted before 2026-03-02T00:00:00Z\n')
  expect((await resolve('--before', 'yesterday')).code).toBe(2)
  expect((await resolve()).code).toBe(2)
  expect((await resolve(newUuid(), '--before', '2026-03-02T00:00:00Z')).code).toBe(2)
})

describe('resolve rejects', () => {
  const resolve = (id: string, as = 'sent') =>
    run('message', 'resolve', id, '--clinic', clinic.id, '--as', as)

  it('messages that are waiting, being sent or done, and leaves them unchanged', async () => {
    const cases: [Partial<Message>, string][] = [
      [{ dispatch: waitingDispatch() }, 'The message is waiting to be sent'],
      [{ dispatch: claimedDispatch(Date.now() + MINUTE) }, 'The message is being sent until 20'],
      [{ status: 'delivered' }, 'This message is already settled as delivered.'],
      [{ status: 'failed' }, 'This message is already settled as failed.'],
      [{ status: 'queued' }, 'The message is done: queued'],
    ]
    for (const [facts, message] of cases) {
      const planted = await storeMessage(db.table, clinic, facts)
      expect(await resolve(planted.id)).toMatchObject(rejection(message))
      expect(await find(planted)).toEqual({ ...planted, updatedAt: expect.any(String) })
    }
  })

  it('a status that nobody can set', async () => {
    expect(await resolve(newUuid(), 'delivered')).toMatchObject(rejection('--as must be one of sent, failed'))
  })

  it('lists failed messages with their reasons, but without their texts', async () => {
    const day = '2026-05-01'
    const facts = { status: 'failed', acceptedAt: `${day}T09:00:00.000Z`, acceptedOn: day } as const
    const { id } = await storeMessage(db.table, clinic, { ...facts, errorMessage: 'No such number' })
    const list = ['message', 'list', '--clinic', clinic.id, '--status', 'failed']
    const { printed } = await run(...list, '--from', day, '--to', day)
    expect(printed).toMatch(new RegExp(`^${id} .* failed .* No such number\n`))
    expect(printed).not.toMatch(/SECRET|ada@/)
  })
})

describe('show', () => {
  const show = (id: string, ...args: string[]) => run('message', 'show', id, '--clinic', clinic.id, ...args)

  it('prints a message without its text, and with it on request', async () => {
    const message = await storeMessage(db.table, clinic, { dispatch: waitingDispatch() })
    const shown = await show(message.id, '--json')
    expect(JSON.parse(shown.printed).data).toEqual({
      clinic_id: clinic.id,
      id: message.id,
      channel: 'email',
      type: 'manual',
      recipient: 'ada@example.com',
      status: 'queued',
      provider: 'ses',
      provider_message_id: null,
      error_message: null,
      sent_at: null,
      patient: { id: message.patient.id, full_name: 'Ada Lang' },
      created_at: expect.stringMatching(TIMESTAMP),
      updated_at: expect.stringMatching(TIMESTAMP),
      progress: 'waiting',
      dispatch: { due_at: expect.stringMatching(TIMESTAMP), claimed_until: null },
    })
    expect(JSON.parse((await show(message.id, '--json', '--text')).printed).data).toEqual({
      ...JSON.parse(shown.printed).data,
      subject: 'SECRET subject',
      message: 'SECRET text\nof two lines',
    })
    const { printed } = await show(message.id)
    expect(printed).toContain('recipient            ada@example.com\n')
    expect(printed).not.toContain('SECRET')
    expect((await show(message.id, '--text')).printed).toMatch(
      /subject +SECRET subject\n\nSECRET text\nof two lines\n$/,
    )
  })

  it('prints the progress of a message', async () => {
    const now = Date.now()
    const states: [Partial<Message> & { isUnresolved?: boolean }, string, RegExp][] = [
      [{ dispatch: waitingDispatch() }, 'waiting', /waiting to be sent, next attempt at \S+\+03:00/],
      [{ dispatch: claimedDispatch(now + 10 * MINUTE) }, 'being_sent', /being sent until \S+\+03:00/],
      [{ dispatch: claimedDispatch(now - MINUTE) }, 'unresolved', /unresolved: claimed until \S+\+03:00/],
      [
        { dispatch: claimedDispatch(now - MINUTE), isUnresolved: true },
        'unresolved',
        /unresolved: claimed until \S+/,
      ],
      [{ status: 'delivered' }, 'done', /done: delivered/],
    ]
    for (const [facts, progress, words] of states) {
      const { id } = await storeMessage(db.table, clinic, facts)
      expect(JSON.parse((await show(id, '--json')).printed).data.progress).toBe(progress)
      expect((await show(id)).printed).toMatch(new RegExp(`progress +${words.source}\n`))
    }
  })
})
