/** The commands about webhook endpoints. */
import { beforeEach, expect, it } from 'vitest'
import type { Clinic } from '../../../../shared/domain/clinic.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import type { Webhook } from '../../../../shared/domain/webhooks/webhook.ts'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { deployedTable, output, rejection } from '../../../support/deployed-stack.ts'
import { newClinic } from '../../../support/table.ts'

const { db, run } = deployedTable()
let clinic: Clinic
let webhook: Webhook

beforeEach(async () => {
  clinic = await newClinic(db.table)
  webhook = await createWebhook(db.table, clinic.id)
})

const stored = () => webhookStore(db).list(clinic.id)

it('lists, disables and deletes endpoints, without secrets', async () => {
  const { id, url, events, createdBy } = webhook
  const list = await run('webhook', 'list', '--clinic', clinic.id, '--json')
  const [shown, ...others] = JSON.parse(list.printed).data
  expect(shown).toMatchObject({ id, url, events, is_active: true, created_by: createdBy })
  expect(others).toEqual([])
  expect(list.printed).not.toContain('whsec_')
  const text = (await run('webhook', 'list', '--clinic', clinic.id)).printed
  expect(text).toMatch(new RegExp(`^${id} +active +${url} +created by ${createdBy} `))

  expect(await output(run('webhook', 'update', id.toUpperCase(), '--clinic', clinic.id, '--no-active'))).toBe(
    `Disabled webhook endpoint ${id}\n`,
  )
  expect(await stored()).toMatchObject([{ id, isActive: false }])
  const again = await run('webhook', 'update', id, '--clinic', clinic.id, '--no-active', '--json')
  expect(JSON.parse(again.printed).data).toMatchObject({ id, is_active: false, created_by: createdBy })

  const remove = ['webhook', 'delete', id, '--clinic', clinic.id]
  expect(await rejection(run(...remove))).toContain(`Webhook endpoint ${id} (${url}) is deleted`)
  expect(await stored()).toHaveLength(1)
  expect((await run(...remove, '--yes')).code).toBe(0)
  expect(await stored()).toEqual([])
})

it('reports an unknown endpoint, and one of another clinic', async () => {
  const other = await newClinic(db.table)
  for (const [action, ...more] of [['update', '--no-active'], ['delete']] as const)
    for (const args of [
      [newUuid(), '--clinic', clinic.id],
      [webhook.id, '--clinic', other.id],
    ]) {
      expect(await rejection(run('webhook', action, ...more, ...args))).toBe(
        `The clinic has no webhook endpoint ${args[0]}. Find it with "webhook find" or "webhook list".\n`,
      )
    }
  expect(await stored()).toMatchObject([{ id: webhook.id, isActive: true }])
})
