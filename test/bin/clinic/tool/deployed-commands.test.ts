/** Commands on a deployed stack: what they write to the operator's log group, who the ledger of erasures names, and what they reject. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { fullName } from '../../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { beginRestorePause } from '../../../../shared/maintenance/restore/restore-pause.ts'
import { clinicsOf } from '../../../../shared/maintenance/walk/sources.ts'
import { walk } from '../../../../shared/maintenance/walk/walk.ts'
import { clinicStore } from '../../../../shared/store/clinics.ts'
import { erasureLedger } from '../../../../shared/store/copies/erasure-ledger.ts'
import { walkKey } from '../../../../shared/store/keys/operator.ts'
import { issueCredential } from '../../../support/credentials.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { CALLER_ARN, deployedTable, output, rejection } from '../../../support/deployed-stack.ts'
import { createPopulatedClinic } from '../../../support/records.ts'
import { restored } from '../../../support/restored.ts'
import { freshTable } from '../../../support/table.ts'

const { db, run, outputs } = deployedTable()
let clinic: Clinic
let patient: string
let name: string

beforeAll(async () => {
  const created = await createPopulatedClinic(db.table)
  clinic = created.clinic
  patient = created.patient.id
  name = fullName(created.patient)
})

it('names the caller that STS sees in the ledger of erasures, as in the trail', async () => {
  const { code, lines } = await run(
    ...['patient', 'erase', patient, '--clinic', clinic.id, '--yes', '--confirm', name],
  )
  expect(code).toBe(0)
  expect(lines.map(({ operator, outcome, records }) => [operator, outcome, records])).toEqual([
    [CALLER_ARN, 'started', [patient]],
    [CALLER_ARN, 'done', expect.arrayContaining([patient])],
  ])
  expect(await erasureLedger(db).list(clinic.id)).toMatchObject([{ patient, operator: CALLER_ARN }])
})

it('writes the patients that a replay of erasures concerns', async () => {
  const file = join(inject('runFolder'), 'erasures.ndjson')
  await run('erasure', 'list', '--clinic', clinic.id, '--to', file)
  const { code, lines } = await run('erasure', 'replay', '--clinic', clinic.id, '--from', file)
  expect(code).toBe(0)
  expect(lines[1]).toMatchObject({ command: 'erasure replay', outcome: 'done', records: [patient] })
})

it('writes the webhook endpoints that are deleted with a credential', async () => {
  const { key } = await issueCredential(db.table, clinic)
  const { id } = await createWebhook(db.table, clinic.id, { createdBy: key })
  const { code, lines } = await run('credential', 'revoke', key, '--with-webhooks', '--yes')
  expect(code).toBe(0)
  expect(lines[1]).toMatchObject({ clinic_id: clinic.id, records: [key, id] })
})

it('writes no external id, even if it has the form of an id of a record', async () => {
  const external = newUuid()
  const { code, lines } = await run(
    ...['patient', 'link', newUuid(), '--clinic', clinic.id, '--external-id', external],
  )
  expect([code, lines.length]).toEqual([2, 2])
  expect(JSON.stringify(lines)).not.toContain(external)
})

/** The clinics are paused until a table is used. A command that is not the first need not wait. */
const pausedFor = (name: string, minutesAgo = 10) =>
  beginRestorePause({ ...db.table, now: () => Date.now() - minutesAgo * 60_000 }, name, async () => {})

const cancel = () => output(run('restore', 'cancel'))

it('never settles the table in use, and pauses all clinics for another until its restore is given up', async () => {
  expect(await rejection(run('restore', 'reconcile', '--table', db.name))).toBe(
    'The stack uses this table: reconcile it before that.\n',
  )
  const restored = await freshTable()
  const pause = await pausedFor(restored.name)
  const settle = (table: string) => run('restore', 'reconcile', '--here', '--table', table)
  expect((await settle(restored.name)).code).toBe(0)
  expect(await rejection(settle((await freshTable()).name))).toBe(
    `The clinics are paused until ${restored.name} is the table in use. If that restore is given up: restore cancel\n`,
  )
  expect(await rejection(run('clinic', 'resume', '--clinic', clinic.id))).toBe(
    `Clinic ${clinic.id} is paused until ${restored.name} is the table in use. If that restore is given up: restore cancel\n`,
  )
  const { key } = await issueCredential(db.table, clinic)
  expect(await rejection(run('credential', 'rotate', key))).toContain('is paused until')
  expect(await output(run('credential', 'revoke', key, '--yes'))).toContain(
    `Run "restore reconcile --table ${restored.name}" again`,
  )
  expect(await pausedFor(restored.name)).not.toBe(pause)
  expect((await settle(restored.name)).code).toBe(0)
  expect(await cancel()).toBe(
    `Ended the pause of 1 clinic. Do not use ${restored.name} without reconciling it again.\n`,
  )
  expect(await cancel()).toBe('Nothing changed: no clinic is paused for a restore of the table.\n')
  expect(await clinicStore(db).find(clinic.id)).not.toHaveProperty('pausedAt')
})

