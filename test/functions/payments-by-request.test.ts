/** Payments, refunds and voids by requests: each rule, and random histories of concurrent requests against a model. */
import { beforeEach, describe, expect, it } from 'vitest'
import { applyPayments, type Invoice } from '../../shared/domain/money/invoice.ts'
import type { Payment } from '../../shared/domain/money/payment.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { issueCredential } from '../support/credentials.ts'
import { request } from '../support/functions.ts'
import { paymentChanges } from '../support/payment-changes.ts'
import { seededRandom } from '../support/random.ts'
import { realisticTableOfFunctions } from '../support/realistic-table.ts'
import { createPopulatedClinic, createRecord, type PopulatedClinic } from '../support/records.ts'
import { rounds } from '../support/scale.ts'

const { db, dynamodb } = realisticTableOfFunctions()
let mine: PopulatedClinic
let headers: Record<string, string>

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
  headers = (await issueCredential(db.table, mine.clinic)).headers
})

const post = async (id: string, { body = {}, path = {}, key = '', by = headers }) =>
  request(id, { path, headers: { ...by, ...(key && { 'idempotency-key': key }) }, body })

/** An invoice of 100.00 EUR, with payments in cents. */
async function anOpenInvoice(
  facts: Partial<Invoice> = {},
  payments: Partial<Payment>[] = [],
): Promise<Invoice> {
  const invoice = {
    ...mine.invoice,
    id: newUuid(),
    total: 10_000,
    paid: 0,
    status: 'sent' as const,
    ...facts,
  }
  await createRecord(db.table, mine.clinic, invoiceStore(db), invoice)
  for (const payment of payments) {
    const { id = newUuid() } = payment
    const reference = { id: invoice.id, number: invoice.number }
    const build = () => ({ ...mine.payment, ...payment, id, invoice: reference })
    await (await paymentChanges(db.table, mine.clinic.id, invoice.id, [{ id, build }]))?.commit()
  }
  return invoice
}

const pay = (invoice: Pick<Invoice, 'id'>, more: object = {}) =>
  post('create-payment', { body: { invoice_id: invoice.id, amount: 10, payment_method: 'card', ...more } })
const stored = async (id: string) => (await invoiceStore(db).find(mine.clinic.id, id))?.record

