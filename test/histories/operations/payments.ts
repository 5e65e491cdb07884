/** Invoices, and their payments, recorded and voided by the operator. */
import { CommandFailure } from '../../../bin/clinic/tool/output.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { NEW_PAYMENT, type Payment, voidPayment } from '../../../shared/domain/money/payment.ts'
import { newUuid } from '../../../shared/domain/uuid.ts'
import { PatientErased } from '../../../shared/store/calendar/invoice-balance.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { commitWithRetry } from '../../../shared/store/table/commit-packed.ts'
import { paymentChanges } from '../../support/payment-changes.ts'
import { type InvoiceModel, identified, isErased, type PaymentModel } from '../model.ts'
import { demand } from '../register.ts'
import { command, pick, type Run, read, submit } from '../run.ts'

/** Creates an invoice with the next number of the clinic. */
export async function createInvoice(run: Run): Promise<void> {
  const { clinic, operation } = run
  const patient = pick(identified(clinic.patients), operation.random[0])
  if (!patient) return
  const token = `i${operation.number}${clinic.suffix}`
  const invoice: InvoiceModel = { token, patient, id: null, existence: 'possible' }
  clinic.invoices.push(invoice)
  const line_items = [{ description: token, quantity: 1, unit_price: 100 }]
  const outcome = await submit(run, 'create-invoice', { body: { patient_id: patient.id, line_items } })
  if (outcome.kind === 'done') Object.assign(invoice, { id: outcome.body.data.id, existence: 'certain' })
  if (outcome.kind !== 'rejected') return
  invoice.existence = 'none'
  demand(isErased(patient), () => `a valid invoice was rejected: ${JSON.stringify(outcome.body)}`)
}

/** As `payment add` does. */
export async function addPayment(run: Run): Promise<void> {
  const { clinic, operation } = run
  const invoice = pick(identified(clinic.invoices), operation.random[0])
  if (!invoice) return
  const token = `y${operation.number}${clinic.suffix}`
  const amount = 1 + Math.floor((operation.random[1] ?? 0) * 20)
  const id = newUuid()
  const payment: PaymentModel = { id, token, invoice, amount, existence: 'possible', voiding: 'none' }
  clinic.payments.push(payment)
  const outcome = await command(run, async (table) => {
    await commitWithRetry(async () => {
      if (await paymentStore({ table }).find(clinic.id as ClinicId, id)) return null
      const changes = paymentChanges(table, clinic.id as ClinicId, invoice.id, [
        {
          id,
          build: ({ currency, number, patient }) => ({
            ...NEW_PAYMENT,
            id,
            amount: amount * 100,
            currency,
            type: 'payment',
            method: 'card',
            status: 'completed',
            invoice: { id: invoice.id, number },
            patient: { id: patient.id, fullName: patient.fullName },
            description: token,
            date: '2026-04-02',
            createdAt: new Date().toISOString(),
          }),
        },
      ])
      return changes.catch((error) => {
        throw error instanceof PatientErased ? new CommandFailure('erased') : error
      })
    })
    if (!(await paymentStore({ table }).find(clinic.id as ClinicId, id)))
      throw new CommandFailure('no invoice')
  })
  demand(
    outcome.kind !== 'rejected' || isErased(invoice.patient),
    () => `a payment of invoice ${invoice.token} was rejected`,
  )
  if (outcome.kind === 'done') payment.existence = 'certain'
}

/** As `payment void` does. */
export async function voidOnePayment(run: Run): Promise<void> {
  const { clinic, operation } = run
  const payment = pick(identified(clinic.payments), operation.random[0])
  if (!payment) return
  const { id, invoice } = payment
  const wasVoided = payment.voiding
  if (wasVoided === 'none') payment.voiding = 'possible'
  const at = new Date().toISOString()
  const outcome = await command(run, (table) =>
    commitWithRetry(() => {
      const build = (_: unknown, before: Payment | null) => {
        // An earlier attempt was committed, and its response was lost.
        if (before?.voidedAt === at) return before
        const voided = before && voidPayment(before, at, payment.token)
        if (!voided) throw new CommandFailure('not to be voided')
        return voided
      }
      const changes = paymentChanges(table, clinic.id as ClinicId, invoice.id ?? '', [{ id, build }])
      return changes.catch((error) => {
        throw error instanceof PatientErased ? new CommandFailure('erased') : error
      })
    }),
  )
  demand(
    outcome.kind !== 'rejected' ||
      wasVoided !== 'none' ||
      payment.voiding === 'certain' ||
      isErased(invoice.patient),
    () => `payment ${payment.token} could not be voided`,
  )
  if (outcome.kind === 'done') payment.voiding = 'certain'
}

/** The amount that an invoice shows as paid is the sum of the payments that it lists. */
export async function readInvoice(run: Run): Promise<void> {
  const invoice = pick(identified(run.clinic.invoices), run.operation.random[0])
  if (!invoice) return
  const response = await read(run, 'get-invoice', { path: { id: invoice.id } })
  if (!response) return
  demand(response.status === 200, () => `GET of an invoice returned ${response.status}`)
  const { paid_amount, payments } = response.body.data
  const sum = payments
    .filter(({ status }: { status: string }) => status === 'completed')
    .reduce((total: number, { amount }: { amount: number }) => total + amount, 0)
  demand(Math.abs(sum - paid_amount) < 0.001, () => `paid ${paid_amount}, but its payments make ${sum}`)
}
