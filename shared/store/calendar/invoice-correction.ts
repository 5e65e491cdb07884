import type { ClinicId } from '../../domain/clinic.ts'
import type { Invoice } from '../../domain/money/invoice.ts'
import type { Payment } from '../../domain/money/payment.ts'
import { fullName } from '../../domain/patients/patient.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { isSameRecord } from '../table/updated-at-codec.ts'
import { MAX_PAYMENTS } from './invoice-balance.ts'
import { invoiceStore } from './invoices.ts'
import { paymentStore } from './payments.ts'

/** The corrected fields of an invoice. Undefined fields do not change. */
export type InvoiceCorrection = {
  readonly number?: string | undefined
  /** The id of the patient who should have had the invoice. */
  readonly patient?: string | undefined
}

export type CorrectionOutcome =
  | {
      readonly kind: 'corrected' | 'unchanged'
      readonly invoice: WithUpdatedAt<Invoice>
      /** The patient who had the invoice. */
      readonly previousPatient: string
    }
  | { readonly kind: 'not_found' | 'erased' | 'patient_not_found' }
  /** `returnedPayments`: an interrupted correction had moved payments to the patient, who was erased since. */
  | { readonly kind: 'patient_erased'; readonly returnedPayments: boolean }

/** Corrects the number and the patient of an invoice and of its payments, which copy both. */
export function invoiceCorrection(table: Table) {
  const invoices = invoiceStore({ table })
  const payments = paymentStore({ table })
  const patients = patientStore({ table })

  /**
   * One transaction, unless the invoice has more payments than fit: then payments come first and the invoice last, and an
   * interrupted correction is completed by repeating it; if the patient who should have the invoice was erased since, its
   * payments are moved back to the patient of the invoice.
   * @throws UnavailableError when other writers win every attempt
   */
  async function correct(
    clinic: ClinicId,
    id: string,
    correction: InvoiceCorrection,
  ): Promise<CorrectionOutcome> {
    const outcome = await takeSteps(clinic, id, correction)
    if (outcome.kind !== 'patient_erased') return outcome
    const { kind } = await takeSteps(clinic, id, {})
    return { kind: 'patient_erased', returnedPayments: kind === 'corrected' }
  }

  async function takeSteps(
    clinic: ClinicId,
    id: string,
    correction: InvoiceCorrection,
  ): Promise<CorrectionOutcome> {
    let isChanged = false
    for (;;) {
      const { outcome, isComplete } = await retryOnConflict(() => step(clinic, id, correction))
      isChanged ||= outcome.kind === 'corrected'
      if (isComplete) return isChanged && 'invoice' in outcome ? { ...outcome, kind: 'corrected' } : outcome
    }
  }

  /** Corrects as many payments as fit into a transaction; and if none are left, the invoice. */
  async function step(
    clinic: ClinicId,
    id: string,
    { number, patient }: InvoiceCorrection,
  ): Promise<{ readonly outcome: CorrectionOutcome; readonly isComplete: boolean }> {
    const ends = (outcome: CorrectionOutcome) => ({ outcome, isComplete: true })
    // The invoice comes first: a payment made after this read changes its version, and the commit fails.
    const invoice = await invoices.find(clinic, id)
    if (!invoice) return ends({ kind: 'not_found' })
    const before = invoice.record
    const targetId = patient ?? before.patient.id
    const found = await patients.findMany(clinic, [...new Set([before.patient.id, targetId])])
    const owner = found.get(before.patient.id)
    const target = found.get(targetId)
    if (!owner || owner.erasedAt) return ends({ kind: 'erased' })
    if (!target) return ends({ kind: 'patient_not_found' })
    if (target.erasedAt) return ends({ kind: 'patient_erased', returnedPayments: false })
    const named = { id: target.id, fullName: fullName(target) }
    const after: Invoice = {
      ...before,
      number: number ?? before.number,
      patient: { ...named, email: target.emailAddress },
    }
    const reference = { id, number: after.number }
    const isRight = (payment: Payment) =>
      payment.invoice.number === after.number && payment.patient.id === target.id
    const wrong = (await payments.allOf(clinic, 'invoice', id)).filter((payment) => !isRight(payment))
    if (wrong.length === 0 && isSameRecord(before, after))
      return ends({ kind: 'unchanged', invoice: before, previousPatient: owner.id })

    const changes = new Changeset(table, clinic)
    const batch = wrong.slice(0, MAX_PAYMENTS).map((payment) => payment.id)
    for (const stored of (await payments.findMany(clinic, batch)).values())
      payments.change(changes, stored, { ...stored.record, invoice: reference, patient: named })
    const isComplete = batch.length === wrong.length
    // The invoice is written by each step, so that its version excludes other writers of its payments.
    const written = invoices.change(changes, invoice, isComplete ? after : before)
    for (const { id: one, version } of new Set([owner, target]))
      changes.requireVersion(patientKey(clinic, one), version)
    await changes.commit()
    return { outcome: { kind: 'corrected', invoice: written, previousPatient: owner.id }, isComplete }
  }

  return { correct }
}
