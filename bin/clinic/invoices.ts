import type { Command } from 'commander'
import { renderInvoice } from '../../shared/api/invoices.ts'
import { oneOf } from '../../shared/api/schemas.ts'
import { applyPayments } from '../../shared/domain/invoice.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import { connect, requireClinic } from './connection.ts'
import { CommandFailure, parseOption, print } from './output.ts'
import { changeRecord } from './record.ts'

/** Statuses that the clinic sets. The others are computed from payments. */
const SETTABLE_STATUSES = ['draft', 'pending', 'sent', 'overdue', 'cancelled'] as const

export function addInvoiceCommands(program: Command): void {
  const group = program.command('invoice').description("change a clinic's invoices")

  group
    .command('set-status')
    .description('set the status; paid, partially_paid and refunded are computed from payments')
    .argument('<invoice>', 'invoice id')
    .argument('<status>', SETTABLE_STATUSES.join(', '))
    .requiredOption('--clinic <id>')
    .action(
      async (id: string, wanted: string, { clinic: clinicId }: { clinic: string }, command: Command) => {
        const setStatus = parseOption('status', oneOf(SETTABLE_STATUSES), wanted)
        const table = await connect(command)
        const clinic = await requireClinic(table, clinicId)
        const invoice = await changeRecord(table, invoiceStore({ table }), clinic.id, id, async (before) => {
          const payments = await paymentStore({ table }).allOf(clinic.id, 'invoice', before.id)
          return applyPayments({ ...before, clinicStatus: setStatus }, payments)
        })
        if (!invoice) throw new CommandFailure(`The clinic has no invoice ${id}.`)
        const explanation = invoice.status === setStatus ? '' : ', computed from its payments'
        print(command, renderInvoice(invoice, clinic), [`Invoice ${id} is ${invoice.status}${explanation}`])
      },
    )
}
