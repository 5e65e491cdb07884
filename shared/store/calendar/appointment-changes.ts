import { isDeepStrictEqual } from 'node:util'
import type { Appointment } from '../../domain/booking/appointment.ts'
import type { ActionVerdict } from '../../domain/booking/appointment-actions.ts'
import {
  type AppointmentChanges,
  type ChangeFacts,
  type ChangeVerdict,
  changeAppointment,
  movedParts,
  REOPENED_PARTS,
  reopenAppointment,
  targetOf,
} from '../../domain/booking/change-appointment.ts'
import {
  isUnknownId,
  type Moment,
  type Placement,
  type PlacementParts,
} from '../../domain/booking/placement.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import type { WithUpdatedAt } from '../../domain/with-updated-at.ts'
import { externalIds } from '../external-ids/links.ts'
import { provenanceOf, providedByApi } from '../external-ids/provenance.ts'
import { patientStore } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { RequestedWrite } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { appointmentStore } from './appointments.ts'
import { isTaken, requirePatient, type TakenOutcome } from './booking.ts'
import type { StoredRecord } from './calendar-entity.ts'
import { factsOf, placementStore, type StoredPlacement } from './placements.ts'

/** The appointment as it is stored now. */
type Done = { readonly kind: 'done'; readonly appointment: WithUpdatedAt<Appointment> }

/** The outcome of an action. Appointments of erased patients cannot be changed: they are not found. */
export type ActionOutcome = Exclude<ActionVerdict, { kind: 'done' }> | Done | { readonly kind: 'not_found' }

export type ChangeOutcome =
  | Exclude<ChangeVerdict, { kind: TakenOutcome['kind'] | 'done' }>
  | Done
  | TakenOutcome

/** The outcomes of a change whose response is stored under the idempotency key. */
export type StoredChange = Extract<ChangeOutcome, { kind: 'done' | TakenOutcome['kind'] }>

export type ChangeRequest = {
  readonly id: string
  readonly changes: AppointmentChanges
  readonly moment: Moment
  /** May throw for the present state of the appointment. */
  readonly checkCurrent?: (current: WithUpdatedAt<Appointment>) => void
  readonly write: RequestedWrite<StoredChange>
}

/** How a change of an appointment is decided. */
type ChangeRules = {
  readonly target: (before: Appointment) => Placement
  /** The parts of the target that are checked. */
  readonly parts: (before: Appointment, target: Placement) => PlacementParts
  readonly decide: (before: Appointment, facts: ChangeFacts) => ChangeVerdict
}

export function appointmentChangeStore({ table, now }: { table: Table; now: () => number }) {
  const appointments = appointmentStore({ table })
  const patients = patientStore({ table })
  const placements = placementStore({ table, now })
  const external = externalIds({ table })

  const findPatient = async (clinic: ClinicId, { patient: { id } }: Appointment) =>
    await patients.find(clinic, id)

  /**
   * Applies an action for a request. If nothing changes, no event is announced.
   * @throws UnavailableError when other changes of the appointment win every time; RequestCompleted
   */
  async function act(
    clinic: ClinicId,
    id: string,
    apply: (before: WithUpdatedAt<Appointment>) => ActionVerdict,
    write: RequestedWrite<WithUpdatedAt<Appointment>>,
  ): Promise<ActionOutcome> {
    return retryOnConflict(async () => {
      const [before] = await Promise.all([appointments.find(clinic, id), write.requireNew()])
      const patient = before && (await findPatient(clinic, before.record))
      if (!before || !patient || patient.erasedAt) return { kind: 'not_found' }
      write.requireMatch(before.record)
      const verdict = apply(before.record)
      if (verdict.kind !== 'done') return verdict
      const changes = new Changeset(table, clinic)
      const after = await addChange(changes, before, verdict.appointment, write)
      write.store(changes, after, patient.id)
      requirePatient(changes, patient)
      await changes.commit()
      return { kind: 'done', appointment: after }
    })
  }

  /**
   * Changes fields of an appointment, and moves it: one transaction frees the old time of the doctor and the room and takes
   * the new, under the conditions of a booking. Otherwise like `act`.
   */
  const change = (clinic: ClinicId, { changes, ...request }: ChangeRequest) =>
    place(clinic, request, {
      target: (before) => targetOf(before, changes),
      parts: movedParts,
      decide: (before, facts) => changeAppointment(before, changes, facts, request.moment),
    })

  /** Makes a completed or missed appointment a scheduled one, unless its time has been taken. Otherwise like `change`. */
  const reopen = (clinic: ClinicId, request: Omit<ChangeRequest, 'changes'>) =>
    place(clinic, request, {
      target: (before) => targetOf(before, {}),
      parts: () => REOPENED_PARTS,
      decide: reopenAppointment,
    })

  async function place(
    clinic: ClinicId,
    { id, moment, checkCurrent = () => {}, write }: Omit<ChangeRequest, 'changes'>,
    { target: targetFor, parts, decide }: ChangeRules,
  ): Promise<ChangeOutcome> {
    const attempt = async (): Promise<ChangeOutcome> => {
      const [before] = await Promise.all([appointments.find(clinic, id), write.requireNew()])
      if (!before) return { kind: 'not_found' }
      const target = targetFor(before.record)
      const [patient, stored] = await Promise.all([
        findPatient(clinic, before.record),
        placements.read(clinic, target, parts(before.record, target)),
      ])
      const facts = { patient, ...factsOf(stored, [id]) }
      const verdict = decide(before.record, facts)
      if (!patient || verdict.kind === 'not_found') return { kind: 'not_found' }
      if (isUnknownId(verdict)) return verdict
      write.requireMatch({ kind: 'done', appointment: before.record })
      checkCurrent(before.record)
      if (verdict.kind !== 'done' && !isTaken(verdict)) return verdict
      const changes = new Changeset(table, clinic)
      const outcome: StoredChange = isTaken(verdict)
        ? { ...verdict, alternatives: await placements.alternatives(clinic, target, stored, moment, [id]) }
        : {
            kind: 'done',
            appointment: await addChange(changes, before, verdict.appointment, write, { target, stored }),
          }
      write.store(changes, outcome, patient.id)
      requirePatient(changes, patient)
      await changes.commit()
      return outcome
    }
    return retryOnConflict(attempt)
  }

  /** Adds a change with its conditions, unless the appointment stays as it is. Returns the appointment as it is then stored. */
  async function addChange(
    changes: Changeset,
    before: StoredRecord<Appointment>,
    after: Appointment,
    { confirmsExternalIds }: Pick<RequestedWrite<never>, 'confirmsExternalIds'>,
    move?: { readonly target: Placement; readonly stored: StoredPlacement },
  ): Promise<WithUpdatedAt<Appointment>> {
    if (isDeepStrictEqual(before.record, after)) return before.record
    const { id, externalId } = after
    const isNewId = externalId !== before.record.externalId
    await external.move(changes, 'appointment', id, before.record.externalId, externalId)
    const provenance = isNewId ? providedByApi(externalId, confirmsExternalIds) : provenanceOf(before)
    const changed = appointments.change(changes, before, after, provenance)
    if (move) placements.requireUnchanged(changes, move.target, move.stored)
    return changed
  }

  return { act, change, reopen }
}
