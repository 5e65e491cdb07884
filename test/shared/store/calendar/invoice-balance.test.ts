import { describe, expect, it } from 'vitest'
import type { Payment, PaymentStatus } from '../../../../shared/domain/money/payment.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import {
  ImpossibleBalance,
  MAX_PAYMENTS,
  PatientErased,
} from '../../../../shared/store/calendar/invoice-balance.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { Changeset } from '../../../../shared/store/table/changeset.ts'
import { ConditionFailed } from '../../../../shared/store/table/errors.ts'
import { MAX_TRANSACTION_ITEMS } from '../../../../shared/store/table/table.ts'
import { paymentChanges } from '../../../support/payment-changes.ts'
import { createPopulatedClinic, createRecord } from '../../../support/records.ts'
import { freshTable } from '../../../support/table.ts'

it('fits into one transaction when every payment moves to another month', async () => {
  const { table } = await freshTable()
  const { clinic, invoice, payment } = await createPopulatedClinic(table)
  const ids = Array.from({ length: MAX_PAYMENTS }, () => newUuid())
  const build = (year: number, status: PaymentStatus) =>
    paymentChanges(
      table,
      clinic.id,
      invoice.id,
      ids.map((id, index) => ({
        id,
        build: () => ({ ...payment, id, status, date: `${year}-${String(index + 1).padStart(2, '0')}-01` }),
      })),
    )
  await (await build(2024, 'pending'))?.commit()

  const changes = await build(2025, 'completed')

  expect(changes?.size).toBeLessThanOrEqual(MAX_TRANSACTION_ITEMS)
  await changes?.commit()
})

it('writes no payment when the patient is erased before the commit, nor afterwards', async () => {
  const { table } = await freshTable()
  const { clinic, patient, invoice, payment } = await createPopulatedClinic(table)
  const late = { ...payment, id: newUuid(), description: 'Card of the brother' }
  const build = () => paymentChanges(table, clinic.id, invoice.id, [{ id: late.id, build: () => late }])
  const changes = await build()
  await patientChanges(table).erase(clinic.id, patient.id)

  await expect(changes?.commit()).rejects.toBeInstanceOf(ConditionFailed)
  await expect(build()).rejects.toBeInstanceOf(PatientErased)
  expect(await paymentStore({ table }).find(clinic.id, late.id)).toBeNull()
})

it('counts the payments of an invoice that a restore has written as new', async () => {
  const { table } = await freshTable()
  const { clinic, invoice, payment } = await createPopulatedClinic(table)
  const again = { ...invoice, id: newUuid(), total: 10_000, paid: 6000 }
  const paid = { ...payment, status: 'completed' as const, invoice: { id: again.id, number: again.number } }
  await createRecord(table, clinic, paymentStore({ table }), { ...paid, id: newUuid(), amount: 6000 })
  await createRecord(table, clinic, invoiceStore({ table }), again)
  const added = { ...paid, id: newUuid(), amount: 4000 }
  const change = { id: added.id, build: () => added }
  await (await paymentChanges(table, clinic.id, again.id, [change]))?.commit()
  expect((await invoiceStore({ table }).find(clinic.id, again.id))?.record.paid).toBe(10_000)
})

it('commits only one of two changes that were built from the same payments', async () => {
  const { table } = await freshTable()
  const { clinic, invoice, payment } = await createPopulatedClinic(table)
  const build = (amount: number) => {
    const added = { ...payment, id: newUuid(), amount, status: 'completed' as const }
    return paymentChanges(table, clinic.id, invoice.id, [{ id: added.id, build: () => added }])
  }
  const paid = async () => (await invoiceStore({ table }).find(clinic.id, invoice.id))?.record.paid ?? 0
  const before = await paid()
  const [first, second] = [await build(100), await build(1000)]

  await first?.commit()
  await expect(second?.commit()).rejects.toBeInstanceOf(ConditionFailed)
  expect(await paid()).toBe(before + 100)
  await (await build(1000))?.commit()
  expect(await paid()).toBe(before + 1100)
})

describe('refunds', () => {
  const fixture = async () => {
    const { table } = await freshTable()
    const { clinic, invoice, payment } = await createPopulatedClinic(table)
    const build = (changed: Payment) =>
      paymentChanges(table, clinic.id, invoice.id, [{ id: changed.id, build: () => changed }])
    const refund = (amount: number): Payment => ({ ...payment, id: newUuid(), type: 'refund', amount })
    return { table, clinic, payment, build, refund }
  }

  it('cannot exceed what was paid, also if two are made at the same time', async () => {
    const { payment, build, refund } = await fixture()
    await expect(build(refund(payment.amount + 1))).rejects.toThrow(ImpossibleBalance)
    const second = refund(payment.amount)
    const [first, outdated] = await Promise.all([build(refund(payment.amount)), build(second)])
    await first?.commit()
    await expect(outdated?.commit()).rejects.toBeInstanceOf(ConditionFailed)
    await expect(build(second)).rejects.toMatchObject({ payment: second.id, reason: 'refunds_exceed_paid' })
  })

  it('can become fewer, but not more, if those stored exceed what was paid', async () => {
    const { table, clinic, payment, build, refund } = await fixture()
    const stored = refund(payment.amount + 5)
    const changes = new Changeset(table, clinic.id)
    paymentStore({ table }).change(changes, null, stored)
    await changes.commit()
    await expect(build({ ...stored, amount: stored.amount + 1 })).rejects.toThrow(ImpossibleBalance)
    await expect(build(refund(1))).rejects.toThrow(ImpossibleBalance)
    await (await build({ ...stored, amount: stored.amount - 1 }))?.commit()
    await (await build({ ...payment, id: newUuid(), amount: 1 }))?.commit()
  })
})