describe('POST /payments', () => {
  it('returns 201 with a completed payment of today, and changes the balance and the status of the invoice', async () => {
    const invoice = await anOpenInvoice()
    const { status, body, headers: sent } = await pay(invoice, { amount: 100, description: 'Card' })
    expect([status, sent.location]).toEqual([201, expect.stringMatching(`/payments/${body.data.id}$`)])
    const today = new Date().toISOString().slice(0, 10)
    expect(body.data).toMatchObject({
      ...{ invoice_id: invoice.id, amount: 100, type: 'payment', status: 'completed', description: 'Card' },
      ...{
        payment_method: 'card',
        voided_at: null,
        payment_date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      },
    })
    expect(body.data.payment_date >= today.slice(0, 8)).toBe(true)
    expect(await stored(invoice.id)).toMatchObject({ paid: 10_000, status: 'paid' })
  })

  it('does not say how much can be paid without finance.read', async () => {
    const { headers: by } = await issueCredential(db.table, mine.clinic, ['finance.write'])
    const { id } = await anOpenInvoice()
    for (const type of ['payment', 'refund']) {
      const body = { invoice_id: id, payment_method: 'card', amount: 1000, type }
      const { status, body: error } = await post('create-payment', { body, by })
      expect([status, error.details]).toEqual([422, [{ field: 'amount', issue: 'is too large' }]])
    }
  })

  const CLOSED = [409, 'invoice_closed', undefined]
  const wrong = (key: string, detail: object) => [422, key, [{ field: 'amount', ...detail }]]
  const OPEN = {}
  it.each<[string, Partial<Invoice>, Partial<Payment>[], object, unknown[]]>([
    [
      'above the balance',
      OPEN,
      [{ amount: 9_000 }],
      { amount: 10.01 },
      wrong('amount_exceeds_balance', { issue: 'must be at most 10 EUR', maximum: 10 }),
    ],
    [
      'of a refund above what was paid, less a pending refund',
      OPEN,
      [{ amount: 5_000 }, { amount: 2_000, type: 'refund', status: 'pending' }],
      { type: 'refund', amount: 30.01 },
      wrong('amount_exceeds_paid', { issue: 'must be at most 30 EUR', maximum: 30 }),
    ],
    ['of a draft', { status: 'draft', clinicStatus: 'draft' }, [], {}, CLOSED],
    ['of a cancelled invoice', { status: 'cancelled', clinicStatus: 'cancelled' }, [], {}, CLOSED],
    [
      'with too many decimals',
      OPEN,
      [],
      { amount: 10.005 },
      wrong('validation', { issue: 'must be a positive number with at most 2 decimals in EUR' }),
    ],
    ['of zero', OPEN, [], { amount: 0 }, wrong('validation', { issue: 'must be positive' })],
    [
      'in the future',
      OPEN,
      [],
      { payment_date: '2199-01-01' },
      wrong('validation', { field: 'payment_date', issue: 'must not be in the future' }),
    ],
  ])(
    'rejects a payment %s, and changes nothing',
    async (_, facts, payments, body, [status, key, details]) => {
      const invoice = await anOpenInvoice(facts, payments)
      const before = await stored(invoice.id)
      const response = await pay(invoice, body)
      const { message } = response.body
      expect([response.status, message, response.body.details]).toEqual([
        status,
        `errors.developer_api.${key}`,
        details,
      ])
      expect(await stored(invoice.id)).toEqual(before)
    },
  )

  it('accepts a refund of a cancelled invoice, which stays cancelled when the refund is voided', async () => {
    const invoice = await anOpenInvoice({ clinicStatus: 'cancelled', status: 'cancelled' }, [
      { amount: 5_000 },
    ])
    const { status, body } = await pay(invoice, { type: 'refund', amount: 50 })
    expect(status).toBe(201)
    await post('void-payment', { path: { id: body.data.id } })
    expect(await stored(invoice.id)).toMatchObject({ paid: 5_000, status: 'cancelled' })
  })

  it('returns 404 for an unknown invoice and 409 for the invoice of an erased patient', async () => {
    const invoice = await anOpenInvoice()
    expect((await pay({ id: newUuid() })).body).toEqual({
      error: 'NOT_FOUND',
      message: 'errors.developer_api.invoice_not_found',
      details: [{ field: 'invoice_id' }],
    })
    await patientChanges(db.table).erase(mine.clinic.id, mine.patient.id)
    expect((await pay(invoice)).body.message).toBe('errors.developer_api.invoice_closed')
  })

  it('returns only ids, sent fields, status and timestamps without finance.read', async () => {
    const { headers: by } = await issueCredential(db.table, mine.clinic, ['finance.write'])
    const invoice = await anOpenInvoice()
    const { body } = await post('create-payment', {
      by,
      body: { invoice_id: invoice.id, amount: 1, payment_method: 'cash' },
    })
    const always = ['created_at', 'id', 'status', 'updated_at', 'voided_at']
    const sent = ['amount', 'invoice_id', 'payment_method']
    expect(Object.keys(body.data).sort()).toEqual([...always, ...sent].sort())
  })
})

describe('POST /payments/{id}/void', () => {
  it('makes a payment failed, and the invoice unpaid; a repetition changes nothing', async () => {
    const invoice = await anOpenInvoice()
    const { id } = (await pay(invoice, { amount: 100 })).body.data
    const first = await post('void-payment', { path: { id } })
    expect(first).toMatchObject({
      status: 200,
      body: { data: { status: 'failed', voided_at: expect.any(String) } },
    })
    expect(await stored(invoice.id)).toMatchObject({ paid: 0, status: 'sent' })
    const again = await post('void-payment', { path: { id } })
    expect([again.status, again.body]).toEqual([200, first.body])
  })

  it('shows its reason where one payment is returned, to a credential with finance.read alone', async () => {
    const { headers: by } = await issueCredential(db.table, mine.clinic, ['finance.write'])
    const invoice = await anOpenInvoice()
    const { id } = (await pay(invoice)).body.data
    const body = { reason: 'Entered twice' }
    const voided = await post('void-payment', { path: { id }, body, by })
    expect([voided.status, Object.hasOwn(voided.body.data, 'void_reason')]).toEqual([200, false])
    // A repetition keeps the first reason.
    const again = await post('void-payment', { path: { id }, body: { reason: 'Other' } })
    const read = await request('get-payment', { path: { id }, headers })
    expect([again.body.data.void_reason, read.body]).toEqual(['Entered twice', again.body])
    await patientChanges(db.table).erase(mine.clinic.id, mine.patient.id)
    expect((await request('get-payment', { path: { id }, headers })).body.data.void_reason).toBeNull()
  })

  it('returns 409 for a payment that was refunded, until the refund is voided', async () => {
    const invoice = await anOpenInvoice()
    const paid = (await pay(invoice, { amount: 50 })).body.data.id
    const refunded = (await pay(invoice, { type: 'refund', amount: 20 })).body.data.id
    expect((await post('void-payment', { path: { id: paid } })).body).toEqual({
      error: 'PAYMENT_REFUNDED',
      message: 'errors.developer_api.payment_refunded',
    })
    await post('void-payment', { path: { id: refunded } })
    expect((await post('void-payment', { path: { id: paid } })).status).toBe(200)
  })

  it('keeps a refund without which more would be paid than any amount can be', async () => {
    const most = 999_999_999_999_999
    const refund = { id: newUuid(), type: 'refund' as const, amount: most }
    const invoice = await anOpenInvoice({ total: most }, [{ amount: most }, refund, { amount: most }])
    const { status, body } = await post('void-payment', { path: { id: refund.id } })
    expect([status, body.message, body.details]).toEqual([
      422,
      'errors.developer_api.validation',
      [{ field: 'amount', issue: 'is too large with the other payments of the invoice' }],
    ])
    expect(await stored(invoice.id)).toMatchObject({ paid: most, status: 'paid' })
  })

  it('voids a payment of an erased patient', async () => {
    const invoice = await anOpenInvoice()
    const { id } = (await pay(invoice)).body.data
    await patientChanges(db.table).erase(mine.clinic.id, mine.patient.id)
    expect((await post('void-payment', { path: { id } })).body.data).toMatchObject({
      status: 'failed',
      patient: { full_name: 'Erased Patient' },
    })
  })
})

