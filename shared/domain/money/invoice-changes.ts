/** Creating, changing, sending and cancelling invoices by requests. */
import type { Appointment, PersonReference } from '../booking/appointment.ts'
import { fullName, type Patient } from '../patients/patient.ts'
import { lineItemId } from '../uuid.ts'
import { applyPayments, type Invoice, withDoctor } from './invoice.ts'
import { type GivenLine, invoiceAmounts } from './invoice-amounts.ts'
import type { Payment } from './payment.ts'

type RequestedLine = Omit<GivenLine, 'doctor' | 'treatment'> & {
  readonly doctor: string | null
  readonly treatment: string | null
}

/** What a request sets of an invoice, records by their ids. Undefined fields do not change. */
export type InvoiceFields = {
  readonly patient?: string | undefined
  readonly number?: string | undefined
  readonly issueDate?: string | undefined
  readonly dueDate?: string | null | undefined
  readonly appointment?: string | null | undefined
  readonly doctor?: string | null | undefined
  readonly status?: 'draft' | 'sent' | undefined
  readonly lineItems?: readonly RequestedLine[] | undefined
}

/** A request for an invoice, the same at every attempt to create it. */
export type InvoiceRequest = InvoiceFields & {
  readonly id: string
  readonly patient: string
  readonly issueDate: string
  readonly currency: string
  readonly externalId: string | null
  /** ISO 8601 instant in UTC. */
  readonly createdAt: string
}

type Named = ReadonlyMap<string, { readonly name: string }>
type Doctors = ReadonlyMap<string, { readonly fullName: string }>

/** The stored facts that an invoice depends on. */
export type InvoiceFacts = {
  /** The patient that the invoice has afterwards. */
  readonly patient: Patient | null
  /** The appointment that it has afterwards, if that or its patient changes. */
  readonly appointment: Pick<Appointment, 'patient'> | null
  readonly doctors: Doctors
  readonly treatments: Named
  readonly payments: readonly Payment[]
}

/** The names are those of a request's fields. */
export type InvoiceRejection =
  | {
      readonly kind:
        | 'patient_not_found'
        | 'appointment_not_found'
        | 'appointment_of_another_patient'
        | 'invoice_closed'
        | 'invoice_has_payments'
    }
  | {
      readonly kind: 'doctor_not_found' | 'treatment_not_found' | 'invoice_not_draft'
      readonly fields: readonly string[]
    }

export type InvoiceVerdict = { readonly kind: 'done'; readonly invoice: Invoice } | InvoiceRejection

/** The fields that a request can change in a draft only. */
const DRAFT_FIELDS = {
  patient: 'patient_id',
  number: 'invoice_number',
  issueDate: 'issue_date',
  status: 'status',
  lineItems: 'line_items',
} as const satisfies { readonly [Name in keyof InvoiceFields]?: string }

const isGiven = (fields: InvoiceFields, name: keyof InvoiceFields) => fields[name] !== undefined

/** The new invoice of a request; {@link InvalidAmounts} are thrown. */
export const newInvoice = (request: InvoiceRequest & { number: string }, facts: InvoiceFacts) =>
  withFields(
    {
      id: request.id,
      number: request.number,
      clinicStatus: 'draft',
      status: 'draft',
      issueDate: request.issueDate,
      dueDate: null,
      paidAt: null,
      clinicPaidAt: null,
      currency: request.currency,
      subtotal: 0,
      tax: 0,
      discount: 0,
      total: 0,
      paid: 0,
      patient: { id: request.patient, fullName: '', email: null },
      appointmentId: null,
      doctor: null,
      lineItems: [],
      createdAt: request.createdAt,
    },
    request,
    facts,
  )

/** An invoice with what a request changes; {@link InvalidAmounts} are thrown. An erased patient's is closed. */
export function changeInvoice(before: Invoice, fields: InvoiceFields, facts: InvoiceFacts): InvoiceVerdict {
  const ofDrafts = Object.entries(DRAFT_FIELDS).filter(([name]) =>
    isGiven(fields, name as keyof InvoiceFields),
  )
  if (before.clinicStatus !== 'draft' && ofDrafts.length > 0)
    return { kind: 'invoice_not_draft', fields: ofDrafts.map(([, field]) => field) }
  // Payments have copies of both.
  const isCopyChanged = isGiven(fields, 'patient') || isGiven(fields, 'number')
  if (isCopyChanged && facts.payments.length > 0) return { kind: 'invoice_has_payments' }
  return withFields(before, fields, facts)
}

