/** The operator's commands about webhook endpoints, and about the endpoints of a revoked credential, against the running stack. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { issueCredential } from '../support/credentials.ts'
import { get, post, type RunningStack, runClinicTool, runStack } from '../support/local-stack.ts'
import { newClinic } from '../support/table.ts'

let stack: RunningStack
let clinic: Clinic

beforeAll(async () => {
  stack = await runStack({ demo: false })
  clinic = await newClinic(stack.table)
})
afterAll(() => stack?.close())

const tool = (...args: string[]) => runClinicTool(stack, ...args)
const issued = async () => {
  const { key, secret } = await issueCredential(stack.table, clinic)
  return { key, pair: `${key}:${secret}` }
}
const create = async (pair: string) => {
  const body = { url: 'https://hooks.example.com/in', events: ['patient.created'] }
  return (await post(stack, '/webhooks', body, { pair })).body.data as { id: string; secret: string }
}
const listed = async (pair: string): Promise<{ id: string; is_active: boolean }[]> =>
  (await get(stack, '/webhooks?limit=100', pair)).body.data

it('lists, disables and deletes endpoints, without secrets', async () => {
  const { key, pair } = await issued()
  const { id, secret, ...rest } = await create(pair)
  const list = await tool('webhook', 'list', '--clinic', clinic.id, '--json')
  expect(list.json().data).toEqual([{ id, ...rest, created_by: key }])
  expect(list.stdout).not.toContain(secret)
  const text = (await tool('webhook', 'list', '--clinic', clinic.id)).stdout
  expect(text).toMatch(new RegExp(`^${id} +active +https://hooks.example.com/in +created by ${key} `))

  const disabled = await tool('webhook', 'disable', id.toUpperCase(), '--clinic', clinic.id)
  expect([disabled.code, disabled.stdout]).toEqual([0, `Disabled webhook endpoint ${id}\n`])
  expect(await listed(pair)).toMatchObject([{ id, is_active: false }])
  const again = await tool('webhook', 'disable', id, '--clinic', clinic.id, '--json')
  expect(again.json()).toMatchObject({ id, is_active: false, created_by: key })

  expect((await tool('webhook', 'delete', id, '--clinic', clinic.id)).code).toBe(0)
  expect(await listed(pair)).toEqual([])
})

it('reports an unknown endpoint, and one of another clinic', async () => {
  const other = await newClinic(stack.table)
  const { pair } = await issued()
  const { id } = await create(pair)
  for (const action of ['disable', 'delete'])
    for (const args of [
      [newUuid(), '--clinic', clinic.id],
      [id, '--clinic', other.id],
    ]) {
      const { code, stderr } = await tool('webhook', action, ...args)
      expect([code, stderr]).toEqual([
        2,
        `The clinic has no webhook endpoint ${args[0]}. "webhook list" lists all of them.\n`,
      ])
    }
  expect(await listed(pair)).toMatchObject([{ id, is_active: true }])
  await tool('webhook', 'delete', id, '--clinic', clinic.id)
})

it('revokes a credential with endpoints only when told what to do with them', async () => {
  const [mine, others] = [await issued(), await issued()]
  const created = [(await create(mine.pair)).id, (await create(mine.pair)).id]
  const kept = (await create(others.pair)).id

  const asked = await tool('credential', 'revoke', mine.key)
  expect(asked.code).toBe(2)
  for (const text of [...created, '--with-webhooks', '--keep-webhooks', 'was not revoked'])
    expect(asked.stderr).toContain(text)
  expect(asked.stderr).not.toContain(kept)
  const both = await tool('credential', 'revoke', mine.key, '--with-webhooks', '--keep-webhooks')
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('not both')])
  expect((await get(stack, '/webhooks', mine.pair)).status).toBe(200)

  const keeping = await tool('credential', 'revoke', mine.key, '--keep-webhooks', '--json')
  expect(keeping.json()).toMatchObject({ revoked_at: expect.any(String), deleted_webhooks: [] })
  expect((await get(stack, '/webhooks', mine.pair)).status).toBe(401)
  expect((await listed(others.pair)).map(({ id }) => id)).toEqual([...created, kept])

  const deleting = await tool('credential', 'revoke', mine.key, '--with-webhooks', '--json')
  expect(deleting.json()).toMatchObject({
    revoked_at: keeping.json().revoked_at,
    deleted_webhooks: created,
  })
  expect((await listed(others.pair)).map(({ id }) => id)).toEqual([kept])
})

it('revokes a credential without endpoints without an option', async () => {
  const { key } = await issued()
  const { code, stdout } = await tool('credential', 'revoke', key)
  expect([code, stdout]).toEqual([0, `Revoked credential ${key}\n`])
})
