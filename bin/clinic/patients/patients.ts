import type { Command } from 'commander'
import { renderPatientDetails } from '../../../shared/api/patients.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { fullName, type Patient } from '../../../shared/domain/patients/patient.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { upcomingAppointments } from '../../../shared/store/copies/cancel-appointments.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { addLinkCommands } from '../external-ids/record-links.ts'
import { operatorOf } from '../tool/command-trail.ts'
import { addConfirmOptions, confirmByTyping } from '../tool/confirmation.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { requireRecord, unknownRecord } from '../tool/known-record.ts'
import { counted, formatTable, print } from '../tool/output.ts'
import { addPatientExportCommand } from './patient-export.ts'

export function addPatientCommands(group: Command): void {
  addPatientExportCommand(group)
  addLinkCommands(group, 'patient')

  const erase = group
    .command('erase')
    .description(
      'anonymize a patient permanently and cancel upcoming appointments; past appointments, amounts and totals stay',
    )
    .argument('<patient>', 'patient id')
    .action(async (id: string, _: object, command: Command) => {
      const { table, clinic } = await openClinic(command)
      const before = await requirePatient({ table, clinic }, id)
      const upcoming = (await upcomingAppointments(table, clinic.id, before.id)).length
      // An interrupted erasure is completed without asking: the name is gone.
      if (!before.erasedAt) await confirmErasure(command, table, clinic, before, upcoming)
      const patient = await patientChanges(table).erase(clinic.id, before.id, {
        operator: operatorOf(command),
      })
      if (!patient) throw unknownRecord('patient', id)
      print(
        command,
        { ...renderPatientDetails(patient, { clinic, scopes: SCOPES }), cancelled_appointments: upcoming },
        [
          `Erased patient ${id}`,
          ...(upcoming > 0 ? [`Cancelled ${counted(upcoming, 'upcoming appointment')}`] : []),
        ],
      )
    })
  addConfirmOptions(erase, PATIENT_NAME)
}

const requirePatient = ({ table, clinic }: ClinicContext, id: string) =>
  requireRecord('patient', id, (known) => patientStore({ table }).find(clinic.id, known))

/** The text that the operator types to erase a patient. */
const PATIENT_NAME = "the patient's full name"

/** Asks for the patient's name. @throws CommandFailure without it */
async function confirmErasure(
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
