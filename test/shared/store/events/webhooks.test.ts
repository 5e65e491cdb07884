import { expect, it } from 'vitest'
import { webhookStore } from '../../../../shared/store/events/webhooks.ts'
import { WriteConflict } from '../../../../shared/store/table/errors.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { freshTable, newClinic } from '../../../support/table.ts'

it('deletes a webhook although another transaction holds one of its items', async () => {
  const { table } = await freshTable()
  const clinic = await newClinic(table)
  const webhook = await createWebhook(table, clinic.id)
  let conflicts = 0
  const contended: Table = {
    ...table,
    tryTransact: async (writes) => {
      if (conflicts++ === 0) throw new WriteConflict([0], new Error('TransactionConflict'))
      await table.tryTransact(writes)
    },
  }
  expect(await webhookStore({ table: contended }).remove(clinic.id, webhook.id)).toBe(true)
  expect(conflicts).toBe(2)
  expect(await webhookStore({ table }).find(clinic.id, webhook.id)).toBeNull()
  expect(await webhookStore({ table: contended }).remove(clinic.id, webhook.id)).toBe(false)
})
