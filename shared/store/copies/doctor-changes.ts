import { isDeepStrictEqual } from 'node:util'
import { isUpcoming } from '../../domain/booking/appointment-actions.ts'
import { type Doctor, NEW_DOCTOR } from '../../domain/booking/doctor.ts'
import { worksDuring } from '../../domain/booking/slots.ts'
import type { ClinicInfo } from '../../domain/clinic.ts'
import { addDays, wallClock } from '../../domain/clock.ts'
import { appointmentStore } from '../calendar/appointments.ts'
import { TooManyRows } from '../calendar/calendar-filter.ts'
import type { ListPosition } from '../calendar/calendar-row.ts'
import { departmentStore } from '../catalogue.ts'
import { doctorStore, type StoredDoctor } from '../doctors.ts'
import { externalIds } from '../external-ids/links.ts'
import { type Provenance, providedByApi } from '../external-ids/provenance.ts'
import { doctorKey } from '../keys/clinics.ts'
import { doctorOwner } from '../keys/copies.ts'
import { Changeset } from '../table/changeset.ts'
import type { RequestedWrite } from '../table/idempotency.ts'
import { optionalWork } from '../table/request-scope.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { copiedNames } from './copied-names.ts'

/** The clinic does not have the department of a doctor. */
export class UnknownDepartment extends Error {}

export type DoctorOutcome = {
  readonly doctor: StoredDoctor
  /** The upcoming appointments during which the doctor no longer works; null if there are too many appointments to read. */
  readonly outside: number | null
}

/** Values of fields of a doctor. Those that are missing stay as they are, or as in a new doctor. */
export type DoctorFields = Partial<Omit<Doctor, 'id'>> & Pick<Provenance, 'externalId'>

/** Appointments after these days are not counted. */
export const COUNTED_DAYS = 366

/** Creates and changes doctors for requests. */
export function doctorChanges(table: Table) {
  const doctors = doctorStore({ table })
  const departments = departmentStore({ table })
  const appointments = appointmentStore({ table })
  const external = externalIds({ table })
  const copies = copiedNames(table)

  /**
   * Sets the fields that `decide` returns of a doctor, who is created if it returns some for null. Null if it returns null. If nothing
   * changes, only the response is stored. The copies of a new name are refreshed while the request has time: a sweep finishes the others.
   * @throws UnknownDepartment; TooManyActiveDoctors; ExternalIdTaken; RequestCompleted
   */
  async function write(
    clinic: ClinicInfo,
    id: string,
    decide: (before: StoredDoctor | null) => DoctorFields | null,
    request: RequestedWrite<DoctorOutcome>,
    countsOutside = true,
  ): Promise<DoctorOutcome | null> {
    let isRenamed = false
    const attempt = async (): Promise<DoctorOutcome | null> => {
      const [before] = await Promise.all([doctors.find(clinic.id, id), request.requireNew()])
      const fields = decide(before)
      if (!fields) return null
      if (before) request.requireMatch({ doctor: before, outside: 0 })
      const { externalId: _, ...facts } = fields
      const oldId = before?.externalId ?? null
      const externalId = fields.externalId === undefined ? oldId : fields.externalId
      if (before && externalId === oldId && isDeepStrictEqual({ ...before, ...facts }, before))
        return await storeUnchanged(clinic, before, request)
      const isOtherDepartment = facts.departmentId && facts.departmentId !== before?.departmentId
      if (isOtherDepartment && !(await departments.find(clinic.id, facts.departmentId ?? '')))
        throw new UnknownDepartment()
      const { version: __, ...stored } = before ?? { ...NEW_DOCTOR, fullName: '', version: 0 }
      const after = withExternalId({ ...stored, ...facts, id }, externalId, request)
      isRenamed = before !== null && before.fullName !== after.fullName
      const outside = before && countsOutside ? await countOutside(clinic, before, after) : 0
      let outcome: DoctorOutcome | null = null
      await doctors.save(clinic.id, [{ before, after }], async (changes, [doctor]) => {
        outcome = { doctor: doctor as StoredDoctor, outside }
        await external.move(changes, 'doctor', id, oldId, externalId)
        request.store(changes, outcome, '')
      })
      return outcome
    }
    const written = await retryOnConflict(attempt)
    if (isRenamed) await optionalWork(() => copies.refresh(clinic.id, doctorOwner(id)))
    return written
  }

  /** Stores the response, unless the doctor is changed at the same time. */
  async function storeUnchanged(
    clinic: ClinicInfo,
    doctor: StoredDoctor,
    request: RequestedWrite<DoctorOutcome>,
  ): Promise<DoctorOutcome> {
    const changes = new Changeset(table, clinic.id)
    const outcome = { doctor, outside: 0 }
    request.store(changes, outcome, '')
    if (changes.size > 0) changes.requireVersion(doctorKey(clinic.id, doctor.id), doctor.version)
    await changes.commit()
    return outcome
  }

  async function countOutside(
    { id, timezone }: ClinicInfo,
    before: Doctor,
    after: Doctor,
  ): Promise<DoctorOutcome['outside']> {
    if (isDeepStrictEqual(timesOf(before), timesOf(after))) return 0
    const now = wallClock(table.now(), timezone)
    const selects = ({ date, moment: startTime, end: endTime = startTime }: ListPosition) =>
      isUpcoming({ status: 'scheduled', date, startTime }, now) &&
      worksDuring(before, { date, startTime, endTime }, timezone) &&
      !worksDuring(after, { date, startTime, endTime }, timezone)
    const days = { from: now.date, to: addDays(now.date, COUNTED_DAYS) }
    const filter = { doctor: after.id, facets: ['scheduled'] as const, ...days, selects }
    try {
      return (await appointments.page(id, filter, { page: 1, limit: 0 })).total
    } catch (error) {
      if (error instanceof TooManyRows) return null
      throw error
    }
  }

  return { write }
}

/** What says when a doctor works. */
const timesOf = ({ isActive, hours, breaks, exceptions, timeOff }: Doctor) => [
  ...[isActive, hours, breaks],
  ...[exceptions, timeOff],
]

/** The doctor with an external id. No import has provided a new one. */
function withExternalId(
  doctor: Doctor & Provenance,
  externalId: string | null,
  { confirmsExternalIds }: Pick<RequestedWrite<never>, 'confirmsExternalIds'>,
): Doctor & Provenance {
  if ((doctor.externalId ?? null) === externalId) return doctor
  const { externalId: _, imported: __, isLinkedByApi: ___, ...others } = doctor
  return { ...others, ...providedByApi(externalId, confirmsExternalIds) }
}
