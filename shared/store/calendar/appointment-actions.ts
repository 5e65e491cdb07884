import { isDeepStrictEqual } from 'node:util'
import type { Appointment } from '../../domain/appointment.ts'
import type { ActionVerdict } from '../../domain/appointment-actions.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { patientKey } from '../keys/patients.ts'
import { patientStore } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import type { ResponseToStore, StoredResponse } from '../table/idempotency.ts'
import { retryOnConflict } from '../table/retry-on-conflict.ts'
import type { Table } from '../table/table.ts'
import { appointmentStore } from './appointments.ts'

/** What became of an action. Appointments of erased patients cannot be changed: they are not found. */
export type ActionOutcome = ActionVerdict | { readonly kind: 'not_found' }

/** Changes appointments without moving them. */
export function appointmentActionStore({ table }: { table: Table }) {
  const appointments = appointmentStore({ table })
  const patients = patientStore({ table })

  /**
   * Applies an action together with its idempotent response. Returns the stored response if the request is a repeat. If
   * nothing changes, no event is announced.
   * @throws UnavailableError when other changes of the appointment win every time
   */
  async function act(
    clinic: ClinicId,
    id: string,
    apply: (before: Appointment) => ActionVerdict,
    { idempotency, status, response }: ResponseToStore<Appointment>,
  ): Promise<StoredResponse | ActionOutcome> {
    return retryOnConflict(async () => {
      const [storedResponse, before] = await Promise.all([idempotency.find(), appointments.find(clinic, id)])
      if (storedResponse) return storedResponse
      if (!before) return { kind: 'not_found' }
      const patientId = before.record.patient.id
      const patient = (await patients.findMany(clinic, [patientId])).get(patientId)
      if (!patient || patient.erasedAt) return { kind: 'not_found' }
      const verdict = apply(before.record)
      if (verdict.kind === 'closed') return verdict
      const changes = new Changeset(table, clinic)
      if (!isDeepStrictEqual(before.record, verdict.appointment))
        appointments.change(changes, before, verdict.appointment)
      idempotency.store(changes, status, response(verdict.appointment), patientId)
      // An erasure that begins meanwhile would not find what is written here.
      if (changes.size > 0) changes.requireVersion(patientKey(clinic, patientId), patient.version)
      await changes.commit()
      return verdict
    })
  }

  return { act }
}