describe('random histories', () => {
  const SEED = Number(process.env.SEED ?? 20_261_128)

  it('keep the balance, record each payment once, and reject only what the rules reject', async () => {
    for (let seed = SEED; seed < SEED + rounds(2, 200); seed++) await history(seed)
  })

  /** Requests, three at a time, while responses of the table are lost. A request that failed is repeated with its key. */
  async function history(seed: number): Promise<void> {
    const random = seededRandom(seed, 'payments')
    const invoice = await anOpenInvoice()
    const made = new Map<string, { cents: number; type: string; isVoided: boolean }>()
    dynamodb.faults.random({
      seed,
      rates: { 'response-lost': 0.05, 'error-after-commit': 0.05, 'transaction-in-progress': 0.05 },
    })
    const untilKnown = async (id: string, request: Parameters<typeof post>[1]) => {
      for (;;) {
        const response = await post(id, request)
        if (response.status < 500) return response
      }
    }
    const act = async (at: number) => {
      const key = `${seed}-${at}`
      const ids = [...made.keys()]
      if (ids.length > 0 && random() < 0.3) {
        const id = ids[Math.floor(random() * ids.length)] as string
        const { status } = await untilKnown('void-payment', { path: { id }, key })
        expect([200, 409]).toContain(status)
        if (status === 200) (made.get(id) as { isVoided: boolean }).isVoided = true
        return
      }
      const type = random() < 0.3 ? 'refund' : 'payment'
      const cents = 1 + Math.floor(random() * 6_000)
      const body = { invoice_id: invoice.id, amount: cents / 100, payment_method: 'cash', type }
      const first = await untilKnown('create-payment', { body, key })
      expect([201, 422]).toContain(first.status)
      // The key of a rejected request can be used again.
      if (first.status !== 201) return
      made.set(first.body.data.id, { cents, type, isVoided: false })
      const again = await untilKnown('create-payment', { body, key })
      expect([again.status, again.body]).toEqual([201, first.body])
    }
    for (let at = 0; at < 12; at += 3) await Promise.all([act(at), act(at + 1), act(at + 2)])
    dynamodb.faults.clear()

    const payments = await paymentStore(db).allOf(mine.clinic.id, 'invoice', invoice.id)
    const found = payments.map(({ amount, type, status }) => ({
      cents: amount,
      type,
      isVoided: status === 'failed',
    }))
    expect(new Map(payments.map(({ id }, at) => [id, found[at]]))).toEqual(made)
    const after = (await stored(invoice.id)) as Invoice
    const { updatedAt: _, ...shown } = after as Invoice & { updatedAt: string }
    const { paid, status } = applyPayments(shown, payments)
    expect([shown.paid, shown.status]).toEqual([paid, status])
    const sum = (type: string, isVoided: boolean) =>
      [...made.values()].reduce(
        (total, one) => total + (one.type === type && one.isVoided === isVoided ? one.cents : 0),
        0,
      )
    expect(paid).toBe(sum('payment', false) - sum('refund', false))
    expect(paid).toBeGreaterThanOrEqual(0)
    // Only the void of a refund can lead to more than the total.
    expect(paid).toBeLessThanOrEqual(10_000 + sum('refund', true))
  }
})
