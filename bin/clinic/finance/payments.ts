import type { Command } from 'commander'
import {
  listPayments,
  paymentFilter,
  renderPayment,
  renderPaymentDetails,
} from '../../../shared/api/payments.ts'
import { newExternalId, oneOf, RecordDate } from '../../../shared/api/schemas.ts'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import { wallClock } from '../../../shared/domain/clock.ts'
import type { Invoice } from '../../../shared/domain/money/invoice.ts'
import {
  NEW_PAYMENT,
  PAYMENT_METHODS,
  PAYMENT_TYPES,
  type Payment,
  voidPayment,
} from '../../../shared/domain/money/payment.ts'
import { financeText } from '../../../shared/domain/patients/text-fields.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { isUuid, newUuid } from '../../../shared/domain/uuid.ts'
import {
  ImpossibleBalance,
  invoiceBalance,
  PatientErased,
  type PaymentChange,
} from '../../../shared/store/calendar/invoice-balance.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { readImportIds } from '../../../shared/store/external-ids/derive.ts'
import type { Changeset } from '../../../shared/store/table/changeset.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { requireRecord, unknownRecord } from '../records/change-record.ts'
import { formatAmount } from '../records/record-text.ts'
import { recordsOfPatients } from '../records/records-of-patients.ts'
import { addResourceCommands, type ResourceCommands } from '../records/resource-commands.ts'
import { addYesOption, commitConfirmed } from '../tool/confirmation.ts'
import { openClinic } from '../tool/connection.ts'
import { parseAmountOption } from '../tool/fields.ts'
import { CommandFailure, changeLine, parseOption, print } from '../tool/output.ts'
import { checkNewPayment, checkVoid } from './payment-balance.ts'

const payments: ResourceCommands<ReturnType<typeof renderPayment>> = {
  ...recordsOfPatients(
    'payment',
    paymentStore,
    { query: listPayments.query, filterOf: paymentFilter },
    renderPayment,
  ),
  show: async ({ table, clinic }, id) => {
    const found = await paymentStore({ table }).find(clinic.id, id)
    return found && renderPaymentDetails(found.record, clinic)
  },
  cells: ({ payment_date, type, status, amount, currency, payment_method, invoice_number, patient }) => [
    payment_date,
    type,
    status,
    `${formatAmount(amount, currency)} ${currency}`,
    payment_method,
    `invoice ${invoice_number}`,
    patient.full_name,
  ],
}

/** Only imports have `refunded`: this tool records refunds. */
const STATUSES = ['pending', 'completed', 'failed'] as const satisfies Payment['status'][]

export function addPaymentCommands(group: Command): void {
  addResourceCommands(group, payments)
  addCreateCommand(group)
  addVoidCommand(group)
}

function addCreateCommand(group: Command): void {
  const create = group
    .command('create')
    .description('record a payment or refund and update its invoice')
    .requiredOption('--invoice <id>')
    .requiredOption('--amount <amount>', "in the invoice's currency, e.g. 120.50")
    .requiredOption('--method <method>', PAYMENT_METHODS.join(', '))
    .option('--type <type>', PAYMENT_TYPES.join(', '), 'payment')
    .option('--status <status>', STATUSES.join(', '), 'completed')
    .option('--date <date>', 'YYYY-MM-DD (default: today)')
    .option('--description <text>')
    .option('--external-id <id>', 'id in your own system; repeating the command with it changes nothing')
    .action(async (given: NewPaymentOptions, command: Command) => {
      const externalId = parseOption('external-id', newExternalId().optional(), given.externalId)
      const { table, clinic } = await openClinic(command)
      const id =
        externalId === undefined ? newUuid() : (await readImportIds(table, clinic.id))('payment', externalId)
      const stored = paymentStore({ table })
      // Files mean that payment by its id.
      const own = externalId?.toLowerCase() ?? ''
      if (isUuid(own) && (await stored.find(clinic.id, own)))
        throw new CommandFailure(`--external-id is the id of payment ${own}`)
      let isNew = false
      await commitConfirmed(command, async (warn) => {
        // A payment with this external id is kept unchanged.
        if (await stored.find(clinic.id, id)) return null
        const build = (invoice: Invoice, _: Payment | null, others: readonly Payment[]): Payment => {
          const payment = paymentOf(given, id, invoice, clinic)
          checkNewPayment(payment, { invoice, others }, wallClock(table.now(), clinic.timezone).date, warn)
          return payment
        }
        const changes = await settle(table, clinic, given.invoice.toLowerCase(), {
          id,
          build,
          ...(externalId !== undefined && { provenanceOf: () => ({ externalId }) }),
        })
        isNew = changes !== null
        return changes
      })
      const payment = (await stored.find(clinic.id, id))?.record
      if (!payment) throw unknownRecord('invoice', given.invoice)
      print(command, renderPayment(payment, clinic), [
        changeLine(isNew, `Recorded payment ${id}`, `payment ${id} exists already`),
      ])
    })
  addYesOption(create)
}

