import type { ClinicId } from '../../domain/clinic.ts'
import { eraseFields } from '../../domain/field-policy.ts'
import { applyPayments, INVOICE_FIELDS, type Invoice } from '../../domain/money/invoice.ts'
import { MAX_MINOR_UNITS } from '../../domain/money/money.ts'
import { PAYMENT_FIELDS, type Payment, refundable } from '../../domain/money/payment.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import type { Provenance } from '../external-ids/provenance.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore, type StoredPatient } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { Table } from '../table/table.ts'
import type { StoredRecord } from './calendar-entity.ts'
import type { ListPlatform } from './calendar-pages.ts'
import { invoiceStore } from './invoices.ts'
import { paymentStore } from './payments.ts'

/** A payment to be written, built from its invoice, from the stored payment, if there is one, and from the others of the invoice. */
export type PaymentChange = {
  readonly id: string
  readonly build: (invoice: Invoice, before: Payment | null, others: readonly Payment[]) => Payment
  /** The provenance of the payment, if it is imported. */
  readonly provenanceOf?: (after: Payment, before: StoredRecord<Payment> | null) => Provenance
  /** Whether it is also made if the patient of the invoice was erased. Then payment and invoice are written without personal data. */
  readonly isForErasedToo?: boolean
}

/**
 * The most payments that fit into one transaction with their invoice and the check of its patient. A payment takes up to 12
 * items: itself, its event, three rows, the three rows it leaves, its two places in the index of changes and two tallies.
 */
export const MAX_PAYMENTS = 6

/** What is wrong with the amount of a payment, or with voiding a refund, if more would be paid than an amount can be. */
export const TOO_LARGE = 'is too large with the other payments of the invoice'

const IMPOSSIBLE = {
  paid_too_large: `amount ${TOO_LARGE}`,
  refunds_exceed_paid: 'refunds of the invoice, pending ones included, would be more than what was paid',
} as const

/** The payments of an invoice would have an impossible balance. */
export class ImpossibleBalance extends RangeError {
  /** The id of the change that is one too many. */
  readonly payment: string
  readonly reason: keyof typeof IMPOSSIBLE

  constructor(payment: string, reason: ImpossibleBalance['reason']) {
    super(IMPOSSIBLE[reason])
    this.payment = payment
    this.reason = reason
  }
}

/** The patient of the invoice was erased: nothing more is written about a person who is not to be known. */
export class PatientErased extends Error {}

/** The stored facts that changes of payments of one invoice depend on. */
export type BalanceFacts = {
  readonly invoice: StoredRecord<Invoice>
  readonly patient: StoredPatient | null
  /** The payments to be changed, by id. */
  readonly stored: ReadonlyMap<string, StoredRecord<Payment>>
  /** All payments of the invoice. */
  readonly all: readonly Payment[]
}

/** Whether an invoice is as it was created: each payment changes its version. One that a restore has created can have payments already. */
const isNew = ({ version, record }: StoredRecord<Invoice>): boolean =>
  version === 1 && record.paid === 0 && record.status === record.clinicStatus

/** Writes payments together with their effect on the invoice. */
export function invoiceBalance(table: Table) {
  const invoices = invoiceStore({ table })
  const payments = paymentStore({ table })
  const patients = patientStore({ table })

  /** Reads what changes of these payments of an invoice depend on; null for an unknown invoice. */
  async function read(
    clinic: ClinicId,
    invoiceId: string,
    ids: readonly string[],
  ): Promise<BalanceFacts | null> {
    // The invoice comes first: a payment made after this read changes its version, and the commit fails.
    const invoice = await invoices.find(clinic, invoiceId)
    if (!invoice) return null
    const [patient, stored, all] = await Promise.all([
      patients.find(clinic, invoice.record.patient.id),
      payments.findMany(clinic, ids),
      paymentsOf(clinic, invoice),
    ])
    return { invoice, patient, stored, all }
  }

  /** The payments of an invoice that was read before. */
  const paymentsOf = async (clinic: ClinicId, invoice: StoredRecord<Invoice>): Promise<readonly Payment[]> =>
    isNew(invoice) ? [] : payments.allOf(clinic, 'invoice', invoice.record.id)

  /**
   * Adds at most {@link MAX_PAYMENTS} payments and their effect on the invoice, from facts that were read already: the invoice before its
   * payments. Each changes the invoice's version, so two concurrent ones cannot both be counted from the same state.
   * @throws ImpossibleBalance; PatientErased
   */
  function addPayments(
    clinic: ClinicId,
    { invoice, patient, stored, all }: BalanceFacts,
    wanted: readonly PaymentChange[],
  ): { readonly changes: Changeset; readonly payments: readonly WithUpdatedAt<Payment>[] } {
    const changes = new Changeset(table, clinic)
    const changed: WithUpdatedAt<Payment>[] = []
    const isErased = patient !== null && patient.erasedAt !== null
    if (isErased && !wanted.every(({ isForErasedToo }) => isForErasedToo))
      throw new PatientErased('the patient of the invoice was erased')
    if (patient) changes.requireVersion(patientKey(clinic, patient.id), patient.version)
    const byId = new Map<string, Payment>(all.map((payment) => [payment.id, payment]))
    for (const { id, build, provenanceOf } of wanted) {
      const before = stored.get(id) ?? null
      const others = [...byId.values()].filter((payment) => payment.id !== id)
      const built = build(invoice.record, before?.record ?? null, others)
      // The erasure may not have reached the payment yet.
      const after = isErased ? eraseFields(built, PAYMENT_FIELDS) : built
      changed.push(payments.change(changes, before, after, provenanceOf?.(after, before)))
      const left = refundable([...byId.values()])
      byId.set(id, after)
      // Refunds that an earlier release accepted may stay.
      if (refundable([...byId.values()]) < Math.min(0, left))
        throw new ImpossibleBalance(id, 'refunds_exceed_paid')
    }
    const settled = applyPayments(invoice.record, [...byId.values()])
    if (settled.paid > MAX_MINOR_UNITS) throw new ImpossibleBalance(wanted.at(-1)?.id ?? '', 'paid_too_large')
    invoices.change(changes, invoice, isErased ? eraseFields(settled, INVOICE_FIELDS) : settled)
    return { changes, payments: changed }
  }

  return { read, paymentsOf, addPayments }
}

/** The most reads of an invoice whose payments keep changing. */
const MAX_READS = 4

/** Reads an invoice together with its payments. */
export function invoiceReader({ table, onDrift = () => {} }: ListPlatform) {
  const invoices = invoiceStore({ table })
  const payments = paymentStore({ table })

  /** The invoice and its payments, newest first, in a consistent state; null for an unknown invoice. */
  async function findWithPayments(
    clinic: ClinicId,
    id: string,
  ): Promise<{ invoice: WithUpdatedAt<Invoice>; payments: WithUpdatedAt<Payment>[] } | null> {
    for (let attempt = 1; ; attempt++) {
      const [stored, all] = await Promise.all([
        invoices.find(clinic, id),
        payments.allOf(clinic, 'invoice', id),
      ])
      if (!stored) return null
      const invoice = stored.record
      const isConsistent = applyPayments(invoice, all).paid === invoice.paid
      if (isConsistent) return { invoice, payments: all }
      // A payment was written between the two reads.
      onDrift(invoices.entity.entityCode)
      if (attempt === MAX_READS) return { invoice, payments: all }
    }
  }

  return { findWithPayments }
}
