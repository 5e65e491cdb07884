import { requireChanged } from '../api/appointment-actions.ts'
import { renderAppointment } from '../api/appointments.ts'
import type { Appointment } from '../domain/booking/appointment.ts'
import {
  type ActionVerdict,
  type AppointmentAction,
  applyAction,
} from '../domain/booking/appointment-actions.ts'
import type { ClinicId, ClinicInfo } from '../domain/clinic.ts'
import type { WithUpdatedAt } from '../domain/with-updated-at.ts'
import { type IdempotencyGuard, type ResponseToStore, StoredResponse } from '../store/table/idempotency.ts'

type Request = {
  readonly clinicId: ClinicId
  readonly clinic: ClinicInfo
  readonly mayReadRecord: boolean
  readonly path: { readonly id: string }
  readonly now: number
  readonly checkIfMatch: <T extends object>(current: T, response: (current: T) => { data: object }) => void
  readonly reportUnchanged: (after: object) => void
  readonly idempotency: IdempotencyGuard
}

type Appointments = {
  readonly act: (
    clinic: ClinicId,
    id: string,
    apply: (before: WithUpdatedAt<Appointment>) => ActionVerdict,
    store: ResponseToStore<WithUpdatedAt<Appointment>>,
  ) => Promise<StoredResponse | Parameters<typeof requireChanged<WithUpdatedAt<Appointment>>>[0]>
}

/** Applies an action to the appointment of a request, and returns its response. @throws ApiError when it is rejected */
export async function actOnAppointment(
  { clinicId, clinic, mayReadRecord, path, now, checkIfMatch, reportUnchanged, idempotency }: Request,
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
    checkIfMatch(current, response)
    return applyAction(current, action, { at, timezone: clinic.timezone })
  }
  const outcome = await appointments.act(clinicId, path.id, apply, { idempotency, status: 200, response })
  if (outcome instanceof StoredResponse) return outcome
  const appointment = requireChanged(outcome, clinic.timezone)
  reportUnchanged(appointment)
  return response(appointment)
}
