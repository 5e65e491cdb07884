import type { Command } from 'commander'
import { renderPayment } from '../../../shared/api/payments.ts'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import { wallClock } from '../../../shared/domain/clock.ts'
import type { Invoice } from '../../../shared/domain/money/invoice.ts'
import {
  PAYMENT_METHODS,
  PAYMENT_STATUSES,
  PAYMENT_TYPES,
  type Payment,
  voidPayment,
} from '../../../shared/domain/money/payment.ts'
import { singleLineText } from '../../../shared/domain/patients/text-fields.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { isUuid, newUuid } from '../../../shared/domain/uuid.ts'
import {
  invoiceBalance,
  PatientErased,
  type PaymentChange,
} from '../../../shared/store/calendar/invoice-balance.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { readImportIds } from '../../../shared/store/external-ids/derive.ts'
import type { Changeset } from '../../../shared/store/table/changeset.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { unknownRecord } from '../records/change-record.ts'
import { addResourceCommands } from '../records/resource-group.ts'
import { addYesOption, commitConfirmed } from '../tool/confirmation.ts'
import { openClinic } from '../tool/connection.ts'
import { CommandFailure, parseOption, print } from '../tool/output.ts'
import { type NewPaymentOptions, paymentOf } from './new-payment.ts'
import { checkNewPayment, checkVoid } from './payment-balance.ts'
import { paymentJson, payments } from './payment-records.ts'

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
    .option('--status <status>', PAYMENT_STATUSES.join(', '), 'completed')
    .option('--date <date>', 'YYYY-MM-DD (default: today)')
    .option('--description <text>')
    .option('--external-id <id>', 'id in your own system; repeating the command with it changes nothing')
    .action(async (given: NewPaymentOptions, command: Command) => {
      const { table, clinic } = await openClinic(command)
      const { externalId } = given
      const id =
        externalId === undefined ? newUuid() : (await readImportIds(table, clinic.id))('payment', externalId)
      const stored = paymentStore({ table })
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
      if (!payment) throw unknownRecord('invoice', 'invoice', given.invoice)
      print(command, renderPayment(payment, clinic), [
        isNew ? `Recorded payment ${id}` : `Nothing changed: payment ${id} exists already`,
      ])
    })
  addYesOption(create)
}

function addVoidCommand(group: Command): void {
  const command = group
    .command('void')
    .description(
      'let a payment or refund that was recorded by mistake no longer count, and update its invoice',
    )
    .argument('<payment>', 'payment id')
    .requiredOption('--reason <text>', 'why, for the operator alone')
    .action(async (given: string, options: { reason: string }, command: Command) => {
      const reason = parseOption('reason', singleLineText(500), options.reason)
      const { table, clinic } = await openClinic(command)
      const stored = paymentStore({ table })
      const find = async () => {
        const found = isUuid(given) ? await stored.find(clinic.id, given.toLowerCase()) : null
        if (!found) throw unknownRecord('payment', 'payment', given)
        return found.record
      }
      const { id, invoice } = await find()
      const voidedAt = new Date(table.now()).toISOString()
      await commitConfirmed(command, async (warn) => {
        // Also by an earlier attempt whose response was lost.
        if ((await find()).voidedAt !== null) return null
        const build = (invoice: Invoice, before: Payment | null, others: readonly Payment[]): Payment => {
          if (!before) throw unknownRecord('payment', 'payment', id)
          checkVoid(before, { invoice, others }, warn)
          const voided = voidPayment(before, voidedAt, reason)
          if (voided) return voided
          throw new CommandFailure(`Payment ${id} failed, so it does not count: there is nothing to void.`)
        }
        return settle(table, clinic, invoice.id, { id, build, isForErasedToo: true })
      })
      const after = await find()
      print(command, paymentJson(after, clinic), [
        after.voidedAt === voidedAt
          ? `Voided payment ${id}`
          : `Nothing changed: payment ${id} is voided already, since ${clinicTimestamp(after.voidedAt ?? '', clinic.timezone)}`,
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
  invoiceBalance(table).buildChangeset(id, invoice, [change]).catch(failForErasedPatient)

function failForErasedPatient(error: unknown): never {
  throw error instanceof PatientErased ? new CommandFailure('The patient of the invoice was erased.') : error
}
