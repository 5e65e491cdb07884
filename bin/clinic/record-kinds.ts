/** The kinds of records that `list`, `show` and `find` read. */
import type { Command } from 'commander'
import { appointments } from './appointment-records.ts'
import { invoices } from './invoice-records.ts'
import { messages } from './message-records.ts'
import { patients } from './patient-records.ts'
import { payments } from './payment-records.ts'
import { addRecordCommands } from './record-commands.ts'
import { addWebhookRecords } from './webhook-records.ts'

/** Adds the commands of all kinds to their groups, which exist already. */
export function addRecordKinds(program: Command): void {
  addRecordCommands(program, patients)
  addRecordCommands(program, appointments)
  addRecordCommands(program, invoices)
  addRecordCommands(program, payments)
  addRecordCommands(program, messages)
  addWebhookRecords(program)
}