it('neither creates nor deletes a clinic, nor migrates, while a table is to be replaced', async () => {
  await pausedFor('restored-1')
  const created = ['--name', 'Praxis Ost', '--timezone', 'Europe/Berlin', '--currency', 'EUR', '--yes']
  const deleted = ['--clinic', clinic.id, '--without-export', '--yes', '--confirm', clinic.name]
  for (const command of [['clinic', 'create', ...created], ['clinic', 'delete', ...deleted], ['migrate']])
    expect(await rejection(run(...command))).toBe(
      'The clinics are paused until restored-1 is the table in use. If that restore is given up: restore cancel\n',
    )
  expect((await run('migrate', '--check')).code).toBe(0)
  await cancel()
  expect((await clinicStore(db).list()).map(({ id, deletingAt }) => [id, deletingAt])).toEqual([
    [clinic.id, undefined],
  ])
})

it('continues a settlement that was stopped, and begins again after another pause', async () => {
  const copy = await restored(db)
  const ids = (await clinicStore(copy).list()).map(({ id }) => id)
  const first = await pausedFor(copy.name)
  const settle = async () => {
    // A process that was stopped at the end, during the first pause.
    const stopped = walk(copy.table, clinicsOf(ids), {
      progress: walkKey('maintain', 'reconcile'),
      subject: first,
      visit: async () => ({ reconciled: 1 }),
      finish: () => Promise.reject(new Error('stopped')),
    })
    await expect(stopped).rejects.toThrow('stopped')
    const { printed, errors } = await run('restore', 'reconcile', '--here', '--table', copy.name)
    const isListed = printed.includes(ids[0] as string)
    return [isListed, !printed.includes('of them before this run'), errors]
  }
  const resumed = expect.stringMatching(/^Resumed at \d+ clinics?, begun at \S+Z\n$/)
  expect(await settle()).toEqual([false, false, resumed])
  await cancel()
  await pausedFor(copy.name, 5)
  expect(await settle()).toEqual([true, true, ''])
  await cancel()
})

it('does not settle from a table that lacks a clinic, or without one that has the clinics', async () => {
  const other = await freshTable()
  const unknown = await createPopulatedClinic(other.table)
  expect(await rejection(run('restore', 'reconcile', '--table', other.name))).toBe(
    `The table in use does not have clinic ${unknown.clinic.id}: is it the one that was restored? If it was lost, use --source-lost.\n`,
  )
  const copy = await freshTable()
  await clinicStore({ table: copy.table }).create(clinic)
  expect(await rejection(run('restore', 'reconcile', '--table', copy.name, '--source-lost'))).toBe(
    `The table in use has clinic ${clinic.id}, so it is not lost: reconcile without --source-lost.\n`,
  )
})

it('settles the clinics of a restored table, and prints what it did', async () => {
  const restored = await freshTable()
  const lost = await createPopulatedClinic(restored.table)
  const settle = ['--json', 'restore', 'reconcile', '--here', '--table', restored.name, '--source-lost']
  expect((await run(...settle)).code).toBe(0)
  outputs.TableName = `${db.name}-deleted`
  const { code, printed } = await run(...settle)
  outputs.TableName = db.name
  expect([code, JSON.parse(printed).data]).toEqual([
    0,
    {
      reconciled: 1,
      reconciled_before: 0,
      failed: 0,
      clinics: [{ clinic_id: lost.clinic.id, messages: null, erasures: null }],
      missing_clinics: [],
      held_messages: 0,
    },
  ])
})

it('restores only to a table whose name the role may create', async () => {
  expect(await rejection(run('restore', 'table', '--to', '2026-01-01T00:00:00Z', '--name', 'other'))).toBe(
    `--name must begin with ${db.name}-\n`,
  )
})

describe('a caller whose role lacks a permission', () => {
  /** Plays DynamoDB for a role without any permission. */
  const dynamodb = createServer((_, response) => {
    response.statusCode = 400
    const message = 'User: arn:aws:iam::1:user/eva is not authorized to perform: dynamodb:GetItem'
    response.end(JSON.stringify({ __type: 'com.amazon.coral.service#AccessDeniedException', message }))
  })
  beforeAll(async () => {
    await once(dynamodb.listen(0, '127.0.0.1'), 'listening')
    const { port } = dynamodb.address() as AddressInfo
    vi.stubEnv('AWS_ENDPOINT_URL_DYNAMODB', `http://127.0.0.1:${port}`)
  })
  afterAll(() => void dynamodb.close())

  it.each([
    [['patient', 'erase', newUuid()], '"patient erase" needs the role "erase": the output EraseRoleArn'],
    [['verify'], '"verify" needs the role "read": the output ReadRoleArn'],
    [['verify', '--repair'], '"verify" needs the role "support": the output SupportRoleArn'],
  ])('gets the role that %j needs', async (args, message) => {
    const { code, errors } = await run(...args, '--clinic', clinic.id)
    expect(code).toBe(4)
    expect(errors).toContain(message)
    expect(errors).toContain('is not authorized to perform: dynamodb:GetItem')
  })
})
