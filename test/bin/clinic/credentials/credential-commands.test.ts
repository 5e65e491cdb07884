/** The commands that change, rotate and revoke credentials. */
import { beforeEach, describe, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { credentialStore } from '../../../../shared/store/credentials.ts'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import { clinicCredentialKey } from '../../../../shared/store/keys/clinics.ts'
import { issueCredential } from '../../../support/credentials.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { deployedTable, output, rejection } from '../../../support/deployed-stack.ts'
import { newClinic } from '../../../support/table.ts'

const { db, run, runAsked } = deployedTable({ Cell: 'a' })
let clinic: Clinic
let key: string
let secret: string

beforeEach(async () => {
  clinic = await newClinic(db.table, { name: 'Praxis Nord', timezone: 'Europe/Berlin' })
  const issued = await issueCredential(db.table, clinic)
  key = issued.key
  secret = issued.secret
})

const credential = (...args: string[]) => run('credential', ...args)
const accepts = async (tried: string) =>
  (await credentialStore({ table: db.table, now: Date.now }).authenticate({ key, secret: tried })) !== null

it('shows a credential and its clinic by its key alone', async () => {
  expect(await output(credential('show', key))).toMatch(
    new RegExp(`^${key}  test  active  .*\nclinic Praxis Nord, ${clinic.id}\n$`),
  )
  expect(JSON.parse((await credential('show', key, '--json')).printed).data).toMatchObject({
    clinic_id: clinic.id,
  })
  expect(await rejection(credential('show', 'ck_a_unknown'))).toContain(
    'Credential ck_a_unknown does not exist.',
  )
})

describe('credential update', () => {
  it('changes name, scopes, expiry and rate, which the list shows', async () => {
    const given = ['--name', 'Portal', '--scopes', 'patient.read', '--rate', '30']
    expect(await output(credential('update', key, ...given, '--expires', '2099-01-01T00:00:00Z'))).toBe(
      `Changed credential ${key}\n`,
    )
    const { printed: list } = await credential('list', '--clinic', clinic.id)
    expect(list).toBe(
      `${key}  Portal  active  expires 2099-01-01T01:00:00+01:00  30/min  never used  patient.read\n`,
    )
    expect((await credential('update', key, '--expires', 'never', '--rate', 'default')).code).toBe(0)
    expect((await credential('list', '--clinic', clinic.id)).printed).toContain('never expires  default rate')
    expect(await accepts(secret)).toBe(true)
  })

  it('says so if nothing changes, or nothing is to be changed', async () => {
    expect(await output(credential('update', key, '--name', 'test', '--rate', 'default'))).toBe(
      `Nothing changed: credential ${key} has these values already\n`,
    )
    expect(await rejection(credential('update', key))).toBe(
      'Nothing to change: specify at least one option.\n',
    )
  })

  it('names the endpoints that keep receiving events when scopes change', async () => {
    const { id } = await createWebhook(db.table, clinic.id, { createdBy: key })
    const { printed } = await credential('update', key, '--scopes', 'none')
    expect(printed).toContain(`keep receiving the same events: ${id}`)
  })
})

it('credential rotate ends the previous secret at once, or at a given time', async () => {
  const { printed } = await credential('rotate', key, '--until', 'now')
  expect(printed).toContain('The previous secret is no longer accepted.')
  expect(await accepts(secret)).toBe(false)
  const later = await credential('rotate', key, '--until', '2099-01-01T00:00:00Z')
  expect(later.printed).toContain('The previous secret is accepted until 2099-01-01T01:00:00+01:00.')
})

const CREATE = ['create', '--clinic', 'CLINIC', '--name', 'X', '--scopes']

it.each([
  [[...CREATE, 'all', '--expires', '2020-01-01T00:00:00Z'], '--expires is past'],
  [['update', 'KEY', '--expires', '2020-01-01T00:00:00+03:00'], '--expires is past'],
  [['create', '--clinic', 'nothing', '--name', 'X', '--scopes', 'all'], 'Clinic nothing does not exist'],
  [
    [...CREATE, 'patients.read,patient.delete'],
    '--scopes has unknown scopes: patients.read (did you mean patient.read?), patient.delete. Valid scopes are patient.read, ',
  ],
  [['update', 'KEY', '--expires', 'tomorrow'], '--expires must be a timestamp such as'],
  [
    ['update', 'KEY', '--expires', '9999-12-31T23:59:59-12:00'],
    '--expires must be from 0001-01-02 to 2199-12-31',
  ],
  [['rotate', 'KEY', '--until', '2200-01-01T00:00:00Z'], '--until must be from 0001-01-02 to 2199-12-31'],
  [['update', 'KEY', '--rate', '0'], '--rate must be at least 1'],
  [['rotate', 'KEY', '--until', '2020-01-01T00:00:00Z'], '--until is past'],
  [['rotate', 'ck_a_unknown'], 'Credential ck_a_unknown does not exist. "credential list" lists'],
  [['update', 'ck_a_unknown', '--name', 'X'], 'Credential ck_a_unknown does not exist.'],
  [['revoke', 'Ada Kaya'], 'A key begins with ck_.'],
])('rejects credential %j', async (args, message) => {
  const values: Record<string, string> = { KEY: key, CLINIC: clinic.id }
  const { code, printed, errors } = await credential(...args.map((arg) => values[arg] ?? arg))
  expect([code, printed]).toEqual([2, ''])
  expect(errors).toContain(message)
  expect(errors).not.toContain('Ada')
  expect(await accepts(secret)).toBe(true)
})

it.each([['revoke'], ['rotate'], ['update']])(
  'credential %s takes a key alone, and repeats neither key nor secret of a pasted pair',
  async (name) => {
    const { code, printed, errors, lines } = await credential(name, `${key}:${secret}`)
    expect([code, lines]).toEqual([2, []])
    expect(errors).toContain('Specify the key alone')
    expect(printed + errors).not.toContain(secret.slice(3))
    const named = ['create', '--clinic', clinic.id, '--scopes', 'all', '--name', `Site ${key}:${secret}`]
    expect((await credential(...named)).errors).toBe('--name must not contain the secret of a credential\n')
  },
)

describe('credential revoke', () => {
  it('keeps the endpoints of the credential, which it names, or deletes them', async () => {
    const created = [1, 2].map(() => createWebhook(db.table, clinic.id, { createdBy: key }))
    const mine = (await Promise.all(created)).map(({ id }) => id).sort()
    const other = await createWebhook(db.table, clinic.id)
    const asked = await credential('revoke', key)
    expect(asked.code).toBe(2)
    for (const text of [...mine, '--with-webhooks', 'Use --yes to do it.'])
      expect(asked.errors).toContain(text)
    expect(asked.errors).not.toContain(other.id)
    expect(await accepts(secret)).toBe(true)
    const keeping = JSON.parse((await credential('revoke', key, '--yes', '--json')).printed).data
    expect(keeping).toMatchObject({ revoked_at: expect.any(String), deleted_webhooks: [] })
    expect(await accepts(secret)).toBe(false)
    const listed = async () => (await webhookStore(db).list(clinic.id)).map(({ id }) => id).sort()
    expect(await listed()).toEqual([...mine, other.id].sort())

    const deleting = JSON.parse(
      (await credential('revoke', key, '--with-webhooks', '--yes', '--json')).printed,
    ).data
    expect(deleting.revoked_at).toBe(keeping.revoked_at)
    expect(deleting.deleted_webhooks.sort()).toEqual(mine)
    expect(await listed()).toEqual([other.id])
  })

  it('needs no option for a credential without endpoints', async () => {
    expect(await output(credential('revoke', key, '--yes'))).toBe(`Revoked credential ${key}\n`)
    expect(await output(credential('revoke', key))).toBe(
      `Nothing changed: credential ${key} is revoked already\n`,
    )
  })
})

describe('credential revoke --all', () => {
  const revokeAll = (...more: string[]) => credential('revoke', '--all', '--clinic', clinic.id, ...more)

  it('asks, and revokes every credential of the clinic, but none of another', async () => {
    const second = await issueCredential(db.table, clinic)
    const other = await newClinic(db.table)
    const foreign = await issueCredential(db.table, other)
    const asked = await revokeAll()
    expect([asked.code, asked.printed]).toEqual([2, ''])
    expect(asked.errors).toContain('2 credentials of Praxis Nord will be revoked (active: 2).')
    expect(await accepts(secret)).toBe(true)
    const { code, lines, printed } = await revokeAll('--yes')
    expect([code, printed]).toEqual([0, 'Revoked 2 credentials of Praxis Nord\n'])
    expect(lines[1]?.records.toSorted()).toEqual([key, second.key].toSorted())
    const listed = async (id: Clinic['id']) =>
      (await credentialStore({ table: db.table, now: Date.now }).list(id)).map(
        ({ revokedAt }) => revokedAt !== null,
      )
    expect([await listed(clinic.id), await listed(other.id)]).toEqual([[true, true], [false]])
    expect(foreign.revokedAt).toBeNull()
    expect((await revokeAll()).printed).toBe(
      'Nothing changed: all credentials of Praxis Nord are revoked already\n',
    )
  })

  it('run again after an interruption, deletes the endpoints of credentials that are revoked', async () => {
    const { id } = await createWebhook(db.table, clinic.id, { createdBy: key })
    await credentialStore({ table: db.table, now: Date.now }).revoke(key)
    expect((await revokeAll('--yes')).printed).toContain(`receiving events: ${id}.`)
    expect(await rejection(revokeAll('--with-webhooks'))).toContain(`are deleted: ${id}`)
    const { code, printed, lines } = await revokeAll('--with-webhooks', '--yes')
    expect([code, printed]).toEqual([0, `Deleted webhook endpoint ${id}\n`])
    expect(lines[1]?.records).toContain(id)
    expect(await webhookStore(db).list(clinic.id)).toEqual([])
    expect((await revokeAll('--with-webhooks')).printed).toContain('Nothing changed')
  })

  it('revokes all even if an endpoint is created in between, which its repetition deletes', async () => {
    const second = await issueCredential(db.table, clinic)
    let created = ''
    const answer = async () => {
      created = (await createWebhook(db.table, clinic.id, { createdBy: key })).id
      return 'yes'
    }
    const first = await runAsked(answer, 'credential', 'revoke', '--all', '--clinic', clinic.id)
    expect([first.code, first.printed]).toEqual([
      0,
      `Revoked 2 credentials of Praxis Nord\nWebhook endpoints that were created with these credentials keep receiving events: ${created}. --with-webhooks deletes them.\n`,
    ])
    expect(first.lines[1]?.records.toSorted()).toEqual([key, second.key].toSorted())
    expect(await accepts(secret)).toBe(false)
    expect((await revokeAll('--with-webhooks', '--yes')).printed).toContain(
      `Deleted webhook endpoint ${created}`,
    )
  })
})

it('credential revoke --all revokes a credential that the list of the clinic lacks', async () => {
  await db.table.deleteMany([clinicCredentialKey(clinic.id, key)])
  const args = ['--all', '--clinic', clinic.id, '--yes']
  expect((await credential('revoke', ...args)).printed).toBe(
    `Revoked credential ${key}, which the list of credentials lacked\n`,
  )
  expect(await accepts(secret)).toBe(false)
})
