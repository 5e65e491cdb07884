import type { Appointment } from '../../domain/booking/appointment.ts'
import type { BookingFacts, BookingRequest, BookingVerdict } from '../../domain/booking/book-appointment.ts'
import type { DatedSlot } from '../../domain/booking/slots.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { clinicStore } from '../clinics.ts'
import { externalIds } from '../external-ids/links.ts'
import { providedByApi } from '../external-ids/provenance.ts'
import { holdKey } from '../keys/calendar.ts'
import { shortId } from '../keys/key.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore, type StoredPatient } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { RequestedWrite } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { appointmentStore } from './appointments.ts'
import { hasHold, withoutHold } from './busy-days.ts'
import { factsOf, placementStore, type StoredPlacement } from './placements.ts'

/** The length of appointments in a clinic without a stored setting. */
const DEFAULT_APPOINTMENT_MINUTES = 30

/** A taken time of a doctor or a room, with other times to offer. */
export type TakenOutcome = {
  readonly kind: 'taken' | 'room_taken'
  readonly alternatives: readonly DatedSlot[]
}

/** The hold that was to be booked has expired or was ended. */
type HoldExpired = { readonly kind: 'hold_expired' }

export type BookingOutcome =
  | Exclude<BookingVerdict, { kind: TakenOutcome['kind'] | 'booked' }>
  | HoldExpired
  | { readonly kind: 'booked'; readonly appointment: WithUpdatedAt<Appointment> }
  | TakenOutcome

/** The outcomes whose response is stored under the idempotency key. After any other, the key can be used again. */
export type StoredOutcome = Extract<BookingOutcome, { kind: 'booked' | TakenOutcome['kind'] }>

export const isTaken = <Verdict extends { readonly kind: string }>(
  verdict: Verdict,
): verdict is Extract<Verdict, { kind: TakenOutcome['kind'] }> =>
  verdict.kind === 'taken' || verdict.kind === 'room_taken'

export function bookingStore({ table, now }: { table: Table; now: () => number }) {
  const appointments = appointmentStore({ table })
  const placements = placementStore({ table, now })
  const patients = patientStore({ table })
  const external = externalIds({ table })

  /** The clinic's setting for the length of an appointment, in minutes. */
  async function defaultDuration(clinic: ClinicId): Promise<number> {
    return (await clinicStore({ table }).find(clinic))?.appointmentMinutes ?? DEFAULT_APPOINTMENT_MINUTES
  }

  /**
   * Reads the facts, calls `decide` with them, and writes its decision under the condition that the patient, the
   * doctor, the treatments, the room, and the days of doctor and room are still as read. Among overlapping bookings, one
   * succeeds; the others read and decide again. The time of a hold that the request names is free for it.
   * @throws UnavailableError when other bookings of the day win every time; ExternalIdTaken; RequestCompleted
   */
  async function book(
    clinic: ClinicId,
    request: BookingRequest,
    decide: (facts: BookingFacts) => BookingVerdict,
    write: RequestedWrite<StoredOutcome>,
  ): Promise<BookingOutcome> {
    const attempt = async (): Promise<BookingOutcome> => {
      const [patient, stored] = await Promise.all([
        patients.find(clinic, request.patient),
        placements.read(clinic, request),
        write.requireNew(),
      ])
      const own = [request.id, ...(request.hold === undefined ? [] : [request.hold])]
      // An earlier attempt was committed after all, although its response was lost.
      const isBooked = stored.day?.times.has(shortId(request.id)) ?? false
      const isOver = request.hold !== undefined && !isBooked && !hasHold(stored.day, request.hold)
      const verdict = isOver
        ? ({ kind: 'hold_expired' } as const)
        : decide({ patient, ...factsOf(stored, own) })
      const booked = isBooked && (await appointments.find(clinic, request.id))
      if (booked && verdict.kind === 'booked') return { kind: 'booked', appointment: booked.record }
      // A repeated request may find its own booking in the way: report the external id rather than the time.
      const isKnown = verdict.kind !== 'patient_not_found' && verdict.kind !== 'doctor_not_found'
      if (verdict.kind !== 'booked' && isKnown && request.externalId !== null)
        await external.requireFree(clinic, 'appointment', request.externalId)
      if (verdict.kind !== 'booked' && !isTaken(verdict)) return verdict
      const changes = new Changeset(table, clinic)
      const outcome: StoredOutcome = isTaken(verdict)
        ? { ...verdict, alternatives: await placements.alternatives(clinic, request, stored, request, own) }
        : {
            ...verdict,
            appointment: await addBooking(changes, request, verdict.appointment, stored, write),
          }
      write.store(changes, outcome, request.patient)
      if (patient) requirePatient(changes, patient)
      await changes.commit()
      return outcome
    }
    return retryOnConflict(attempt)
  }

  async function addBooking(
    changes: Changeset,
    request: BookingRequest,
    appointment: Appointment,
    stored: StoredPlacement,
    { confirmsExternalIds }: Pick<RequestedWrite<never>, 'confirmsExternalIds'>,
  ): Promise<WithUpdatedAt<Appointment>> {
    const { id, externalId } = appointment
    if (externalId !== null) await external.move(changes, 'appointment', id, null, externalId)
    const provenance = externalId === null ? {} : providedByApi(externalId, confirmsExternalIds)
    const booked = appointments.change(changes, null, appointment, provenance)
    const { hold } = request
    if (hold !== undefined) changes.remove(holdKey(changes.clinic, hold))
    placements.requireUnchanged(changes, request, stored, hold === undefined ? undefined : withoutHold(hold))
    return booked
  }

  /** @throws ExternalIdTaken */
  const requireFreeExternalId = (clinic: ClinicId, id: string): Promise<void> =>
    external.requireFree(clinic, 'appointment', id)

  return { defaultDuration, requireFreeExternalId, book }
}

/** Otherwise a concurrent erasure would miss the items written here. */
export function requirePatient(changes: Changeset, { id, version }: StoredPatient): void {
  if (changes.size > 0) changes.requireVersion(patientKey(changes.clinic, id), version)
}
