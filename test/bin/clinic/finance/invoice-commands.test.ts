/** Invoices as the operator corrects them, with their payments. */
import { beforeEach, describe, expect, it } from 'vitest'
import { type Payment, voidPayment } from '../../../../shared/domain/money/payment.ts'
import { fullName, type Patient } from '../../../../shared/domain/patients/patient.ts'
import { newUuid } from '../../../../shared/domain/uuid.ts'
import { MAX_PAYMENTS, type PaymentChange } from '../../../../shared/store/calendar/invoice-balance.ts'
import { invoiceCorrection } from '../../../../shared/store/calendar/invoice-correction.ts'
import { invoiceStore } from '../../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../../shared/store/calendar/payments.ts'
import { patientChanges } from '../../../../shared/store/copies/patient-changes.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { commitWithRetry } from '../../../../shared/store/table/commit-packed.ts'
import { runVerification } from '../../../shared/maintenance/verify/practice.ts'
import { announcedEvents } from '../../../support/all-items.ts'
import { deployedTable, rejection } from '../../../support/deployed-stack.ts'
import { crashingTable } from '../../../support/intercepted-table.ts'
import { paymentChanges } from '../../../support/payment-changes.ts'
import { createPopulatedClinic, createRecord, type PopulatedClinic } from '../../../support/records.ts'
import { aPatient } from '../../../support/table.ts'

const stack = deployedTable()
const { db } = stack
let mine: PopulatedClinic
/** Another patient of the same clinic. */
let other: Patient

beforeEach(async () => {
  mine = await createPopulatedClinic(db.table)
  other = aPatient({ firstName: 'Bo', lastName: 'Lind' })
  await patientWriter(db).createMany(mine.clinic.id, [other])
})

const run = (...args: string[]) => stack.run('--json', ...args, '--clinic', mine.clinic.id)
const reason = async (command: ReturnType<typeof run>) => JSON.parse(await rejection(command)).error.message
const correct = (...args: string[]) => run('invoice', 'correct', mine.invoice.id, ...args)
const invoice = async () => (await invoiceStore(db).find(mine.clinic.id, mine.invoice.id))?.record
const paymentsOf = (kind: 'invoice' | 'patient', id: string) =>
  paymentStore(db).allOf(mine.clinic.id, kind, id)
const erase = (id: string) => patientChanges(db.table).erase(mine.clinic.id, id)
/** Moves the invoice to the other patient, and stops after the first payments. */
async function interruptedCorrection() {
  const wanted = { patient: other.id, number: '2026-7' }
  const { correct } = invoiceCorrection(crashingTable(db.table))
  await expect(correct(mine.clinic.id, mine.invoice.id, wanted)).rejects.toThrow('crash')
}
const events = async (record: string) => (await announcedEvents(db, record)).map(([name]) => name)
/** Adds payments of 0.01 each, as an import does. */
async function pay(count: number, { id: invoice, number } = mine.invoice) {
  const ids = Array.from({ length: count }, () => newUuid())
  for (const id of ids)
    await changePayment(invoice, id, () => ({
      ...mine.payment,
      id,
      amount: 1,
      invoice: { id: invoice, number },
    }))
  return ids
}
const changePayment = (invoice: string, id: string, build: PaymentChange['build']) =>
  commitWithRetry(() => paymentChanges(db.table, mine.clinic.id, invoice, [{ id, build }]))
const voided: PaymentChange['build'] = (_, payment) =>
  voidPayment(payment as Payment, new Date().toISOString(), null) as Payment
const expectVerified = async () => expect((await runVerification(db.table, mine.clinic.id)).found).toEqual([])

