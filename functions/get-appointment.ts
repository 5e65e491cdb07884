import { getAppointment, renderAppointment } from '../shared/api/appointments.ts'
import { expandPatient } from '../shared/requests/expand-patients.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentStore } from '../shared/store/calendar/appointments.ts'
import { patientStore } from '../shared/store/patients/patients.ts'

export const handler = endpoint(
  getAppointment,
  { patients: patientStore, appointments: appointmentStore },
  async ({ clinicId, clinic, path, query }, { patients, appointments }) => {
    const found = await appointments.find(clinicId, path.id)
    if (!found) return null
    const appointment = renderAppointment(found.record, clinic)
    return { data: await expandPatient(patients, { clinic, query }, appointment) }
  },
)
