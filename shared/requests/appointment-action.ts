import { requireChanged } from '../api/appointment-actions.ts'
import { renderAppointment } from '../api/appointments.ts'
import type { Appointment } from '../domain/booking/appointment.ts'
import { type AppointmentAction, applyAction } from '../domain/booking/appointment-actions.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import type { appointmentChangeStore } from '../store/calendar/appointment-changes.ts'
import type { WriteRequest } from './requested-write.ts'

type Appointments = Pick<ReturnType<typeof appointmentChangeStore>, 'act'>

/** Applies an action to the appointment of a request, and returns its response. @throws ApiError when it is rejected */
export async function actOnAppointment(
  { clinicId, clinic, mayReadRecord, path, now, write }: Omit<WriteRequest, 'credential'>,
  appointments: Appointments,
  action: AppointmentAction,
) {
  const at = new Date(now).toISOString()
  let before: object | undefined
  const response = (after: WithUpdatedAt<Appointment>) => {
    const data = renderAppointment(after, clinic)
    // A repeated cancellation keeps its first reason. Its reference must not confirm a guess of it, nor a repetition by its key.
    return { data: after === before && !mayReadRecord ? { ...data, cancellation_reason: null } : data }
  }
  const apply = (current: WithUpdatedAt<Appointment>) => {
    before = current
    return applyAction(current, action, { at, timezone: clinic.timezone })
  }
  const outcome = await appointments.act(clinicId, path.id, apply, write(response))
  return response(requireChanged(outcome, clinic.timezone))
}