function addVoidCommand(group: Command): void {
  const command = group
    .command('void')
    .description('void a payment or refund that was recorded by mistake, and update its invoice')
    .argument('<payment>', 'payment id')
    .requiredOption('--reason <text>', 'why; the API shows it with the payment')
    .action(async (given: string, options: { reason: string }, command: Command) => {
      const reason = parseOption('reason', financeText(), options.reason)
      const { table, clinic } = await openClinic(command)
      const stored = paymentStore({ table })
      const find = async () =>
        (await requireRecord('payment', given, (known) => stored.find(clinic.id, known))).record
      const { id, invoice } = await find()
      const voidedAt = new Date(table.now()).toISOString()
      await commitConfirmed(command, async (warn) => {
        // Also by an earlier attempt whose response was lost.
        if ((await find()).voidedAt !== null) return null
        const build = (invoice: Invoice, before: Payment | null, others: readonly Payment[]): Payment => {
          if (!before) throw unknownRecord('payment', id)
          checkVoid(before, { invoice, others }, warn)
          const voided = voidPayment(before, voidedAt, reason)
          if (voided) return voided
          throw new CommandFailure(`Payment ${id} failed, so it does not count: there is nothing to void.`)
        }
        return settle(table, clinic, invoice.id, { id, build, isForErasedToo: true })
      })
      const after = await find()
      print(command, renderPaymentDetails(after, clinic), [
        changeLine(
          after.voidedAt === voidedAt,
          `Voided payment ${id}`,
          `payment ${id} is voided already, since ${clinicTimestamp(after.voidedAt ?? '', clinic.timezone)}`,
        ),
        ...(after.voidReason === null ? ['The reason is not kept: the patient was erased.'] : []),
      ])
    })
  addYesOption(command)
}

/** The changes of a payment and its invoice. Null for an unknown invoice. */
const settle = (
  table: Table,
  { id }: ClinicInfo,
  invoice: string,
  change: PaymentChange,
): Promise<Changeset | null> =>
  invoiceBalance(table)
    .buildChangeset(id, invoice, [change])
    .catch((error) => {
      if (error instanceof ImpossibleBalance) throw new CommandFailure(error.message)
      throw error instanceof PatientErased
        ? new CommandFailure('The patient of the invoice was erased.')
        : error
    })

type NewPaymentOptions = {
  invoice: string
  amount: string
  method: string
  type: string
  status: string
  date?: string
  description?: string
  externalId?: string
}

/** The payment that the options describe. @throws CommandFailure */
function paymentOf(given: NewPaymentOptions, id: string, invoice: Invoice, clinic: ClinicInfo): Payment {
  const amount = amountOf(given, invoice.currency)
  const createdAt = new Date().toISOString()
  return {
    ...NEW_PAYMENT,
    id,
    amount,
    currency: invoice.currency,
    invoice: { id: invoice.id, number: invoice.number },
    patient: { id: invoice.patient.id, fullName: invoice.patient.fullName },
    type: parseOption('type', oneOf(PAYMENT_TYPES), given.type),
    method: parseOption('method', oneOf(PAYMENT_METHODS), given.method),
    status: parseOption('status', oneOf(STATUSES), given.status),
    description:
      given.description === undefined ? null : parseOption('description', financeText(), given.description),
    date:
      given.date === undefined
        ? clinicTimestamp(createdAt, clinic.timezone).slice(0, 10)
        : parseOption('date', RecordDate, given.date),
    createdAt,
  }
}

/** `--amount` in minor units of a currency. @throws CommandFailure unless it is positive */
function amountOf(given: { readonly amount: string; readonly type: string }, currency: string): number {
  if (given.type === 'refund' && /^-\d/.test(given.amount))
    throw new CommandFailure('--amount of a refund is written without a minus sign')
  return parseAmountOption('amount', given.amount, currency, true)
}
