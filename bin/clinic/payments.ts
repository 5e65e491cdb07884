import type { Command } from 'commander'
import { renderPayment } from '../../shared/api/payments.ts'
import { oneOf, RecordDate } from '../../shared/api/schemas.ts'
import type { ClinicInfo } from '../../shared/domain/clinic.ts'
import { currencyDecimals } from '../../shared/domain/currencies.ts'
import type { Invoice } from '../../shared/domain/invoice.ts'
import { isTooLarge, parseDecimal } from '../../shared/domain/money.ts'
import {
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment,
} from '../../shared/domain/payment.ts'
import { singleLineText } from '../../shared/domain/text-fields.ts'
import { clinicTimestamp } from '../../shared/domain/timestamp.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import { PatientErased, settlement } from '../../shared/store/calendar/settlement.ts'
import { readImportIds } from '../../shared/store/import-ids.ts'
import { commitWithRetry } from '../../shared/store/table/commit-packed.ts'
import { connect, requireClinic } from './connection.ts'
import { CommandFailure, parseOption, print } from './output.ts'

type AddPaymentOptions = {
  clinic: string
  invoice: string
  amount: string
  method: string
  type: string
  status: string
  date?: string
  description?: string
  externalId?: string
}

export function addPaymentCommands(program: Command): void {
  const group = program.command('payment').description("record a clinic's payments")

  group
    .command('add')
    .description('record a payment or refund and update its invoice')
    .requiredOption('--clinic <id>')
    .requiredOption('--invoice <id>')
    .requiredOption('--amount <amount>', "in the invoice's currency, e.g. 120.50")
    .requiredOption('--method <method>', PAYMENT_METHODS.join(', '))
    .option('--type <type>', PAYMENT_TYPES.join(', '), 'payment')
    .option('--status <status>', PAYMENT_STATUSES.join(', '), 'completed')
    .option('--date <date>', 'YYYY-MM-DD (default: today)')
    .option('--description <text>')
    .option('--external-id <id>', 'id in your own system; repeating the command with it changes nothing')
    .action(async (given: AddPaymentOptions, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, given.clinic)
      const { externalId } = given
      const id =
        externalId === undefined ? newUuid() : (await readImportIds(table, clinic.id))('payment', externalId)
      const make = (invoice: Invoice): Payment => paymentOf(given, id, invoice, clinic)
      const payments = paymentStore({ table })
      const invoice = given.invoice.toLowerCase()
      let isNew = false
      await commitWithRetry(async () => {
        // A payment with this external id is kept unchanged.
        if (await payments.find(clinic.id, id)) return null
        const changes = await settlement(table)
          .buildChangeset(clinic.id, invoice, [
            { id, build: make, originOf: () => ({ ...(externalId !== undefined && { externalId }) }) },
          ])
          .catch(failForErasedPatient)
        isNew = changes !== null
        return changes
      })
      const payment = (await payments.find(clinic.id, id))?.record
      if (!payment) throw new CommandFailure(`The clinic has no invoice ${given.invoice}.`)
      print(command, renderPayment(payment, clinic), [
        isNew ? `Recorded payment ${id}` : `Payment ${id} already exists`,
      ])
    })
}

function failForErasedPatient(error: unknown): never {
  throw error instanceof PatientErased ? new CommandFailure('The patient of the invoice was erased.') : error
}

function paymentOf(given: AddPaymentOptions, id: string, invoice: Invoice, clinic: ClinicInfo): Payment {
  const decimals = currencyDecimals(invoice.currency)
  const amount = parseDecimal(given.amount, decimals)
  if (amount === null && isTooLarge(given.amount, decimals)) throw new CommandFailure('--amount is too large')
  if (amount === null || amount <= 0) {
    throw new CommandFailure(
      `--amount must be a positive number with at most ${decimals} decimals in ${invoice.currency}`,
    )
  }
  const createdAt = new Date().toISOString()
  return {
    id,
    amount,
    currency: invoice.currency,
    invoice: { id: invoice.id, number: invoice.number },
    patient: { id: invoice.patient.id, fullName: invoice.patient.fullName },
    type: parseOption('type', oneOf(PAYMENT_TYPES), given.type),
    method: parseOption('method', oneOf(PAYMENT_METHODS), given.method),
    status: parseOption('status', oneOf(PAYMENT_STATUSES), given.status),
    description:
      given.description === undefined
        ? null
        : parseOption('description', singleLineText(500), given.description),
    date:
      given.date === undefined
        ? clinicTimestamp(createdAt, clinic.timezone).slice(0, 10)
        : parseOption('date', RecordDate, given.date),
    createdAt,
  }
}
