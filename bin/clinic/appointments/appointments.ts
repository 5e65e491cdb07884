import type { Command } from 'commander'
import { appointmentFilter, listAppointments, renderAppointment } from '../../../shared/api/appointments.ts'
import { appointmentListStore } from '../../../shared/store/calendar/appointments.ts'
import { addLinkCommands } from '../records/record-links.ts'
import { recordsOfPatients } from '../records/records-of-patients.ts'
import { addResourceCommands, type ResourceCommands } from '../records/resource-commands.ts'
import {
  APPOINTMENT_LINES,
  appointmentsOutsideHours,
  type ListedAppointment,
  outsideHoursLines,
} from './appointments-outside-hours.ts'

const reading = recordsOfPatients(
  'appointment',
  appointmentListStore,
  { query: listAppointments.query, filterOf: appointmentFilter },
  renderAppointment,
)

const appointments: ResourceCommands<ListedAppointment> = {
  ...reading,
  ...APPOINTMENT_LINES,
  list: {
    ...reading.list,
    part: {
      option: 'outside',
      description:
        'upcoming scheduled appointments outside the working hours of their doctor, earliest first; without the other filters',
      read: async (context) => {
        const data = await appointmentsOutsideHours(context)
        return { data, lines: outsideHoursLines(context, data) }
      },
    },
  },
}

export function addAppointmentCommands(group: Command): void {
  addResourceCommands(group, appointments)
  addLinkCommands(group, 'appointment')
}
