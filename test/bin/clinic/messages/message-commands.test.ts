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
const ids = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id)

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

  it('are listed oldest first, of all clinics', async () => {
    const all = await data('message', 'unresolved')
    expect(ids(all)).toEqual(ids([theirs, swept, unswept]))
    expect(all.slice(1)).toEqual([
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
    expect(Date.parse(all[1].claimed_until)).toBe(
      Math.floor((swept.dispatch?.claim?.until ?? 0) / 1000) * 1000,
    )
  })

  it('are printed without text, subject and recipient', async () => {
    const { printed } = await run('message', 'unresolved')
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
    })
    expect(failed.printed).not.toContain('SECRET')
    expect(ids(await data('message', 'unresolved'))).toEqual([theirs.id])
    await run('message', 'resolve', theirs.id, '--clinic', other.id, '--as', 'sent')
    expect((await run('message', 'unresolved')).printed).toBe('No unresolved messages\n')
    const due = [...(await messageDispatch(db).unresolved()), ...(await messageDispatch(db).due(1e14, 99))]
    expect(due.map(({ id }) => id)).not.toContain(swept.id)
    expect(due.map(({ id }) => id)).not.toContain(unswept.id)
    expect(await run('message', 'resolve', swept.id, '--clinic', clinic.id, '--as', 'failed')).toMatchObject(
      rejection('The message is sent'),
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
    data: [{ id: planted[1]?.id, status: 'failed' }],
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
      [{ dispatch: waitingDispatch() }, 'The message is waiting'],
      [{ dispatch: claimedDispatch(Date.now() + MINUTE) }, 'The message is being sent'],
      [{ status: 'delivered' }, 'The message is delivered'],
      [{ status: 'failed' }, 'The message is failed'],
      [{ status: 'queued' }, 'The message is queued'],
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
})
