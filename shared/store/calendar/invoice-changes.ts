import type { ClinicId } from '../../domain/clinic.ts'
import type { Invoice } from '../../domain/money/invoice.ts'
import {
  cancelInvoice,
  changeInvoice,
  type InvoiceFacts,
  type InvoiceFields,
  type InvoiceRejection,
  type InvoiceRequest,
  type InvoiceVerdict,
  newInvoice,
  sendInvoice,
} from '../../domain/money/invoice-changes.ts'
import type { Payment } from '../../domain/money/payment.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { treatmentStore } from '../catalogue.ts'
import { doctorStore } from '../doctors.ts'
import { newRecordId } from '../external-ids/new-record-id.ts'
import { takenNumberKey } from '../keys/calendar.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore, type StoredPatient } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { RequestedWrite } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { isSameRecord } from '../table/updated-at-codec.ts'
import { appointmentStore } from './appointments.ts'
import { requirePatient } from './booking.ts'
import type { StoredRecord } from './calendar-entity.ts'
import { invoiceNumbers, takeNumber } from './invoice-numbers.ts'
import { invoiceStore } from './invoices.ts'
import { paymentStore } from './payments.ts'

/** An invoice as it is stored now, with its payments, newest first. */
export type WrittenInvoice = {
  readonly kind: 'done'
  readonly invoice: WithUpdatedAt<Invoice>
  readonly payments: readonly WithUpdatedAt<Payment>[]
}

export type InvoiceOutcome =
  | WrittenInvoice
  | InvoiceRejection
  | { readonly kind: 'invoice_not_found' }
  /** `holder` is the id of the invoice with the number. */
  | { readonly kind: 'invoice_number_taken'; readonly holder: string }

export type InvoiceWrite = RequestedWrite<WrittenInvoice> & {
  /** May throw for an invoice that cannot be stored. */
  readonly check: (invoice: Invoice) => void
}

const ACTIONS = { send: sendInvoice, cancel: cancelInvoice }

