import type { Command } from 'commander'
import { renderInvoice } from '../../../shared/api/invoices.ts'
import { oneOf } from '../../../shared/api/schemas.ts'
import { applyPayments } from '../../../shared/domain/money/invoice.ts'
import { invoiceNumber } from '../../../shared/domain/patients/text-fields.ts'
import { isUuid } from '../../../shared/domain/uuid.ts'
import { invoiceCorrection } from '../../../shared/store/calendar/invoice-correction.ts'
import { invoiceNumbers } from '../../../shared/store/calendar/invoice-numbers.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { Changeset } from '../../../shared/store/table/changeset.ts'
import { retryOnConflict } from '../../../shared/store/table/retries.ts'
import { addToTrail } from '../tool/command-trail.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { requireRecord, unknownRecord } from '../tool/known-record.ts'
import { CommandFailure, changeLine, parseOption, print } from '../tool/output.ts'

/** Statuses that the clinic sets, `paid` only if there is nothing to pay. The others are computed from payments. */
const SETTABLE_STATUSES = ['draft', 'pending', 'sent', 'overdue', 'cancelled', 'paid'] as const

/** Statuses of invoices that were paid, at least in part. */
const PAID: readonly string[] = ['paid', 'partially_paid']

type Options = { status?: string; number?: string; patient?: string }

export function addInvoiceCommands(group: Command): void {
  const correction = group
    .command('correct')
    .description(
      'correct what the API changes in drafts only: the number or the patient, on the payments too, or the status',
    )
    .argument('<invoice>', 'invoice id')
    .option(
      '--status <status>',
      `${SETTABLE_STATUSES.join(', ')} (of a total of 0); payments determine the others, and paid`,
    )
    .option('--number <text>', 'the number that it should have')
    .option('--patient <id>', 'the patient who should have it')
    .action((id: string, { status, number, patient }: Options, command: Command) => {
      const isCorrection = number !== undefined || patient !== undefined
      if (status === undefined && !isCorrection)
        throw new CommandFailure('Nothing to change: specify --status, --number or --patient.')
      if (status !== undefined && isCorrection)
        throw new CommandFailure('Use --status in a command of its own, without --number and --patient.')
      return status === undefined ? correct(id, { number, patient }, command) : setStatus(id, status, command)
    })
  addYesOption(correction)
}

async function setStatus(id: string, wanted: string, command: Command): Promise<void> {
  const status = parseOption('status', oneOf(SETTABLE_STATUSES), wanted)
  const { table, clinic } = await openClinic(command)
  const invoices = invoiceStore({ table })
  const agreed = new Set<string>()
  const { invoice, isChanged } = await retryOnConflict(async () => {
    const stored = await requireRecord('invoice', id, (known) => invoices.find(clinic.id, known))
    const before = stored.record
    if (status === 'paid' && before.total > 0)
      throw new CommandFailure(
        '--status: only an invoice whose total is 0 can be marked as paid. Record a payment with "payment create".',
      )
    const payments = await paymentStore({ table }).allOf(clinic.id, 'invoice', before.id)
    const isPaidNow = status === 'paid' && before.status !== 'paid'
    const clinicPaidAt = isPaidNow ? new Date(table.now()).toISOString() : before.clinicPaidAt
    const after = applyPayments({ ...before, clinicStatus: status, clinicPaidAt }, payments)
    // A draft or cancelled invoice gets the status that its payments determine.
    if (after.status !== status && after.status === before.status)
      throw new CommandFailure(
        `Invoice ${id} stays ${before.status}: once an invoice has payments, they determine its status. Nothing was changed. "payment void" takes back a payment.`,
      )
    if (after.clinicStatus === before.clinicStatus) return { invoice: before, isChanged: false }
    const loss = `Invoice ${id} is ${before.status}, and becomes ${after.status}. Its payments stay recorded.`
    if (PAID.includes(before.status) && !PAID.includes(after.status) && !agreed.has(loss)) {
      await confirm(command, [loss])
      agreed.add(loss)
    }
    const changes = new Changeset(table, clinic.id)
    const invoice = invoices.change(changes, stored, after)
    await changes.commit()
    return { invoice, isChanged: true }
  })
  const state = `${id} is ${invoice.status}`
  print(command, renderInvoice(invoice, clinic), [
    changeLine(isChanged, `Invoice ${state}`, `invoice ${state} already`),
  ])
}

const RETURNED_PAYMENTS = " The payments that an interrupted correction had moved are the invoice's again."

async function correct(id: string, given: Omit<Options, 'status'>, command: Command): Promise<void> {
  const number = given.number === undefined ? undefined : parseOption('number', invoiceNumber(), given.number)
  const patient = given.patient?.toLowerCase()
  const { table, clinic } = await openClinic(command)
  if (!isUuid(id)) throw unknownRecord('invoice', id)
  if (patient !== undefined && !isUuid(patient)) throw unknownRecord('patient', patient)
  const invoice = id.toLowerCase()
  if (number !== undefined) await confirmNumber({ table, clinic }, invoice, number, command)
  const outcome = await invoiceCorrection(table).correct(clinic.id, invoice, { number, patient })
  switch (outcome.kind) {
    case 'not_found':
      throw unknownRecord('invoice', id)
    case 'erased':
      throw new CommandFailure('The patient of the invoice was erased, so it cannot be corrected.')
    case 'patient_not_found':
      throw unknownRecord('patient', given.patient ?? '')
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
  { table, clinic }: ClinicContext,
  id: string,
  number: string,
  command: Command,
): Promise<void> {
  const stored = await invoiceStore({ table }).find(clinic.id, id)
  if (!stored || stored.record.number === number) return
  const holder = await invoiceNumbers(table).holderOf(clinic.id, number, id)
  if (holder !== null)
    await confirm(command, [
      `Invoice ${holder} has this number already. Then the number no longer tells them apart.`,
    ])
}
