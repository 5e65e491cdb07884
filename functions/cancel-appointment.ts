import { cancelAppointment, requireChanged } from '../shared/api/appointment-actions.ts'
import { renderAppointment } from '../shared/api/appointments.ts'
import type { Appointment } from '../shared/domain/appointment.ts'
import { applyAction } from '../shared/domain/appointment-actions.ts'
import type { Stamped } from '../shared/domain/stamped.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { appointmentChangeStore } from '../shared/store/calendar/appointment-changes.ts'
import { StoredResponse } from '../shared/store/table/idempotency.ts'

export const handler = endpoint(
  cancelAppointment,
  { appointments: appointmentChangeStore },
  async ({ clinicId, clinic, path, body, now, idempotency }, { appointments }) => {
    const at = new Date(now).toISOString()
    const response = (after: Stamped<Appointment>) => ({ data: renderAppointment(after, clinic) })
    const outcome = await appointments.act(
      clinicId,
      path.id,
      (before) => applyAction(before, { kind: 'cancel', reason: body.reason ?? null }, at),
      { idempotency, status: 200, response },
    )
    return outcome instanceof StoredResponse ? outcome : response(requireChanged(outcome))
  },
)