/** Creates and changes invoices for requests. */
export function invoiceChangeStore({ table }: { table: Table }) {
  const invoices = invoiceStore({ table })
  const payments = paymentStore({ table })
  const patients = patientStore({ table })
  const appointments = appointmentStore({ table })
  const doctors = doctorStore({ table })
  const treatments = treatmentStore({ table })
  const numbers = invoiceNumbers(table)

  /**
   * Creates an invoice, with the next number of its year if it has none. Of concurrent requests for a number, one gets it.
   * @throws InvalidAmounts; ExternalIdTaken; RequestCompleted; UnavailableError when other writers win every attempt
   */
  function create(clinic: ClinicId, request: InvoiceRequest, write: InvoiceWrite): Promise<InvoiceOutcome> {
    const find = async (id: string) => (await invoices.find(clinic, id))?.record
    const attempt = async (count: number): Promise<InvoiceOutcome> => {
      const [facts] = await Promise.all([
        readFacts(clinic, request, request.patient, request.appointment ?? null),
        write.requireNew(),
      ])
      // An earlier attempt was committed after all, although its response was lost.
      const own = count > 1 && (await find(request.id))
      if (own) return { kind: 'done', invoice: own, payments: [] }
      const id = await newRecordId(table, clinic, 'invoice', request, find)
      const changes = new Changeset(table, clinic)
      const verdict = newInvoice({ ...request, id, number: request.number ?? '' }, facts)
      if (verdict.kind !== 'done') return verdict
      const number =
        request.number ?? (await numbers.next(changes, request.issueDate.slice(0, 4), id, count > 1))
      const invoice = { ...verdict.invoice, number }
      const holder = request.number === undefined ? null : await takeGiven(changes, invoice, count > 1)
      if (holder !== null) return { kind: 'invoice_number_taken', holder }
      return commit(changes, { before: null, invoice, externalId: request.externalId }, facts, write)
    }
    return retryOnConflict(attempt)
  }

  /** Changes fields of an invoice. Otherwise like `create`. */
  const change = (clinic: ClinicId, id: string, fields: InvoiceFields, write: InvoiceWrite) =>
    rewrite(clinic, id, fields, write, (before, facts) => changeInvoice(before, fields, facts))

  /** Sends or cancels an invoice. Otherwise like `create`. */
  const act = (clinic: ClinicId, id: string, action: keyof typeof ACTIONS, write: InvoiceWrite) =>
    rewrite(clinic, id, {}, write, (before, facts) => ACTIONS[action](before, facts.payments))

  const rewrite = (
    clinic: ClinicId,
    id: string,
    fields: InvoiceFields,
    write: InvoiceWrite,
    decide: (before: Invoice, facts: InvoiceFacts) => InvoiceVerdict,
  ): Promise<InvoiceOutcome> =>
    retryOnConflict(async (count) => {
      // The invoice comes first: a payment made after this read changes its version, and the commit fails.
      const [before] = await Promise.all([invoices.find(clinic, id), write.requireNew()])
      if (!before) return { kind: 'invoice_not_found' }
      const { patient, appointmentId } = before.record
      const appointment =
        fields.appointment === undefined ? fields.patient && appointmentId : fields.appointment
      const [facts, owner, paid] = await Promise.all([
        readFacts(clinic, fields, fields.patient ?? patient.id, appointment || null),
        patients.find(clinic, patient.id),
        payments.allOf(clinic, 'invoice', id),
      ])
      const current: WrittenInvoice = { kind: 'done', invoice: before.record, payments: paid }
      write.requireMatch(current)
      if (!owner || owner.erasedAt) return { kind: 'invoice_closed' }
      const verdict = decide(before.record, { ...facts, payments: paid })
      if (verdict.kind !== 'done') return verdict
      const changes = new Changeset(table, clinic)
      const isNumbered = verdict.invoice.number === before.record.number
      const holder = isNumbered ? null : await takeGiven(changes, verdict.invoice, count > 1)
      if (holder !== null) return { kind: 'invoice_number_taken', holder }
      if (fields.patient !== undefined) changes.requireVersion(patientKey(clinic, owner.id), owner.version)
      return commit(changes, { before, invoice: verdict.invoice }, { ...facts, payments: paid }, write)
    })

  /**
   * Adds that an invoice takes the number of a request. Returns the id of another one that has it, or null.
   * @param isAgain whether an earlier attempt failed, such as by an item of the number that was left over
   */
  async function takeGiven(
    changes: Changeset,
    { id, number }: Invoice,
    isAgain: boolean,
  ): Promise<string | null> {
    const leftOver = isAgain ? await table.get(takenNumberKey(changes.clinic, number)) : undefined
    const holder = await numbers.holderOf(changes.clinic, number, id)
    if (holder === null) takeNumber(changes, number, id, leftOver)
    return holder
  }

  /** Reads what the invoice of a request depends on, besides its payments: a new one has none. */
  async function readFacts(
    clinic: ClinicId,
    { doctor, lineItems = [] }: InvoiceFields,
    patient: string,
    appointment: string | null,
  ) {
    const idsOf = (ids: readonly (string | null | undefined)[]) => [
      ...new Set(ids.filter((id) => id != null)),
    ]
    const [owner, booked, knownDoctors, knownTreatments] = await Promise.all([
      patients.find(clinic, patient),
      appointment === null ? null : appointments.find(clinic, appointment),
      doctors.findMany(clinic, idsOf([doctor, ...lineItems.map((item) => item.doctor)])),
      treatments.findMany(clinic, idsOf(lineItems.map((item) => item.treatment))),
    ])
    return {
      patient: owner,
      appointment: booked?.record ?? null,
      doctors: knownDoctors,
      treatments: knownTreatments,
      payments: [] as readonly WithUpdatedAt<Payment>[],
    }
  }

  /** Writes an invoice, unless it stays as it is, with the response and under the condition that the patient is as read. */
  async function commit(
    changes: Changeset,
    written: {
      readonly before: StoredRecord<Invoice> | null
      readonly invoice: Invoice
      readonly externalId?: string | null
    },
    facts: Awaited<ReturnType<typeof readFacts>>,
    write: InvoiceWrite,
  ): Promise<WrittenInvoice> {
    const { before, invoice, externalId } = written
    write.check(invoice)
    const isSame = before !== null && isSameRecord(before.record, invoice)
    const stored = isSame
      ? before.record
      : invoices.change(changes, before, invoice, externalId == null ? undefined : { externalId })
    const outcome: WrittenInvoice = { kind: 'done', invoice: stored, payments: facts.payments }
    write.store(changes, outcome, stored.patient.id)
    requirePatient(changes, facts.patient as StoredPatient)
    await changes.commit()
    return outcome
  }

  return { create, change, act }
}
