/** The commands that read appointments. */
import { appointmentFilter, listAppointments, renderAppointment } from '../../shared/api/appointments.ts'
import { readFilteredList } from '../../shared/runtime/record-list.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import type { RecordKind } from './record-kind.ts'
import { findOfPatients, NAME_OR_CONTACT } from './records-of-patients.ts'

type Appointment = ReturnType<typeof renderAppointment>

export const appointments: RecordKind<Appointment> = {
  group: 'appointment',
  noun: 'appointment',
  plural: 'appointments',
  imported: 'appointment',
  hasClockTimes: true,
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
