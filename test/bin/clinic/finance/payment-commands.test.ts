/** Payments as the operator records and voids them, and what becomes of their invoice. */
import { beforeEach, describe, expect, it } from 'vitest'
import { invoiceBalance } from '../../../../shared/store/calendar/invoice-balance.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { runVerification } from '../../../shared/maintenance/verify/practice.ts'
import { announcedEvents } from '../../../support/all-items.ts'
import { deployedTable, rejection } from '../../../support/deployed-stack.ts'
import { crashingTable } from '../../../support/intercepted-table.ts'
import { createPopulatedClinic, type PopulatedClinic } from '../../../support/records.ts'
import { tableText } from '../../../support/table-text.ts'

const stack = deployedTable()
const { db } = stack

const REASON = 'Canary reason'

/** One payment of 0.10 EUR, of an invoice of 100.10 EUR. */
let mine: PopulatedClinic

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
  // The payment is recorded with its invoice, as the tool does.
  const { clinic, invoice, payment } = mine
  const change = { id: payment.id, build: () => payment }
  await (await invoiceBalance(db.table).buildChangeset(clinic.id, invoice.id, [change]))?.commit()
})

const run = (...args: string[]) => stack.run('--json', ...args, '--clinic', mine.clinic.id)
const reason = async (command: ReturnType<typeof run>) => JSON.parse(await rejection(command)).error.message
const add = (amount: string, ...more: string[]) =>
  run('payment', 'create', '--invoice', mine.invoice.id, '--amount', amount, '--method', 'card', ...more)
const added = async (amount: string, ...more: string[]): Promise<string> =>
  JSON.parse((await add(amount, ...more)).printed).data.id
const voided = (id: string = mine.payment.id, ...more: string[]) =>
  run('payment', 'void', id, '--reason', REASON, ...more)
const invoice = async () => (await invoiceStore(db).find(mine.clinic.id, mine.invoice.id))?.record
const payments = async () => paymentStore(db).allOf(mine.clinic.id, 'invoice', mine.invoice.id)
const events = (record: string) => announcedEvents(db, record)
const expectVerified = async () => expect((await runVerification(db.table, mine.clinic.id)).found).toEqual([])

describe('payment void', () => {
  it('keeps the payment as failed, settles the invoice again, and announces both', async () => {
    const { code, printed, lines } = await voided()
    expect(code).toBe(0)
    const result = JSON.parse(printed).data
    expect(result).toMatchObject({
      id: mine.payment.id,
      status: 'failed',
      voided_at: expect.stringMatching(/^20\d\d-/),
      void_reason: REASON,
    })
    expect(await invoice()).toMatchObject({ paid: 0, status: 'sent', paidAt: null })
    expect(await events(mine.payment.id)).toEqual([
      ['payment.created', 'completed'],
      ['payment.updated', 'failed'],
    ])
    expect((await events(mine.invoice.id)).at(-1)).toEqual(['invoice.updated', 'sent'])
    expect(lines[1]).toMatchObject({ command: 'payment void', outcome: 'done' })
    expect(lines[1]?.records).toContain(mine.payment.id)
    expect(JSON.stringify(lines)).not.toContain(REASON)
    expect(JSON.parse((await run('payment', 'show', mine.payment.id)).printed).data.void_reason).toBe(REASON)
    await expectVerified()
  })

  it('changes nothing the second time', async () => {
    const { voided_at: since } = JSON.parse((await voided()).printed).data
    const before = await paymentStore(db).find(mine.clinic.id, mine.payment.id)
    const again = await run('payment', 'void', mine.payment.id, '--reason', 'Again')
    expect([again.code, again.printed]).toEqual([0, expect.stringContaining(since)])
    expect(await paymentStore(db).find(mine.clinic.id, mine.payment.id)).toEqual(before)
  })

  it('rejects a payment that failed', async () => {
    const before = await invoice()
    const failed = await added('5', '--status', 'failed')
    expect(await reason(voided(failed))).toBe(
      `Payment ${failed} failed, so it does not count: there is nothing to void.`,
    )
    expect(await invoice()).toMatchObject({ paid: before?.paid, status: before?.status })
  })

  it('fails if it would leave refunds of more than was paid, until they are voided', async () => {
    const refund = await added('0.06', '--type', 'refund')
    expect(await reason(voided())).toBe(
      `The payment cannot be voided: the refunds of invoice ${mine.invoice.id} would be 0.06 EUR more than was paid. Void the refunds first.`,
    )
    expect(await invoice()).toMatchObject({ paid: 4, status: 'partially_paid' })
    expect((await voided(refund)).code).toBe(0)
    expect(await invoice()).toMatchObject({ paid: 10 })
    expect((await voided()).code).toBe(0)
    expect(await invoice()).toMatchObject({ paid: 0, status: 'sent' })
    await expectVerified()
  })

  it.each(['completed', 'pending'])(
    'asks before a voided refund that is %s overpays the invoice',
    async (status) => {
      const refund = await added('0.10', '--type', 'refund', '--status', status)
      await added('100.10')
      expect(await reason(voided(refund))).toBe(
        `Invoice ${mine.invoice.id} would be overpaid: 100.20 EUR of 100.10 EUR.\nNothing was done. Use --yes to do it.`,
      )
      expect((await voided(refund, '--yes')).code).toBe(0)
      expect(await invoice()).toMatchObject({ paid: 10_020, status: 'paid' })
    },
  )

  it('voids a payment of an erased patient, and brings nothing of the person back', async () => {
    const before = (await payments())[0]
    await patientChanges(db.table).erase(mine.clinic.id, mine.patient.id)
    const announced = (await events(mine.payment.id)).length
    const { code, printed } = await run('payment', 'void', mine.payment.id, '--reason', 'Canarella paid cash')
    expect([code, JSON.parse(printed).data]).toMatchObject([0, { status: 'failed', void_reason: null }])
    expect(await payments()).toEqual([
      {
        ...before,
        status: 'failed',
        voidedAt: expect.any(String),
        updatedAt: expect.any(String),
        invoice: { id: mine.invoice.id, number: `ERASED-${mine.invoice.id}` },
        description: null,
        patient: { id: mine.patient.id, fullName: 'Erased Patient' },
      },
    ])
    expect(await invoice()).toMatchObject({
      paid: 0,
      status: 'sent',
      patient: { fullName: 'Erased Patient' },
    })
    expect((await events(mine.payment.id)).slice(announced)).toEqual([['payment.updated', 'failed']])
    expect(await tableText(db)).not.toContain('Canarella')
    await expectVerified()
    expect(
      await rejection(
        stack.run(
          'payment',
          'create',
          ...['--clinic', mine.clinic.id, '--invoice', mine.invoice.id],
          '--amount',
          '1',
          '--method',
          'cash',
        ),
      ),
    ).toBe('The patient of the invoice was erased.\n')
  })

  it('writes a payment without personal data that an interrupted erasure has not reached', async () => {
    // The first transaction marks the patient as erased.
    const erasing = patientChanges(crashingTable(db.table)).erase(mine.clinic.id, mine.patient.id)
    await expect(erasing).rejects.toThrow('crash')
    const named = { fullName: 'Erased Patient' }
    expect((await payments())[0]?.patient).not.toMatchObject(named)
    expect((await voided()).code).toBe(0)
    expect(await payments()).toMatchObject([{ patient: named, description: null, voidReason: null }])
    expect(await invoice()).toMatchObject({ patient: { ...named, email: null } })
  })
})

