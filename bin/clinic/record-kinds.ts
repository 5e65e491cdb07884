/** The kinds of records that `list`, `show` and `find` read. */
import type { Command } from 'commander'
import { appointmentFilter, listAppointments, renderAppointment } from '../../shared/api/appointments.ts'
import { listMessages, messageFilter } from '../../shared/api/messages.ts'
import { listPatients, renderPatientDetails } from '../../shared/api/patients.ts'
import { SCOPES } from '../../shared/domain/scope.ts'
import { readPatientList } from '../../shared/runtime/patient-list.ts'
import { readFilteredList } from '../../shared/runtime/record-list.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { messageStore } from '../../shared/store/messages/messages.ts'
import { patientStore } from '../../shared/store/patients/patients.ts'
import { patientsByNationalId } from '../../shared/store/patients/patients-by-national-id.ts'
import { patientSearch } from '../../shared/store/patients/search.ts'
import { invoices, payments } from './finance-records.ts'
import { messageJson } from './message-progress.ts'
import { addRecordCommands, type RecordKind } from './record-commands.ts'
import { findOfPatients, NAME_OR_CONTACT } from './records-of-patients.ts'
import { addWebhookRecords } from './webhook-records.ts'

type Appointment = ReturnType<typeof renderAppointment>
type Message = ReturnType<typeof messageJson>
type Patient = Awaited<ReturnType<typeof readPatientList>>['data'][number]

const patients: RecordKind<Patient> = {
  group: 'patient',
  noun: 'patient',
  plural: 'patients',
  imported: 'patient',
  list: {
    query: listPatients.query,
    read: ({ table, clinic }, query) =>
      readPatientList(
        { patients: patientSearch({ table }), identified: patientsByNationalId({ table }) },
        { clinic, query, now: Date.now() },
      ),
  },
  show: async ({ table, clinic }, id) => {
    const patient = await patientStore({ table }).find(clinic.id, id)
    return patient && renderPatientDetails(patient, { clinic, scopes: SCOPES })
  },
  searched: NAME_OR_CONTACT,
  find: async ({ table, clinic }, text) => {
    const stores = { patients: patientSearch({ table }), identified: patientsByNationalId({ table }) }
    const query = listPatients.query.parse({ search: text })
    const { data, meta } = await readPatientList(stores, { clinic, query, now: Date.now() })
    const total = 'total' in meta ? meta.total : data.length
    if (total <= data.length) return { data }
    return { data, leftOut: `${total - data.length} more match. "patient list --search" lists all.` }
  },
  cells: ({ full_name, date_of_birth, phone_number, email_address, is_active, erased_at }) => [
    full_name,
    date_of_birth ?? '',
    phone_number ?? '',
    email_address ?? '',
    erased_at ? 'erased' : is_active ? 'active' : 'inactive',
  ],
}

const appointments: RecordKind<Appointment> = {
  group: 'appointment',
  noun: 'appointment',
  plural: 'appointments',
  imported: 'appointment',
  list: {
    query: listAppointments.query,
    read: ({ table, clinic }, query) =>
      readFilteredList(
        'appointments',
        { clinic, query, now: Date.now() },
        appointmentStore({ table }),
        appointmentFilter(query),
        renderAppointment,
      ),
  },
  show: async ({ table, clinic }, id) => {
    const found = await appointmentStore({ table }).find(clinic.id, id)
    return found && renderAppointment(found.record, clinic)
  },
  searched: `the patient's ${NAME_OR_CONTACT}`,
  find: (place, text) =>
    findOfPatients(place, text, appointmentStore(place), (record) => renderAppointment(record, place.clinic)),
  cells: ({ appointment_date, start_time, end_time, status, patient, doctor }) => [
    appointment_date,
    `${start_time}-${end_time}`,
    status,
    patient.full_name,
    doctor.full_name,
  ],
}

/** Without their texts, which `messages show --text` shows. */
const messages: RecordKind<Message> = {
  group: 'messages',
  noun: 'message',
  plural: 'messages',
  imported: 'message',
  list: {
    query: listMessages.query,
    read: ({ table, clinic }, query) => {
      const now = Date.now()
      const render = (message: Parameters<typeof messageJson>[0]) => messageJson(message, clinic, now)
      return readFilteredList(
        'messages',
        { clinic, query, now },
        messageStore({ table }),
        messageFilter(query),
        render,
      )
    },
  },
  show: async ({ table, clinic }, id) => {
    const found = await messageStore({ table }).find(clinic.id, id)
    return found && messageJson(found.record, clinic, Date.now())
  },
  hasOwnShow: true,
  searched: `the patient's ${NAME_OR_CONTACT}`,
  find: (place, text) =>
    findOfPatients(place, text, messageStore(place), (record) =>
      messageJson(record, place.clinic, Date.now()),
    ),
  cells: ({ created_at, channel, type, status, patient }) => [
    created_at,
    channel,
    type,
    status,
    patient.full_name,
  ],
}

/** Adds the commands of all kinds to their groups, which exist already. */
export function addRecordKinds(program: Command): void {
  addRecordCommands(program, patients)
  addRecordCommands(program, appointments)
  addRecordCommands(program, invoices)
  addRecordCommands(program, payments)
  addRecordCommands(program, messages)
  addWebhookRecords(program)
}
