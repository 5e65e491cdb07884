/** The commands that read appointments. */
import { appointmentFilter, listAppointments, renderAppointment } from '../../../shared/api/appointments.ts'
import { appointmentListStore, appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { findOfPatients, NAME_OR_CONTACT } from '../records/records-of-patients.ts'
import { type ResourceCommands, readStore } from '../records/resource-commands.ts'
import {
  APPOINTMENT_LINES,
  appointmentsOutsideHours,
  type ListedAppointment,
  outsideHoursLines,
} from './appointments-outside-hours.ts'

export const appointments: ResourceCommands<ListedAppointment> = {
  group: 'appointment',
  noun: 'appointment',
  plural: 'appointments',
  imported: 'appointment',
  list: {
    query: listAppointments.query,
    part: {
      option: 'outside',
      description:
        'scheduled appointments to come at which the doctor does not work, earliest first; without the other filters',
      read: async (context) => {
        const data = await appointmentsOutsideHours(context)
        return {
          data,
          lines:
            data.length > 0 ? outsideHoursLines(context, data) : ['No appointments outside working hours'],
        }
      },
    },
    read: readStore('appointments', appointmentListStore, appointmentFilter, renderAppointment),
  },
  show: async ({ table, clinic }, id) => {
    const found = await appointmentStore({ table }).find(clinic.id, id)
    return found && renderAppointment(found.record, clinic)
  },
  searched: `the patient's ${NAME_OR_CONTACT}`,
  find: (context, text) => findOfPatients(context, text, appointmentStore, renderAppointment),
  ...APPOINTMENT_LINES,
}
