import type { Command } from 'commander'
import { listPatients, renderPatientDetails } from '../../../shared/api/patients.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { wallClock } from '../../../shared/domain/clock.ts'
import { fullName, GENDERS, type Patient } from '../../../shared/domain/patients/patient.ts'
import { personName } from '../../../shared/domain/patients/text-fields.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import { patientListStores, readPatientList } from '../../../shared/requests/patient-list.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { upcomingAppointments } from '../../../shared/store/copies/cancel-appointments.ts'
import { patientChanges } from '../../../shared/store/copies/patient-changes.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { patientOptions } from '../../../shared/sync/entities/patients.ts'
import { comingAppointments, describeAppointments } from '../appointments/appointments-outside-hours.ts'
import { requireRecord, unknownRecord } from '../records/change-record.ts'
import { addLinkCommands } from '../records/record-links.ts'
import { NAME_OR_CONTACT } from '../records/records-of-patients.ts'
import { addResourceCommands, type ResourceCommands } from '../records/resource-commands.ts'
import { operatorOf } from '../tool/command-trail.ts'
import { addConfirmOptions, confirmByTyping, readValue } from '../tool/confirmation.ts'
import { type ClinicContext, openClinic } from '../tool/connection.ts'
import { addFields, type Fields, fieldsOf, requireChange } from '../tool/fields.ts'
import { CommandFailure, changeLine, counted, formatTable, print } from '../tool/output.ts'
import { addPatientExportCommand } from './patient-export.ts'

const patients: ResourceCommands<Awaited<ReturnType<typeof readPatientList>>['data'][number]> = {
  group: 'patient',
  list: {
    query: listPatients.query,
    read: ({ table, clinic }, query) =>
      readPatientList(patientListStores({ table }), { clinic, query, now: Date.now() }),
  },
  show: async ({ table, clinic }, id) => {
    const patient = await patientStore({ table }).find(clinic.id, id)
    return patient && renderPatientDetails(patient, { clinic, scopes: SCOPES })
  },
  searched: NAME_OR_CONTACT,
  find: async ({ table, clinic }, text) => {
    const { data: query, error } = listPatients.query.safeParse({ search: text })
    if (error) throw new CommandFailure(`The text ${error.issues.map(({ message }) => message).join(', ')}.`)
    const request = { clinic, query, now: Date.now() }
    const { data, meta } = await readPatientList(patientListStores({ table }), request)
    const leftOut = 'total' in meta ? meta.total - data.length : 0
    if (leftOut <= 0) return { data }
    return {
      data,
      leftOut,
      notes: [`Left out: ${counted(leftOut, 'more patient')}. "patient list --search" lists all.`],
    }
  },
  cells: ({ full_name, date_of_birth, phone_number, email_address, is_active, erased_at }) => [
    full_name,
    date_of_birth ?? '',
    phone_number ?? '',
    email_address ?? '',
    erased_at ? 'erased' : is_active ? 'active' : 'inactive',
  ],
}

const { createdAt: _, isActive: __, ...options } = patientOptions

/** The options of all columns of imports. Some are longer known by another name, or need a description. */
const FIELDS: Fields<Patient> = {
  ...options,
  firstName: { flags: '--first-name <name>', schema: personName() },
  gender: { ...options.gender, description: GENDERS.join(', ') },
  dateOfBirth: { ...options.dateOfBirth, description: 'YYYY-MM-DD' },
  phoneNumber: {
    ...options.phoneNumber,
    flags: '--phone <number>',
    description: 'in international format, e.g. +905321234567',
  },
  emailAddress: { ...options.emailAddress, flags: '--email <address>' },
  nationalId: { ...options.nationalId, description: '- reads it from a prompt or from standard input' },
}

type UpdateOptions = { readonly active?: boolean; readonly nationalId?: string }

export function addPatientCommands(group: Command): void {
  addResourceCommands(group, patients)

  const update = group
    .command('update')
    .description(
      'change fields of a patient; a new name is copied to every record that shows it. "" clears a field',
    )
    .argument('<patient>', 'patient id')
  addFields(update, FIELDS)
    .option('--active', 'appointments and messages are possible')
    .option('--no-active', 'they are not; lists the appointments that are still scheduled')
    .action(async (id: string, given: UpdateOptions, command: Command) => {
      requireChange(given)
      const context = await openClinic(command)
      const { table, clinic } = context
      const typed = await readValue(command, given.nationalId ?? '', 'the national id')
      const fields = fieldsOf(
        FIELDS,
        given.nationalId === undefined ? given : { ...given, nationalId: typed },
      )
      if (fields.dateOfBirth && fields.dateOfBirth > wallClock(Date.now(), clinic.timezone).date)
        throw new CommandFailure('--date-of-birth must not be in the future')
      const changes = { ...fields, ...(given.active !== undefined && { isActive: given.active }) }
      const before = await requirePatient(context, id)
      const patient = await patientChanges(table).update(clinic.id, before.id, changes)
      if (!patient) throw new CommandFailure('The patient was erased.')
      const appointments =
        before.isActive && !patient.isActive
          ? await comingAppointments(context, { patient: patient.id }, () => true)
          : []
      const result = renderPatientDetails(patient, { clinic, scopes: SCOPES })
      const isChanged = patient.updatedAt !== before.updatedAt
      // Appointments of an inactive patient cannot be moved.
      print(command, { ...result, appointments_outside: appointments }, [
        changeLine(isChanged, `Changed patient ${id}`, `patient ${id} has these values already`),
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
