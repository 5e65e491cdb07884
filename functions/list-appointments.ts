import { listAppointments, renderAppointment } from '../shared/api/appointments.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentStore } from '../shared/store/calendar/appointments.ts'

export const handler = endpoint(
  listAppointments,
  { appointments: appointmentStore },
  async ({ clinicId, clinic, query }, { appointments }) => {
    const { patient_id: patient, doctor_id: doctor, status, date_from: from, date_to: to } = query
    const page = await appointments.page(clinicId, { patient, doctor, facet: status, from, to }, query)
    return renderPage(page, query, (appointment) => renderAppointment(appointment, clinic))
  },
)
