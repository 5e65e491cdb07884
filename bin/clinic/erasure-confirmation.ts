import type { Command } from 'commander'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { fullName, type Patient } from '../../shared/domain/patient.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../shared/store/calendar/payments.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { confirmByTyping } from './confirmation.ts'
import { formatTable } from './output.ts'

/** What is typed to erase a patient. */
export const PATIENT_NAME = "the patient's full name"

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