describe('invoice correct --status', () => {
  it('rejects a status that payments overrule, and changes nothing', async () => {
    const before = await invoice()
    expect(await reason(run('invoice', 'correct', mine.invoice.id, '--status', 'overdue'))).toBe(
      `Invoice ${mine.invoice.id} stays partially_paid: once an invoice has payments, they determine its status. Nothing was changed. "payment void" takes back a payment.`,
    )
    expect(await invoice()).toEqual(before)
    await changePayment(mine.invoice.id, mine.payment.id, voided)
    expect((await run('invoice', 'correct', mine.invoice.id, '--status', 'overdue')).code).toBe(0)
    expect(await invoice()).toMatchObject({ status: 'overdue' })
    expect(await reason(run('invoice', 'correct', mine.invoice.id, '--status', 'refunded'))).toContain(
      'status must be one of draft, pending, sent, overdue, cancelled, paid',
    )
    expect(await reason(run('invoice', 'correct', mine.invoice.id, '--status', 'paid'))).toBe(
      '--status: only an invoice whose total is 0 can be marked as paid. Record a payment with "payment create".',
    )
    expect(await invoice()).toMatchObject({ status: 'overdue' })
  })

  it('marks an invoice of nothing as paid, also after a payment was voided', async () => {
    const free = { ...mine.invoice, id: newUuid(), number: 'R/0', subtotal: 0, tax: 0, discount: 0, total: 0 }
    await createRecord(db.table, mine.clinic, invoiceStore(db), { ...free, lineItems: [] })
    const set = async (status: string) =>
      JSON.parse((await run('invoice', 'correct', free.id, '--status', status, '--yes')).printed).data
    const paid = await set('paid')
    expect(paid).toMatchObject({ status: 'paid', balance_due: 0, paid_at: expect.stringMatching(/^20/) })
    expect((await announcedEvents(db, free.id)).at(-1)).toEqual(['invoice.paid', 'paid'])
    expect(await set('paid')).toEqual(paid)
    expect(await set('sent')).toMatchObject({ status: 'sent', paid_at: null })
    const [id = ''] = await pay(1, free)
    await changePayment(free.id, id, voided)
    expect(await set('paid')).toMatchObject({ status: 'paid' })
    await expectVerified()
  })

  it.each(['cancelled', 'draft'])(
    'asks before %s of a paid invoice, and undoes it: payments determine the status again',
    async (status) => {
      await pay(1)
      const update = (wanted: string) => ['invoice', 'correct', mine.invoice.id, '--status', wanted]
      expect(await reason(run(...update(status)))).toContain(`is partially_paid, and becomes ${status}.`)
      const set = async (wanted: string) => {
        const { code, printed } = await run(...update(wanted), '--yes')
        return [code, JSON.parse(printed).data.status]
      }
      expect(await set(status)).toEqual([0, status])
      expect(await set('sent')).toEqual([0, 'partially_paid'])
      expect(await invoice()).toMatchObject({ clinicStatus: 'sent', status: 'partially_paid' })
      await expectVerified()
    },
  )
})

