/** `patient export`: all that is held of one person, for a request of access (Article 15 of the GDPR). */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { renderAppointment } from '../../../shared/api/appointments.ts'
import { renderInvoice } from '../../../shared/api/invoices.ts'
import { renderMessage } from '../../../shared/api/messages.ts'
import { renderPatientDetails } from '../../../shared/api/patients.ts'
import { renderPayment } from '../../../shared/api/payments.ts'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import type { WithUpdatedAt } from '../../../shared/domain/with-updated-at.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import type { RecordStore } from '../../../shared/store/calendar/calendar-list.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { makeFolder } from '../../local/data-folder.ts'
import { openClinic } from '../tool/connection.ts'
import { resolveFromInvocationDir } from '../tool/invocation-path.ts'
import { unknownRecord } from '../tool/known-record.ts'
import { CommandFailure, print } from '../tool/output.ts'
import { describeRecord } from '../tool/record-text.ts'

/** Adds `patient export`. */
export function addPatientExportCommand(group: Command): void {
  group
    .command('export')
    .description(
      'write everything that is stored about a patient to a text file and a JSON file, for a subject access request',
    )
    .argument('<patient>', 'patient id')
    .requiredOption('--out <folder>')
    .action(async (id: string, given: { out: string }, command: Command) => {
      const { table, clinic } = await openClinic(command)
      const patient = id.toLowerCase()
      const data = await readPerson(table, clinic, patient)
      if (!data) throw unknownRecord('patient', id)
      const folder = resolveFromInvocationDir(given.out)
      makeFolder(folder, '--out')
      const base = join(folder, `patient-${patient}`)
      const json = `${JSON.stringify(data, null, 2)}\n`
      const contents = { [`${base}.txt`]: personText(data), [`${base}.json`]: json }
      const paths = Object.keys(contents)
      const existing = paths.find((path) => existsSync(path))
      if (existing)
        throw new CommandFailure(`${existing} exists already: remove it, or choose another folder.`)
      for (const path of paths) writeFileSync(path, contents[path] ?? '', { mode: 0o600, flag: 'wx' })
      print(command, { clinic_id: clinic.id, patient_id: patient, files: paths }, [
        `Wrote ${paths.join(' and ')}`,
      ])
    })
}

/** The data of a person as a text that a person can read. Amounts have the decimals of their currency. */
export function personText(data: PersonData): string {
  const sections = [
    ['Patient', [data.patient]],
    ['Appointments', data.appointments],
    ['Invoices', data.invoices],
    ['Payments', data.payments],
    ['Messages', data.messages],
  ] as const
  return [
    `Personal data held by ${data.clinic.name}`,
    '',
    `As of ${data.exported_at}`,
    '',
    ...describeRecord(data.clinic),
    ...sections.flatMap(([title, records]) => [
      '',
      `${title}${title === 'Patient' ? '' : ` (${records.length})`}`,
      ...records.flatMap((record) => ['', ...describeRecord(record)]),
    ]),
    '',
    'Also held',
    '',
    ...data.also_held.map((text) => `- ${text}`),
    '',
  ].join('\n')
}

export type Rendered = Readonly<Record<string, unknown>>

/** The person's data, with the field names of the API, oldest records first. */
export type PersonData = {
  readonly exported_at: string
  readonly clinic: Rendered
  readonly patient: Rendered
  readonly appointments: readonly Rendered[]
  readonly invoices: readonly Rendered[]
  readonly payments: readonly Rendered[]
  readonly messages: readonly Rendered[]
  readonly also_held: readonly string[]
}

/** Data of a person that is held in addition to the records, or derived from them. */
const ALSO_HELD = [
  'The search index has the name, the digits of the phone number and the email address.',
  'Responses of the API that created or changed these records are kept for a day.',
  'Events and their deliveries name these records by their ids, for 30 days, without personal data.',
  'The access trail names who read or changed these records, by their ids.',
  'Backups of the table have earlier states of these records, for as long as backups are kept.',
]

/** Null if the clinic has no such patient. */
export async function readPerson(table: Table, clinic: Clinic, id: string): Promise<PersonData | null> {
  const patient = await patientStore({ table }).find(clinic.id, id)
  if (!patient) return null

  async function recordsOf<R extends { readonly id: string }>(
    list: RecordStore<R>,
    render: (record: WithUpdatedAt<R>) => Rendered,
  ): Promise<Rendered[]> {
    const ids = (await list.allOf(clinic.id, 'patient', id)).map((record) => record.id)
    const stored = await list.findMany(clinic.id, ids)
    // Lists begin with the newest.
    return ids.toReversed().flatMap((recordId) => {
      const found = stored.get(recordId)
      return found ? [{ ...render(found.record), external_id: found.externalId ?? null }] : []
    })
  }

  return {
    exported_at: clinicTimestamp(new Date(table.now()).toISOString(), clinic.timezone),
    clinic: {
      id: clinic.id,
      name: clinic.name,
      address: clinic.address ?? null,
      phone_number: clinic.phoneNumber ?? null,
      email_address: clinic.emailAddress ?? null,
    },
    patient: {
      ...renderPatientDetails(patient, { clinic, scopes: SCOPES }),
      external_id: patient.externalId ?? null,
    },
    appointments: await recordsOf(appointmentStore({ table }), (appointment) =>
      renderAppointment(appointment, clinic),
    ),
    invoices: await recordsOf(invoiceStore({ table }), (invoice) => renderInvoice(invoice, clinic)),
    payments: await recordsOf(paymentStore({ table }), (payment) => ({
      ...renderPayment(payment, clinic),
      void_reason: payment.voidReason,
    })),
    messages: await recordsOf(messageStore({ table }), (message) => renderMessage(message, clinic)),
    also_held: ALSO_HELD,
  }
}
