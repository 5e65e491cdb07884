import type { Command } from 'commander'
import { anonymizeResponse } from '../../shared/api/anonymize-response.ts'
import { renderPatientDetails } from '../../shared/api/patients.ts'
import { CalendarDate, oneOf } from '../../shared/api/schemas.ts'
import { GENDERS, type Patient } from '../../shared/domain/patient.ts'
import { SCOPES } from '../../shared/domain/scope.ts'
import {
  emailAddress,
  multiLineText,
  nationalId,
  personName,
  phoneNumber,
} from '../../shared/domain/text-fields.ts'
import { patientChanges } from '../../shared/store/copies/patient-changes.ts'
import { operatorOf } from './command-trail.ts'
import { connect, requireClinic } from './connection.ts'
import { CommandFailure, parseOption, print } from './output.ts'
import { addPatientExportCommand } from './patient-export.ts'

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

export function addPatientCommands(program: Command): void {
  const group = program.command('patient').description("change a clinic's patients")

  group
    .command('update')
    .description(
      'change fields of a patient; a new name is copied to every record that shows it. "" clears a field',
    )
    .argument('<patient>', 'patient id')
    .requiredOption('--clinic <id>')
    .option('--first-name <name>')
    .option('--last-name <name>')
    .option('--gender <gender>', GENDERS.join(', '))
    .option('--date-of-birth <date>', 'YYYY-MM-DD')
    .option('--phone <number>', 'in international format, e.g. +905321234567')
    .option('--email <address>')
    .option('--national-id <id>')
    .option('--notes <text>')
    .option('--active', 'appointments and messages are possible')
    .option('--no-active')
    .action(
      async (id: string, { clinic: clinicId, ...fields }: Fields & { clinic: string }, command: Command) => {
        const table = await connect(command)
        const clinic = await requireClinic(table, clinicId)
        const patient = await patientChanges(table).update(clinic.id, id.toLowerCase(), changesOf(fields))
        if (!patient) throw new CommandFailure(`The clinic has no patient ${id}, or the patient was erased.`)
        print(command, renderPatientDetails(patient, { clinic, scopes: SCOPES }), [`Changed patient ${id}`])
      },
    )

  addPatientExportCommand(group)

  group
    .command('erase')
    .description('anonymize a patient permanently; appointments, amounts and totals stay')
    .argument('<patient>', 'patient id')
    .requiredOption('--clinic <id>')
    .action(async (id: string, { clinic: clinicId }: { clinic: string }, command: Command) => {
      const table = await connect(command)
      const clinic = await requireClinic(table, clinicId)
      const patient = await patientChanges(table).erase(clinic.id, id.toLowerCase(), anonymizeResponse, {
        operator: operatorOf(command),
      })
      if (!patient) throw new CommandFailure(`The clinic has no patient ${id}.`)
      print(command, renderPatientDetails(patient, { clinic, scopes: SCOPES }), [`Erased patient ${id}`])
    })
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
    ...(firstName !== undefined && { firstName: parseOption('first-name', personName, firstName) }),
    ...(lastName !== undefined && { lastName: parseOption('last-name', personName, lastName) }),
    ...(gender !== undefined && { gender: parseOrNull('gender', oneOf(GENDERS), gender) }),
    ...(dateOfBirth !== undefined && {
      dateOfBirth: parseOrNull('date-of-birth', CalendarDate, dateOfBirth),
    }),
    ...(phone !== undefined && { phoneNumber: parseOrNull('phone', phoneNumber, phone) }),
    ...(email !== undefined && { emailAddress: parseOrNull('email', emailAddress, email) }),
    ...(more.nationalId !== undefined && {
      nationalId: parseOrNull('national-id', nationalId, more.nationalId),
    }),
    ...(more.notes !== undefined && { notes: parseOrNull('notes', multiLineText(2000), more.notes) }),
    ...(more.active !== undefined && { isActive: more.active }),
  }
}
