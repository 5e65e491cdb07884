import type { Command } from 'commander'
import {
  invoiceFilter,
  listInvoices,
  renderInvoice,
  renderInvoiceDetails,
} from '../../../shared/api/invoices.ts'
import { oneOf } from '../../../shared/api/schemas.ts'
import { applyPayments, type Invoice } from '../../../shared/domain/money/invoice.ts'
import { invoiceNumber } from '../../../shared/domain/patients/text-fields.ts'
import { isUuid } from '../../../shared/domain/uuid.ts'
import type { WithUpdatedAt } from '../../../shared/domain/with-updated-at.ts'
import { invoiceReader } from '../../../shared/store/calendar/invoice-balance.ts'
import { invoiceCorrection } from '../../../shared/store/calendar/invoice-correction.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { changeRecord, eachRecord, unknownRecord } from '../records/change-record.ts'
import { formatAmount } from '../records/record-text.ts'
import { recordsOfPatients } from '../records/records-of-patients.ts'
import { addResourceCommands, type ResourceCommands } from '../records/resource-commands.ts'
import { addToTrail } from '../tool/command-trail.ts'
import { addYesOption, commitConfirmed, confirm, type Warn } from '../tool/confirmation.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { CommandFailure, changeLine, idOrNone, parseOption, print } from '../tool/output.ts'

const reading = recordsOfPatients(
  'invoice',
  invoiceStore,
  { query: listInvoices.query, filterOf: invoiceFilter },
  renderInvoice,
)

const invoices: ResourceCommands<ReturnType<typeof renderInvoice>> = {
  ...reading,
  show: async ({ table, clinic }, id) => {
    const found = await invoiceReader({ table }).findWithPayments(clinic.id, id)
    return found && renderInvoiceDetails(found.invoice, found.payments, clinic)
  },
  searched: `the number, or ${reading.searched}`,
  find: async (context, text) => {
    const numbered = await invoicesWithNumber(context, text.trim())
    if (numbered.length === 0) return reading.find(context, text)
    return { data: numbered.map((invoice) => renderInvoice(invoice, context.clinic)) }
  },
  cells: ({ invoice_number, issue_date, status, total_amount, balance_due, currency, patient }) => [
    invoice_number,
    issue_date,
    status,
    `${formatAmount(total_amount, currency)} ${currency}`,
    `due ${formatAmount(balance_due, currency)}`,
    patient.full_name,
  ],
}

/** The invoices with exactly this number. */
async function invoicesWithNumber({ table, clinic }: ClinicContext, number: string) {
  const found: WithUpdatedAt<Invoice>[] = []
  for await (const invoice of eachRecord(invoiceStore({ table }), clinic.id, { number })) found.push(invoice)
  return found
}

/** Statuses that the clinic sets, `paid` only if there is nothing to pay. The others are computed from payments. */
const SETTABLE_STATUSES = ['draft', 'pending', 'sent', 'overdue', 'cancelled', 'paid'] as const

/** Statuses of invoices that were paid, at least in part. */
const PAID: readonly string[] = ['paid', 'partially_paid']

type UpdateOptions = {
  status?: string
  number?: string
  patient?: string
  appointment?: string
  doctor?: string
}

export function addInvoiceCommands(group: Command): void {
  addResourceCommands(group, invoices)
  const update = group
    .command('update')
    .description(
      'set the status, or correct the number or the patient, on the payments too, or the appointment or the doctor',
    )
    .argument('<invoice>', 'invoice id')
    .option(
      '--status <status>',
      `${SETTABLE_STATUSES.join(', ')} (of a total of 0); payments determine the others, and paid`,
    )
    .option('--number <text>', 'the number that it should have')
    .option('--patient <id>', 'the patient who should have it')
    .option('--appointment <id>', 'the appointment that it bills; "" for none')
    .option('--doctor <id>', 'its doctor, also of its line items without one of their own; "" for none')
    .action((id: string, given: UpdateOptions, command: Command) => {
      const { status, number, patient, appointment, doctor } = given
      const isCorrection = [number, patient, appointment, doctor].some((value) => value !== undefined)
      if (status === undefined && !isCorrection)
        throw new CommandFailure(
          'Nothing to change: specify --status, --number, --patient, --appointment or --doctor.',
        )
      if (status !== undefined && isCorrection)
        throw new CommandFailure('Use --status in a command of its own, without corrections.')
      return status === undefined ? correct(id, given, command) : setStatus(id, status, command)
    })
  addYesOption(update)
}

