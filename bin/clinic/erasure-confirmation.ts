/** What an erasure concerns, for the operator to confirm. */
import type { Command } from 'commander'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { fullName, type Patient } from '../../shared/domain/patient.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import type { Erasure } from '../../shared/store/copies/erasure-ledger.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { confirmByTyping } from './confirmation.ts'
import { formatTable } from './output.ts'

/** What is typed to erase a patient, and to erase many. */
export const PATIENT_NAME = "the patient's full name"
export const PATIENT_COUNT = 'the number of patients that are listed for the clinic'

/** Asks for the patient's name. @throws CommandFailure without it */
export async function confirmErasure(
  command: Command,
  table: Table,
  clinic: Clinic,
  patient: Patient,
  upcoming: number,
): Promise<void> {
  const lists = [appointmentStore, invoiceStore, paymentStore, messageStore].map((open) => open({ table }))
  const counts = await Promise.all(
    lists.map(async (list) => (await list.allOf(clinic.id, 'patient', patient.id)).length),
  )
  const [appointments, invoices, payments, messages] = counts.map(String)
  const rows = [
    ['name', fullName(patient)],
    ['date of birth', patient.dateOfBirth ?? '-'],
    ['appointments', `${appointments}, of which ${upcoming} ahead: they are cancelled`],
    ['invoices', invoices],
    ['payments', payments],
    ['messages', messages],
  ]
  await confirmByTyping(command, {
    what: PATIENT_NAME,
    text: fullName(patient),
    consequences: [
      'This patient is erased permanently:',
      ...formatTable(rows.map(([name = '', value = '']) => [`  ${name}`, value])),
    ],
  })
}

/** Asks for the number of patients that a replay has listed. @throws CommandFailure without it */
export async function confirmReplay(
  command: Command,
  listed: readonly Erasure[],
  pending: readonly Erasure[],
): Promise<void> {
  if (pending.length === 0) return
  const count = patientsOf(listed)
  await confirmByTyping(command, {
    what: PATIENT_COUNT,
    text: String(count),
    consequences: [
      `${count} patients are listed; ${patientsOf(pending)} of them are erased permanently, and their upcoming visits cancelled.`,
    ],
  })
}

const patientsOf = (erasures: readonly Erasure[]): number =>
  new Set(erasures.map(({ patient }) => patient)).size
