import { listAppointments, renderAppointment } from '../shared/api/appointments.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { readRecordList } from '../shared/runtime/record-list.ts'
import { appointmentStore } from '../shared/store/calendar/appointments.ts'

export const handler = endpoint(
  listAppointments,
  { appointments: appointmentStore },
  async ({ clinicId, clinic, query, now }, { appointments }) => {
    const { patient_id: patient, doctor_id: doctor, status, date_from: from, date_to: to } = query
    const filter = { patient, doctor, facet: status, from, to }
    return readRecordList(
      'appointments',
      { clinic, query, now },
      {
        page: (request) => appointments.page(clinicId, filter, request),
        after: (position, limit) => appointments.after(clinicId, filter, position, limit),
        changes: (range, limit) => appointments.changes(clinicId, range, limit),
      },
      (appointment) => renderAppointment(appointment, clinic),
    )
  },
)
