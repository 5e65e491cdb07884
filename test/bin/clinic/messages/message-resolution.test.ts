/** A person's word on a message, and its provider's at the same time. */
import { beforeAll, describe, expect, it } from 'vitest'
import {
  RESOLUTIONS,
  resolveMessage,
  resolveMessages,
  unresolvedMessages,
} from '../../../../bin/clinic/messages/messages.ts'
import { CommandFailure } from '../../../../bin/clinic/tool/output.ts'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import type { Message, ProviderFeedback } from '../../../../shared/domain/messages/message.ts'
import { messageDispatch } from '../../../../shared/store/messages/dispatch.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { newClinic, tableOfFile } from '../../../support/table.ts'
import { claimedDispatch, MINUTE, storeMessage } from './message-fixtures.ts'

const db = tableOfFile()
let table: Table
let clinic: Clinic

beforeAll(async () => {
  table = db.table
  clinic = await newClinic(table)
})

const find = async ({ id }: Message) => (await messageDispatch({ table }).find(clinic.id, id))?.record
const unresolved = async (now = Date.now()) =>
  (await unresolvedMessages(table, [clinic], now)).map(({ message }) => message.id)

/** The table, with an action that runs right after its nth read. */
function interrupted(after: number, happen: () => Promise<unknown>): Table {
  let reads = 0
  return {
    ...table,
    get: async (key) => {
      const item = await table.get(key)
      if (++reads === after) await happen()
      return item
    },
  }
}

describe('resolving a message', () => {
  it('sets a time of sending that is not in the future', async () => {
    const message = await storeMessage(table, clinic, {
      dispatch: claimedDispatch(Date.now() + MINUTE),
      isUnresolved: true,
    })
    const { sentAt } = await resolveMessage(table, clinic, message.id, 'sent', Date.now)
    expect(Date.parse(sentAt ?? '')).toBeLessThanOrEqual(Date.now())
  })

  it('keeps the outcome of a message of a test clinic when a sweep that read it before marks it as unresolved', async () => {
    const dispatch = claimedDispatch(Date.now() - MINUTE)
    const message = await storeMessage(table, clinic, { dispatch, isTest: true })
    const resolved = await resolveMessage(table, clinic, message.id, 'sent', Date.now)
    await messageDispatch({ table }).markUnresolved(clinic.id, message.id, 'lost')
    expect(await find(message)).toEqual(resolved)
  })

  it('lists a postponed message before the sweep reaches it', async () => {
    const dispatch = claimedDispatch(Date.now() - MINUTE, Date.now() + 24 * 60 * MINUTE)
    const message = await storeMessage(table, clinic, { dispatch })
    expect(await unresolved(Date.now() - 2 * MINUTE)).toEqual([])
    expect(await unresolved()).toEqual([message.id])
    await resolveMessage(table, clinic, message.id, 'sent', Date.now)
    expect(await unresolved()).toEqual([])
  })
})

describe('feedback of the provider while a message is resolved', () => {
  const at = '2026-05-01T07:00:00.000Z'
  const feedback: ProviderFeedback[] = [
    { kind: 'sent', at, providerMessageId: 'ses-1' },
    { kind: 'delivered', at, providerMessageId: 'ses-1' },
    { kind: 'failed', reason: 'Bounce' },
  ]
  const cases = RESOLUTIONS.flatMap((verdict) =>
    feedback.flatMap((occurrence) => [1, 2, 3].map((read) => [verdict, occurrence.kind, read, occurrence])),
  ) as ['sent' | 'failed', string, number, ProviderFeedback][]

  it.each(cases)(
    'wins over the verdict "%s" when "%s" arrives after read %i',
    async (verdict, _kind, read, occurrence) => {
      const message = await storeMessage(table, clinic, {
        dispatch: claimedDispatch(Date.now() - MINUTE),
        isUnresolved: true,
      })
      let reported: Message | null = null
      const racing = interrupted(read, async () => {
        reported = await messageDispatch({ table }).recordFeedback(clinic.id, message.id, occurrence)
      })
      // The operator sees the reported status, either in an error or in the result.
      const result = await resolveMessage(racing, clinic, message.id, verdict, Date.now).catch(
        (error) => error,
      )
      if (result instanceof CommandFailure)
        expect(result.message).toContain(`The message is ${occurrence.kind}`)
      else expect(result).toEqual(reported)
      expect(reported).toMatchObject({ status: occurrence.kind })
      expect(await find(message)).toEqual(reported)
    },
  )
})

const BEFORE = '2026-03-02T00:00:00.000Z'

it('resolving many keeps the outcome that the provider has reported in between', async () => {
  const message = await storeMessage(table, clinic, {
    acceptedAt: '2026-03-01T08:00:00.000Z',
    dispatch: claimedDispatch(Date.now() - MINUTE),
    isUnresolved: true,
  })
  const racing = interrupted(1, () =>
    messageDispatch({ table }).recordFeedback(clinic.id, message.id, {
      kind: 'delivered',
      at: new Date().toISOString(),
      providerMessageId: null,
    }),
  )
  const reads = { ...racing, getMany: table.getMany }
  expect(await resolveMessages(reads, clinic, BEFORE, 'failed', Date.now)).toMatchObject({
    resolved: [],
    settled: 1,
  })
  expect((await find(message))?.status).toBe('delivered')
})
