import type { ClinicId } from '../../domain/clinic.ts'
import { eraseFields } from '../../domain/field-policy.ts'
import { PAYMENT_FIELDS, type Payment } from '../../domain/money/payment.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { patientStore } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import { WriteConflict } from '../table/errors.ts'
import type { RequestedWrite } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { requirePatient } from './booking.ts'
import { invoiceBalance, type PaymentChange } from './invoice-balance.ts'
import { paymentStore } from './payments.ts'

type Write = RequestedWrite<WithUpdatedAt<Payment>>

/** Records and voids payments for requests, together with their effect on the invoice. */
export function paymentChangeStore({ table }: { table: Table }) {
  const balance = invoiceBalance(table)
  const stored = paymentStore({ table })
  const patients = patientStore({ table })

  /** Adds a payment to an invoice; null for an unknown invoice. @throws what `build` throws; PatientErased; RequestCompleted */
  const record = (
    clinic: ClinicId,
    invoice: string,
    id: string,
    build: PaymentChange['build'],
    write: Write,
  ): Promise<WithUpdatedAt<Payment> | null> =>
    retryOnConflict(async () => {
      const [facts] = await Promise.all([balance.read(clinic, invoice, [id]), write.requireNew()])
      if (!facts) return null
      // An earlier attempt was committed after all, although its response was lost.
      const own = facts.stored.get(id)
      return own ? own.record : commit(clinic, facts, { id, build }, write)
    })

  /**
   * Voids a payment, also of an erased patient; null for an unknown one. One that has failed stays as it is.
   * @throws what `voided` throws; RequestCompleted
   */
  const voidOne = (
    clinic: ClinicId,
    id: string,
    voided: (before: Payment, others: readonly Payment[]) => Payment | null,
    write: Write,
  ): Promise<WithUpdatedAt<Payment> | null> =>
    retryOnConflict(async () => {
      const [before] = await Promise.all([stored.find(clinic, id), write.requireNew()])
      if (!before) return null
      if (before.record.status === 'failed') return keep(clinic, before.record, write)
      const facts = await balance.read(clinic, before.record.invoice.id, [id])
      const build: PaymentChange['build'] = (_, current, others) => {
        const after = current && voided(current, others)
        if (!after) throw new WriteConflict()
        return after
      }
      return facts && commit(clinic, facts, { id, build, isForErasedToo: true }, write)
    })

  async function commit(
    clinic: ClinicId,
    facts: Parameters<typeof balance.addPayments>[1],
    change: PaymentChange,
    write: Write,
  ): Promise<WithUpdatedAt<Payment>> {
    const { changes, payments } = balance.addPayments(clinic, facts, [change])
    const [payment] = payments as [WithUpdatedAt<Payment>]
    write.store(changes, payment, payment.patient.id)
    await changes.commit()
    return payment
  }

  async function keep(
    clinic: ClinicId,
    payment: WithUpdatedAt<Payment>,
    write: Write,
  ): Promise<WithUpdatedAt<Payment>> {
    const changes = new Changeset(table, clinic)
    const patient = await patients.find(clinic, payment.patient.id)
    // The erasure may not have reached the payment when it was read.
    const kept = patient?.erasedAt
      ? { ...payment, ...eraseFields<Payment>(payment, PAYMENT_FIELDS) }
      : payment
    write.store(changes, kept, payment.patient.id)
    if (patient) requirePatient(changes, patient)
    await changes.commit()
    return kept
  }

  return { record, void: voidOne }
}
