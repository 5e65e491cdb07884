import { calendarList } from '../../../store/calendar/calendar-list.ts'
import { INVOICES } from '../../../store/calendar/invoices.ts'
import { doctorStore } from '../../../store/doctors.ts'
import { calendarKey } from '../../../store/keys/calendar.ts'
import { doctorKey } from '../../../store/keys/clinics.ts'
import { doctorOwner, patientOwner, staleCopiesKey } from '../../../store/keys/copies.ts'
import { patientKey } from '../../../store/keys/patients.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { decodeStoredPatient } from '../comparison/patient-image.ts'
import { imageOf } from '../comparison/record-image.ts'
import { type AnyRecord, isStale, type VerifiedList } from './verified-lists.ts'

/**
 * Verifies that a record shows the current names of its patient, doctor and invoice. An outdated name whose owner is still marked
 * stale is not a difference: stale-owners.ts reports the owner.
 */
export function copiedNameChecker(
  { table, clinic, examine }: Inspection,
  verified: VerifiedList<AnyRecord>,
  isHeld: (id: string) => boolean,
) {
  const { entity } = verified

  /** Reads the owners first, then their stale marks, then the record: a mark is removed only after all records are refreshed. */
  const recheck =
    (id: string): Recheck =>
    async () => {
      const key = calendarKey(clinic, entity.entityCode, id)
      const early = await table.get(key)
      const image = early && imageOf(clinic, entity, early)
      if (!image) return null
      const { patient, doctor, invoice } = image.position
      const ownerKeys = {
        patient: patientKey(clinic, patient),
        ...(doctor !== undefined && { doctor: doctorKey(clinic, doctor) }),
        ...(invoice !== undefined && { invoice: calendarKey(clinic, INVOICES.entityCode, invoice) }),
      }
      const readOwners = () => Promise.all(Object.values(ownerKeys).map((owner) => table.get(owner)))
      const owners = await readOwners()
      const marks = await table.getMany([
        staleCopiesKey(clinic, patientOwner(patient)),
        ...(doctor === undefined ? [] : [staleCopiesKey(clinic, doctorOwner(doctor))]),
      ])
      const versions = [early, ...owners].map((item) => item?.v)
      const again = [await table.get(key), ...(await readOwners())].map((item) => item?.v)
      if (versions.some((version, at) => version !== again[at])) return 'moving'
      // What rows of a missing owner hold was reported with the owner, and it is not certain who owns a record that its rows contradict.
      if ([key, ...Object.values(ownerKeys)].some(({ sk }) => isHeld(sk))) return null
      const missing = Object.entries(ownerKeys).flatMap(([name, { sk }], at) =>
        owners[at] ? [] : [`${name} ${sk}`],
      )
      if (missing.length > 0)
        return {
          differences: [{ kind: 'dangling_reference', key, note: missing.join(', ') }],
          repair: null,
        }
      const [patientItem, ...others] = owners
      const current = {
        patient: (patientItem && decodeStoredPatient(patientItem)) ?? undefined,
        doctor: doctor === undefined ? undefined : await readDoctor(doctor),
        invoice: invoice === undefined ? undefined : imageOf(clinic, INVOICES, others[0] as never)?.record,
      }
      // There is nothing to compare with if one of them is unreadable.
      const isUnreadable = Object.keys(ownerKeys).some((name) => !current[name as keyof typeof current])
      if (isUnreadable || marks.length > 0 || !isStale(verified, image.record, current as never)) return null
      const repair = () => {
        const changes = new Changeset(table, clinic)
        const after = verified.withCurrentNames(image.record, current as never)
        calendarList<AnyRecord, never>({ table }, entity).change(changes, image, after)
        for (const { pk, sk, v } of owners.filter((owner) => owner !== undefined))
          changes.requireVersion({ pk, sk }, v as number)
        return changes.commit()
      }
      return { differences: [{ kind: 'stale_copy', key }], repair }
    }

  const readDoctor = (id: string) =>
    doctorStore({ table })
      .find(clinic, id)
      .catch(() => undefined)

  return { check: (id: string) => examine(recheck(id)) }
}
