import type { Command } from 'commander'
import { renderPatientDetails } from '../../../shared/api/patients.ts'
import { CalendarDate, oneOf } from '../../../shared/api/schemas.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { fullName, GENDERS, type Patient } from '../../../shared/domain/patients/patient.ts'
import {
  emailAddress,
  multiLineText,
  nationalId,
  personName,
  phoneNumber,
} from '../../../shared/domain/patients/text-fields.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import { isUuid } from '../../../shared/domain/uuid.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { upcomingAppointments } from '../../../shared/store/copies/cancel-appointments.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { comingAppointments, describeAppointments } from '../appointments/appointments-outside-hours.ts'
import { unknownRecord } from '../records/change-record.ts'
import { addLinkCommands } from '../records/record-links.ts'
import { addResourceCommands } from '../records/resource-group.ts'
import { operatorOf } from '../tool/command-trail.ts'
import { addConfirmOptions, confirmByTyping, readValue } from '../tool/confirmation.ts'
import { openClinic } from '../tool/connection.ts'
import { CommandFailure, counted, formatTable, parseOption, print } from '../tool/output.ts'
import { addPatientExportCommand } from './patient-export.ts'
import { patients } from './patient-records.ts'

type Fields = {
  firstName?: string
  lastName?: string
  gender?: string
  dateOfBirth?: string
  phone?: string
  email?: string
  nationalId?: string
  notes?: string
  active?: boolean
}

export function addPatientCommands(group: Command): void {
  addResourceCommands(group, patients)

  group
    .command('update')
    .description(
      'change fields of a patient; a new name is copied to every record that shows it. "" clears a field',
    )
    .argument('<patient>', 'patient id')
    .option('--first-name <name>')
    .option('--last-name <name>')
    .option('--gender <gender>', GENDERS.join(', '))
    .option('--date-of-birth <date>', 'YYYY-MM-DD')
    .option('--phone <number>', 'in international format, e.g. +905321234567')
    .option('--email <address>')
    .option('--national-id <id>', '- reads it from a prompt or from standard input')
    .option('--notes <text>')
    .option('--active', 'appointments and messages are possible')
    .option('--no-active', 'they are not; lists the appointments that are still scheduled')
    .action(async (id: string, fields: Fields, command: Command) => {
      const context = await openClinic(command)
      const { table, clinic } = context
      const typed = await readValue(command, fields.nationalId ?? '', 'the national id')
      const changes = changesOf(fields.nationalId === undefined ? fields : { ...fields, nationalId: typed })
      if (Object.keys(changes).length === 0)
        throw new CommandFailure('Nothing to change: specify at least one option.')
      const before = isUuid(id) ? await patientStore({ table }).find(clinic.id, id.toLowerCase()) : null
      const patient = before && (await patientChanges(table).update(clinic.id, before.id, changes))
      if (!patient)
        throw new CommandFailure(
          `The clinic has no patient ${id}, or the patient was erased. Find patients with "patient find".`,
        )
      const isChanged = patient.updatedAt !== before.updatedAt
      const appointments =
        before.isActive && !patient.isActive
          ? await comingAppointments(context, { patient: patient.id }, () => true)
          : []
      const result = renderPatientDetails(patient, { clinic, scopes: SCOPES })
      // Appointments of an inactive patient cannot be moved.
      print(command, { ...result, appointments_outside: appointments }, [
        isChanged ? `Changed patient ${id}` : `Nothing changed: patient ${id} has these values already`,
        ...describeAppointments(context, appointments, 'without an active patient', '"appointment cancel"'),
      ])
    })

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
      const before = isUuid(id) ? await patientStore({ table }).find(clinic.id, id.toLowerCase()) : null
      if (!before) throw unknownRecord('patient', 'patient', id)
      const upcoming = (await upcomingAppointments(table, clinic.id, before.id)).length
      // An interrupted erasure is completed without asking: the name is gone.
      if (!before.erasedAt) await confirmErasure(command, table, clinic, before, upcoming)
      const patient = await patientChanges(table).erase(clinic.id, before.id, {
        operator: operatorOf(command),
      })
      if (!patient) throw unknownRecord('patient', 'patient', id)
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

function changesOf({
  firstName,
  lastName,
  gender,
  dateOfBirth,
  phone,
  email,
  ...more
}: Fields): Partial<Patient> {
  const parseOrNull = <T>(
    name: string,
    schema: Parameters<typeof parseOption<T>>[1],
    value: string,
  ): T | null => (value === '' ? null : parseOption(name, schema, value))
  return {
    ...(firstName !== undefined && { firstName: parseOption('first-name', personName(), firstName) }),
    ...(lastName !== undefined && { lastName: parseOption('last-name', personName(), lastName) }),
    ...(gender !== undefined && { gender: parseOrNull('gender', oneOf(GENDERS), gender) }),
    ...(dateOfBirth !== undefined && {
      dateOfBirth: parseOrNull('date-of-birth', CalendarDate, dateOfBirth),
    }),
    ...(phone !== undefined && { phoneNumber: parseOrNull('phone', phoneNumber(), phone) }),
    ...(email !== undefined && { emailAddress: parseOrNull('email', emailAddress(), email) }),
    ...(more.nationalId !== undefined && {
      nationalId: parseOrNull('national-id', nationalId(), more.nationalId),
    }),
    ...(more.notes !== undefined && { notes: parseOrNull('notes', multiLineText(2000), more.notes) }),
    ...(more.active !== undefined && { isActive: more.active }),
  }
}

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