function withFields(before: Invoice, fields: InvoiceFields, facts: InvoiceFacts): InvoiceVerdict {
  const { patient, appointment, doctors, treatments } = facts
  const { doctor, lineItems } = fields
  if (!patient || patient.erasedAt) return { kind: 'patient_not_found' }
  const appointmentId = fields.appointment === undefined ? before.appointmentId : fields.appointment
  const dependsOnPatient = isGiven(fields, 'appointment') || isGiven(fields, 'patient')
  if (appointmentId !== null && dependsOnPatient) {
    if (!appointment) return { kind: 'appointment_not_found' }
    if (appointment.patient.id !== patient.id) return { kind: 'appointment_of_another_patient' }
  }
  const unknown = (of: 'doctor' | 'treatment', known: ReadonlyMap<string, unknown>) => [
    ...(of === 'doctor' && doctor && !known.has(doctor) ? ['doctor_id'] : []),
    ...(lineItems ?? []).flatMap((item, at) => {
      const id = item[of]
      return id === null || known.has(id) ? [] : [`line_items.${at}.${of}_id`]
    }),
  ]
  const [doctorFields, treatmentFields] = [unknown('doctor', doctors), unknown('treatment', treatments)]
  if (doctorFields.length > 0) return { kind: 'doctor_not_found', fields: doctorFields }
  if (treatmentFields.length > 0) return { kind: 'treatment_not_found', fields: treatmentFields }
  const person = (id: string | null): PersonReference | null =>
    id === null ? null : { id, fullName: doctors.get(id)?.fullName ?? '' }
  const named = lineItems?.map((item) => ({
    ...item,
    doctor: person(item.doctor),
    treatment:
      item.treatment === null
        ? null
        : { id: item.treatment, name: treatments.get(item.treatment)?.name ?? '' },
  }))
  const amounts = named && invoiceAmounts({ lineItems: named }, before.currency, null)
  const changed: Invoice = {
    ...before,
    ...(amounts && {
      ...amounts,
      lineItems: amounts.lineItems.map((item, at) => ({ id: lineItemId(before.id, at), ...item })),
    }),
    ...(isGiven(fields, 'patient') && {
      patient: { id: patient.id, fullName: fullName(patient), email: patient.emailAddress },
    }),
    number: fields.number ?? before.number,
    issueDate: fields.issueDate ?? before.issueDate,
    dueDate: fields.dueDate === undefined ? before.dueDate : fields.dueDate,
    clinicStatus: fields.status ?? before.clinicStatus,
    appointmentId,
  }
  const isDoctorGiven = doctor !== undefined || lineItems !== undefined
  const doctorAfter = doctor === undefined ? before.doctor : person(doctor)
  const invoice = isDoctorGiven ? withDoctor(changed, doctorAfter) : changed
  return { kind: 'done', invoice: applyPayments(invoice, facts.payments) }
}

/** An invoice once it is sent. One that was sent before stays as it is. */
export function sendInvoice(before: Invoice, payments: readonly Payment[]): InvoiceVerdict {
  if (before.clinicStatus === 'cancelled') return { kind: 'invoice_closed' }
  const isUnsent = before.clinicStatus === 'draft' || before.clinicStatus === 'pending'
  if (!isUnsent) return { kind: 'done', invoice: before }
  return { kind: 'done', invoice: applyPayments({ ...before, clinicStatus: 'sent' }, payments) }
}

/** An invoice once it is cancelled. What was paid must be refunded before. */
export function cancelInvoice(before: Invoice, payments: readonly Payment[]): InvoiceVerdict {
  if (before.clinicStatus === 'cancelled') return { kind: 'done', invoice: before }
  if (before.paid !== 0) return { kind: 'invoice_has_payments' }
  return { kind: 'done', invoice: applyPayments({ ...before, clinicStatus: 'cancelled' }, payments) }
}
