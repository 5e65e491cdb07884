import { expect, it } from 'vitest'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { HEALTHY } from '../../../../shared/domain/webhooks/webhook-health.ts'
import { credentialStore } from '../../../../shared/store/credentials.ts'
import { listWebhookHealth, webhookHealthStore } from '../../../../shared/store/events/webhook-health.ts'
import { CredentialRevoked, webhookStore } from '../../../../shared/store/events/webhooks.ts'
import { clinicCredentialsPartition } from '../../../../shared/store/keys/clinics.ts'
import { WriteConflict } from '../../../../shared/store/table/errors.ts'
import { UNREQUESTED } from '../../../../shared/store/table/idempotency.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { issueCredential } from '../../../support/credentials.ts'
import { createWebhook } from '../../../support/deliveries.ts'
import { crashingTable } from '../../../support/intercepted-table.ts'
import { freshTable, newClinic } from '../../../support/table.ts'

it('deletes a webhook although another transaction holds one of its items', async () => {
  const { table } = await freshTable()
  const clinic = await newClinic(table)
  const webhook = await createWebhook(table, clinic.id)
  let conflicts = 0
  const contended: Table = {
    ...table,
    tryTransact: async (writes) => {
      if (conflicts++ === 0) throw new WriteConflict(new Error('TransactionConflict'))
      await table.tryTransact(writes)
    },
  }
  expect(await webhookStore({ table: contended }).remove(clinic.id, webhook.id)).toBe(true)
  expect(conflicts).toBe(2)
  expect(await webhookStore({ table }).find(clinic.id, webhook.id)).toBeNull()
  expect(await webhookStore({ table: contended }).remove(clinic.id, webhook.id)).toBe(false)
})

it('enables a webhook and resets its health in one transaction', async () => {
  const { table } = await freshTable()
  const { id: clinic } = await newClinic(table)
  const { id } = await createWebhook(table, clinic, { isActive: false })
  await webhookHealthStore({ table }).record(clinic, id, HEALTHY, { isSlow: true, failingSince: 1 })
  const { change } = webhookStore({ table: crashingTable(table) })
  const enabled = change(clinic, id, (before) => ({ ...before, isActive: true }), UNREQUESTED, true)
  await expect(enabled).rejects.toThrow('crash')
  expect(await webhookStore({ table }).find(clinic, id)).toMatchObject({ isActive: true })
  expect((await listWebhookHealth(table, clinic)).get(id)).toEqual(HEALTHY)
})

it('creates no webhook with a credential that is revoked after the request read it', async () => {
  const { table } = await freshTable()
  const clinic = await newClinic(table)
  const { key } = await issueCredential(table, clinic)
  const revokedAfterRead: Table = {
    ...table,
    get: async (read) => {
      const item = await table.get(read)
      if (read.pk === clinicCredentialsPartition(clinic.id))
        await credentialStore({ table, now: Date.now }).revoke(key)
      return item
    },
  }
  await expect(createWebhook(revokedAfterRead, clinic.id, { createdBy: key })).rejects.toThrow(
    CredentialRevoked,
  )
  expect(await webhookStore({ table }).list(clinic.id)).toEqual([])
})

it('keeps the time of the first revocation', async () => {
  const { table } = await freshTable()
  const { key } = await issueCredential(table, await newClinic(table))
  const revoke = (at: string) => credentialStore({ table, now: () => Date.parse(at) }).revoke(key)
  const both = [revoke('2026-01-01T00:00:00.000Z'), revoke('2026-01-02T00:00:00.000Z')]
  const [first, second] = await Promise.all(both)
  expect(first?.revokedAt).toBe(second?.revokedAt)
  expect(await revoke('2026-01-03T00:00:00.000Z')).toEqual(first)
  expect(await credentialStore({ table, now: Date.now }).revoke(newUuid())).toBeNull()
})