describe('invoice correct of the number or the patient', () => {
  it('changes the number on the invoice and its payments, without an event of the payments', async () => {
    const { code, printed } = await correct('--number', '2026-7')
    expect([code, JSON.parse(printed).data.invoice_number]).toEqual([0, '2026-7'])
    expect(await invoice()).toMatchObject({ number: '2026-7', patient: { id: mine.patient.id }, paid: 10 })
    const [payment] = await paymentsOf('invoice', mine.invoice.id)
    expect(payment?.invoice).toEqual({ id: mine.invoice.id, number: '2026-7' })
    expect(await events(mine.invoice.id)).toEqual(['invoice.created', 'invoice.updated'])
    expect(await events(mine.payment.id)).toEqual(['payment.created'])
    await expectVerified()
  })

  it('moves the invoice and its payments to the lists of another patient', async () => {
    const { code, lines } = await correct('--patient', other.id.toUpperCase())
    expect(code).toBe(0)
    const named = { id: other.id, fullName: fullName(other) }
    expect(await invoice()).toMatchObject({ patient: { ...named, email: other.emailAddress }, paid: 10 })
    expect(await paymentsOf('patient', mine.patient.id)).toEqual([])
    expect(await paymentsOf('patient', other.id)).toMatchObject([{ id: mine.payment.id, patient: named }])
    expect(await invoiceStore(db).allOf(mine.clinic.id, 'patient', mine.patient.id)).toEqual([])
    expect(await invoiceStore(db).allOf(mine.clinic.id, 'patient', other.id)).toMatchObject([
      { id: mine.invoice.id, number: mine.invoice.number },
    ])
    expect((await events(mine.invoice.id)).at(-1)).toBe('invoice.updated')
    expect((await events(mine.payment.id)).at(-1)).toBe('payment.updated')
    expect(lines[1]?.records).toEqual(expect.arrayContaining([mine.invoice.id, mine.patient.id, other.id]))
    await expectVerified()
  })

  it('changes nothing when the invoice is right already', async () => {
    const before = await invoice()
    expect((await correct('--number', mine.invoice.number, '--patient', mine.patient.id)).code).toBe(0)
    expect(await invoice()).toEqual(before)
  })

  it('asks before another invoice has the number too, and names it', async () => {
    const second = { ...mine.invoice, id: newUuid(), number: 'R/2' }
    await createRecord(db.table, mine.clinic, invoiceStore(db), second)
    expect(await reason(correct('--number', 'R/2'))).toBe(
      `Invoice ${second.id} has this number already. Then the number no longer tells them apart.\nNothing was done. Use --yes to do it.`,
    )
    expect(await invoice()).toMatchObject({ number: mine.invoice.number })
    expect((await correct('--number', 'R/2', '--yes')).code).toBe(0)
    expect(await invoice()).toMatchObject({ number: 'R/2' })
    // It has the number already.
    expect((await correct('--number', 'R/2', '--patient', other.id)).code).toBe(0)
  })

  it('rejects a wrong id and an erased patient, and writes nothing', async () => {
    const before = await invoice()
    const foreign = await createPopulatedClinic(db.table)
    const none = (kind: string, id: string) => `The clinic has no ${kind} ${id}. Find it with "${kind} list".`
    const cases = [
      [['--patient', foreign.patient.id], none('patient', foreign.patient.id)],
      [['--patient', 'p1'], none('patient', 'with this id')],
      [['--number', ''], expect.stringContaining('--number ')],
      [[], 'Nothing to change: specify --status, --number or --patient.'],
    ] as const
    for (const [args, message] of cases) expect(await reason(correct(...args))).toEqual(message)
    await erase(other.id)
    expect(await reason(correct('--patient', other.id))).toBe(`--patient: patient ${other.id} was erased.`)
    expect(await invoice()).toEqual(before)
    await erase(mine.patient.id)
    expect(await reason(correct('--number', '2026-7'))).toBe(
      'The patient of the invoice was erased, so it cannot be corrected.',
    )
  })

  it('moves more payments than fit into a transaction, and is completed when it is repeated', async () => {
    await pay(2 * MAX_PAYMENTS)
    await interruptedCorrection()
    expect((await paymentsOf('patient', other.id)).length).toBe(MAX_PAYMENTS)
    expect(await invoice()).toMatchObject({ number: mine.invoice.number, patient: { id: mine.patient.id } })
    expect((await correct('--patient', other.id, '--number', '2026-7')).code).toBe(0)
    expect((await paymentsOf('patient', other.id)).length).toBe(2 * MAX_PAYMENTS + 1)
    expect(await paymentsOf('patient', mine.patient.id)).toEqual([])
    expect(await invoice()).toMatchObject({ number: '2026-7', patient: { id: other.id }, paid: 22 })
    await expectVerified()
  })

  it('leaves nothing of the patient of the invoice who is erased after an interruption', async () => {
    await pay(MAX_PAYMENTS)
    await interruptedCorrection()
    await erase(mine.patient.id)
    expect(await paymentsOf('patient', other.id)).toEqual([])
    const payments = await paymentsOf('invoice', mine.invoice.id)
    expect(payments).toHaveLength(MAX_PAYMENTS + 1)
    const erased = await invoice()
    for (const payment of payments)
      expect(payment).toMatchObject({
        invoice: { number: erased?.number },
        patient: { id: mine.patient.id, fullName: erased?.patient.fullName },
        description: null,
      })
    await expectVerified()
  })

  it('returns the payments when the other patient is erased after an interruption', async () => {
    await pay(2 * MAX_PAYMENTS)
    await interruptedCorrection()
    await erase(other.id)
    expect((await paymentsOf('patient', other.id)).length).toBe(MAX_PAYMENTS)
    const repeated = () => reason(correct('--patient', other.id, '--number', '2026-7'))
    expect(await repeated()).toBe(
      `--patient: patient ${other.id} was erased. The payments that an interrupted correction had moved are the invoice's again.`,
    )
    expect(await paymentsOf('patient', other.id)).toEqual([])
    const payments = await paymentsOf('invoice', mine.invoice.id)
    expect(payments).toHaveLength(2 * MAX_PAYMENTS + 1)
    for (const payment of payments)
      expect(payment).toMatchObject({
        invoice: { number: mine.invoice.number },
        patient: { id: mine.patient.id, fullName: fullName(mine.patient) },
      })
    expect(await invoice()).toMatchObject({ number: mine.invoice.number, paid: 22 })
    await expectVerified()
    expect(await repeated()).toBe(`--patient: patient ${other.id} was erased.`)
  })

  it('takes along payments that are recorded at the same time', async () => {
    const [{ code }] = await Promise.all([correct('--patient', other.id), pay(3)])
    expect(code).toBe(0)
    expect((await paymentsOf('patient', other.id)).length).toBe(4)
    expect(await paymentsOf('patient', mine.patient.id)).toEqual([])
    expect(await invoice()).toMatchObject({ paid: 13, patient: { id: other.id } })
    await expectVerified()
  })
})
