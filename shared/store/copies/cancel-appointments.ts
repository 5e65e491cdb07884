import type { Appointment } from '../../domain/booking/appointment.ts'
import { closeAs, isUpcoming } from '../../domain/booking/appointment-actions.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { wallClock } from '../../domain/clock.ts'
import { appointmentStore } from '../calendar/appointments.ts'
import { clinicStore } from '../clinics.ts'
import { Changeset } from '../table/changeset.ts'
import { commitWithRetry } from '../table/commit-packed.ts'
import type { Table } from '../table/table.ts'

/** The scheduled appointments of a patient that have not begun, by the clinic's clock. */
export async function upcomingAppointments(
  table: Table,
  clinic: ClinicId,
  patient: string,
): Promise<Appointment[]> {
  const stored = await clinicStore({ table }).find(clinic)
  if (!stored) return []
  const now = wallClock(table.now(), stored.timezone)
  const all = await appointmentStore({ table }).allOf(clinic, 'patient', patient)
  return all.filter((appointment) => isUpcoming(appointment, now))
}

/**
 * Cancels the upcoming appointments of an erased patient, each with its event, so that others can book the times. No new one
 * can appear, because bookings require a patient who is not erased. Safe to repeat.
 */
export async function cancelAppointments(table: Table, clinic: ClinicId, patient: string): Promise<void> {
  const appointments = appointmentStore({ table })
  for (const { id } of await upcomingAppointments(table, clinic, patient)) {
    await commitWithRetry(async () => {
      const before = await appointments.find(clinic, id)
      if (before?.record.status !== 'scheduled') return null
      const verdict = closeAs(before.record, 'cancelled', { at: new Date(table.now()).toISOString() })
      if (verdict.kind !== 'done') return null
      const changes = new Changeset(table, clinic)
      appointments.change(changes, before, verdict.appointment)
      return changes
    })
  }
}