describe('payment create', () => {
  it.each([
    ['0.11', 'refund', '--amount of the refund is 0.11 EUR, but only 0.10 EUR was paid.'],
    ['-0.05', 'refund', '--amount of a refund is written without a minus sign'],
    ['10000000000000', 'payment', '--amount is too large'],
    ['-0.05', 'payment', '--amount must be a positive number with at most 2 decimals in EUR'],
  ])('rejects %s as a %s', async (amount, type, message) => {
    const command = ['payment', 'create', '--invoice', mine.invoice.id, '--method', 'cash', '--yes']
    expect(await reason(run(...command, `--amount=${amount}`, '--type', type))).toBe(message)
    expect((await payments()).length).toBe(1)
  })

  it('pays the invoice, and adds nothing when repeated with its external id', async () => {
    const pay = async () => JSON.parse((await add('100', '--external-id', 'till-1')).printed).data
    const payment = await pay()
    expect(payment).toMatchObject({
      invoice_id: mine.invoice.id,
      amount: 100,
      status: 'completed',
      type: 'payment',
    })
    expect(await pay()).toEqual(payment)
    expect((await payments()).length).toBe(2)
    expect(await invoice()).toMatchObject({ status: 'paid', paid: 10_010 })
  })

  it('is rejected with an external id that no file can have', async () => {
    expect(await rejection(add('100', '--external-id', 'till\u00a01'))).toContain('--external-id must have')
    expect((await payments()).length).toBe(1)
  })

  it('is rejected with the id of another payment, which files mean by it', async () => {
    for (const id of [mine.payment.id, mine.payment.id.toUpperCase()])
      expect(await reason(add('100', '--external-id', id))).toBe(
        `--external-id is the id of payment ${mine.payment.id}`,
      )
    expect((await payments()).length).toBe(1)
  })

  it('counts pending payments and refunds when an invoice would be overpaid', async () => {
    await added('60', '--status', 'pending')
    await added('0.05', '--type', 'refund', '--status', 'pending')
    expect(await reason(add('40.06', '--status', 'pending'))).toBe(
      `Invoice ${mine.invoice.id} would be overpaid: 100.11 EUR of 100.10 EUR.\nNothing was done. Use --yes to do it.`,
    )
    expect((await add('40.05')).code).toBe(0)
  })

  it('rejects an amount with which more would be paid than any amount can be', async () => {
    await added('0.05', '--type', 'refund')
    const most = '9999999999999.99'
    await added(most, '--yes', '--status', 'pending')
    expect(await reason(add(most, '--yes'))).toBe(
      'amount is too large with the other payments of the invoice',
    )
    expect(await invoice()).toMatchObject({ paid: 5 })
  })

  it('rejects the status refunded, which only imports have', async () => {
    expect(await reason(add('1', '--status', 'refunded'))).toContain(
      'status must be one of pending, completed, failed',
    )
  })

  it('rejects a date ahead of today without --yes, by the clock of the clinic', async () => {
    // Later than today in every time zone.
    const later = new Date(Date.now() + 48 * 3_600_000).toISOString().slice(0, 10)
    expect(await rejection(add('1', '--date', later))).toContain(
      `--date ${later} is ahead of today, which is `,
    )
    expect((await payments()).length).toBe(1)
    expect((await add('1', '--date', later, '--yes')).code).toBe(0)
  })
})
