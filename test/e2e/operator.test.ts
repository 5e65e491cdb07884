/** The operator tool with the queues and the workers of a running stack. test/bin/clinic has its commands. */

import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { callSqs } from '../../infra/local/engines/queues.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import type { Message } from '../../shared/domain/messages/message.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { maintenanceRuns, type Run } from '../../shared/maintenance/walk/runs.ts'
import { patientHeadKey } from '../../shared/store/keys/patients.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { openTable } from '../../shared/store/table/table.ts'
import type { Item } from '../../shared/store/table/write-requests.ts'
import { storeMessage, waitingDispatch } from '../bin/clinic/messages/message-fixtures.ts'
import { ENGINE_ACCESS } from '../support/engine-access.ts'
import { type RunningStack, runClinicTool, runStack } from '../support/local-stack.ts'
import { createTestTable, newClinic } from '../support/table.ts'

let stack: RunningStack
let clinic: Clinic
const tool = (...args: string[]) => runClinicTool(stack, ...args)

beforeAll(async () => {
  stack = await runStack({ demo: false })
  clinic = await newClinic(stack.table)
})
afterAll(() => stack?.close())

it('explains how to start a stack when none responds', async () => {
  const { code, stderr } = await tool('--port', '1', 'clinic', 'list')
  expect([code, stderr]).toEqual([
    3,
    expect.stringContaining('No local stack is running on port 1. Start one with "npm start"'),
  ])
})

describe('dead letters', () => {
  type DeadLetter = { letter_id: string; message_id?: string; is_malformed?: boolean }
  const sqs = <Output>(action: string, output: string, input: object = {}) =>
    callSqs<Output>(stack.endpoints.sqs, action, { QueueUrl: stack.outputs[output], ...input })
  const bury = (message: string) =>
    sqs('SendMessage', 'DeadEmailQueueUrl', {
      MessageBody: JSON.stringify({ clinic: clinic.id, message, waits: 0 }),
    })
  const letters = async (queue = 'emails'): Promise<DeadLetter[]> =>
    (await tool('--json', 'dead-letter', 'list', '--queue', queue)).json().data
  const sentAt = async ({ id }: Message) => (await messageStore(stack).find(clinic.id, id))?.record.sentAt
  const expectSent = (message: Message) =>
    vi.waitFor(async () => expect(await sentAt(message)).not.toBeNull(), { timeout: 20_000, interval: 200 })

  it('of waiting emails return to their queue, from which each is sent once', async () => {
    const waiting = () => storeMessage(stack.table, clinic, { dispatch: waitingDispatch() })
    const messages = await Promise.all([waiting(), waiting(), waiting()])
    for (const { id } of [...messages, ...messages]) await bury(id)
    const { code, json } = await tool('--json', 'dead-letter', 'redrive', '--all', '--queue', 'emails')
    expect([code, json()]).toEqual([0, { data: [{ queue: 'emails', moved: 6, left: 0 }] }])
    for (const message of messages) await expectSent(message)
    const emails = (await (await fetch(stack.emailInboxUrl)).json()) as unknown[]
    expect(emails.length).toBe(3)
  })

  it('of failed fan-outs have no queue to return to, and can be discarded', async () => {
    await sqs('SendMessage', 'FailedFanOutQueueUrl', { MessageBody: '{"position":1}' })
    const [letter] = await letters('failed-fan-outs')
    const act = (...args: string[]) => tool('dead-letters', ...args, '--queue', 'failed-fan-outs')
    expect(await act('redrive')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--queue must be one of emails'),
    })
    expect((await act('delete', letter?.letter_id ?? newUuid(), '--yes')).code).toBe(0)
    expect(await letters('failed-fan-outs')).toEqual([])
  })
})

describe('maintenance by a worker of the stack', () => {
  it('verifies all clinics, and counts differences by kind; the command follows a run, and shows the result of one that has ended', async () => {
    const damaged = await newClinic(stack.table)
    await stack.table.putMany([{ ...((await stack.table.get(patientHeadKey(damaged.id))) as Item), u: -1 }])
    const verify = (...args: string[]) => tool('--json', 'verify', '--all', ...args)
    const [first, second] = await Promise.all([verify(), sleep(500).then(() => verify())])
    for (const { code, json } of [first, second]) {
      expect(code).toBe(1)
      const { failed, clinics } = json().data
      expect([failed, clinics]).toEqual([
        0,
        expect.arrayContaining([
          { clinic_id: damaged.id, differences: { patient_head_wrong: 1 }, error: null },
        ]),
      ])
    }
    const runs = maintenanceRuns(stack.table)
    const run = await runs.find('verify')
    expect(run?.isShown).toBe(true)
    // The command was stopped before the end.
    await runs.set(run as Run, { isShown: false })
    expect((await verify()).json()).toEqual(first?.json())
    expect((await runs.find('verify'))?.id).toBe(run?.id)
    const { stdout } = await tool('verify', '--all')
    expect(stdout).toMatch(/^Begun in the stack: .*\n/)
    expect(stdout).toContain(`${damaged.id}: 1 patient_head_wrong\n`)
    expect(stdout).toMatch(/^Verified all clinics: \d+ differences?$/m)
    expect((await runs.find('verify'))?.id).not.toBe(run?.id)
  })

  it('reconciles a restored table, once', async () => {
    const raw = new DynamoDBClient({ endpoint: stack.endpoints.dynamodb, ...ENGINE_ACCESS })
    const name = await createTestTable(raw, `${stack.outputs.TableName}-restored`)
    const table = openTable(DynamoDBDocumentClient.from(raw), name)
    await newClinic(table)
    const { code, json } = await tool('--json', 'restore', 'reconcile', '--table', name, '--source-lost')
    const reconciled = { reconciled: 1, failed: 0, failures: [], missing_clinics: [], held_messages: 0 }
    expect([code, json().data]).toEqual([0, reconciled])
    expect(await maintenanceRuns(table).find('reconcile')).toMatchObject({ isShown: true })
    raw.destroy()
  })
})