async function setStatus(id: string, wanted: string, command: Command): Promise<void> {
  const status = parseOption('status', oneOf(SETTABLE_STATUSES), wanted)
  const { table, clinic } = await openClinic(command)
  let isChanged = false
  const update = async (before: Invoice, _: unknown, warn: Warn) => {
    if (status === 'paid' && before.total > 0)
      throw new CommandFailure(
        '--status: only an invoice whose total is 0 can be marked as paid. Record a payment with "payment create".',
      )
    const payments = await paymentStore({ table }).allOf(clinic.id, 'invoice', before.id)
    const clinicPaidAt =
      status === 'paid' && before.status !== 'paid'
        ? new Date(table.now()).toISOString()
        : before.clinicPaidAt
    const after = applyPayments({ ...before, clinicStatus: status, clinicPaidAt }, payments)
    // A draft or cancelled invoice gets the status that its payments determine.
    isChanged = after.clinicStatus !== before.clinicStatus
    if (isChanged && PAID.includes(before.status) && !PAID.includes(after.status))
      warn(`Invoice ${id} is ${before.status}, and becomes ${after.status}. Its payments stay recorded.`)
    if (after.status === status || after.status !== before.status) return after
    throw new CommandFailure(
      `Invoice ${id} stays ${before.status}: once an invoice has payments, they determine its status. Nothing was changed. "payment void" takes back a payment.`,
    )
  }
  const invoice = await changeRecord(table, invoiceStore({ table }), clinic.id, id, update, (build) =>
    commitConfirmed(command, build),
  )
  if (!invoice) throw unknownRecord('invoice', id)
  const state = `${id} is ${invoice.status}`
  print(command, renderInvoice(invoice, clinic), [
    changeLine(isChanged, `Invoice ${state}`, `invoice ${state} already`),
  ])
}

const RETURNED_PAYMENTS = " The payments that an interrupted correction had moved are the invoice's again."

async function correct(id: string, given: UpdateOptions, command: Command): Promise<void> {
  const number = given.number === undefined ? undefined : parseOption('number', invoiceNumber(), given.number)
  const { table, clinic } = await openClinic(command)
  const patient = given.patient?.toLowerCase()
  if (number !== undefined && isUuid(id))
    await confirmNumber({ table, clinic }, id.toLowerCase(), number, command)
  const appointment = given.appointment === undefined ? undefined : idOrNone(given.appointment)
  const doctor = given.doctor === undefined ? undefined : idOrNone(given.doctor)
  for (const [kind, value] of Object.entries({ appointment, doctor }))
    if (value && !isUuid(value)) throw unknownRecord(kind, value)
  const isPossible = isUuid(id) && (patient === undefined || isUuid(patient))
  const outcome = isPossible
    ? await invoiceCorrection(table).correct(clinic.id, id.toLowerCase(), {
        number,
        patient,
        appointment,
        doctor,
      })
    : { kind: isUuid(id) ? ('patient_not_found' as const) : ('not_found' as const) }
  switch (outcome.kind) {
    case 'not_found':
      throw unknownRecord('invoice', id)
    case 'erased':
      throw new CommandFailure('The patient of the invoice was erased, so it cannot be corrected.')
    case 'patient_not_found':
      throw unknownRecord('patient', given.patient ?? '')
    case 'appointment_not_found':
      throw unknownRecord('appointment', given.appointment ?? '')
    case 'appointment_of_another':
      throw new CommandFailure('--appointment is an appointment of another patient.')
    case 'doctor_not_found':
      throw unknownRecord('doctor', given.doctor ?? '')
    case 'patient_erased':
      throw new CommandFailure(
        `--patient: patient ${given.patient} was erased.${outcome.returnedPayments ? RETURNED_PAYMENTS : ''}`,
      )
  }
  addToTrail(command, [{ patient_id: outcome.previousPatient }])
  print(command, renderInvoice(outcome.invoice, clinic), [
    changeLine(outcome.kind === 'corrected', `Corrected invoice ${id}`, `invoice ${id} is so already`),
  ])
}

/** Asks before two invoices have one number. @throws CommandFailure unless that is confirmed */
async function confirmNumber(
  context: ClinicContext,
  id: string,
  number: string,
  command: Command,
): Promise<void> {
  const stored = await invoiceStore(context).find(context.clinic.id, id)
  if (!stored || stored.record.number === number) return
  const others = await invoicesWithNumber(context, number)
  if (others.length === 0) return
  await confirm(command, [
    `Another invoice has this number already: ${others.map((other) => other.id).join(', ')}. Then the number no longer tells them apart.`,
  ])
}
