import { calendarList } from '../../../store/calendar/calendar-list.ts'
import { INVOICES } from '../../../store/calendar/invoices.ts'
import { doctorStore } from '../../../store/doctors.ts'
import { calendarKey } from '../../../store/keys/calendar.ts'
import { doctorKey } from '../../../store/keys/clinics.ts'
import { doctorOwner, patientOwner, staleCopiesKey } from '../../../store/keys/copies.ts'
import { patientKey, patientRowKey } from '../../../store/keys/patients.ts'
import type { StoredPatient } from '../../../store/patients/patients.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import type { Unrepaired } from '../comparison/derived-items.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import { decodeStoredPatient, withNameOfRow } from '../comparison/patient-image.ts'
import { imageOf } from '../comparison/record-image.ts'
import type { Snapshot } from '../comparison/snapshot.ts'
import { type AnyRecord, isStale, type VerifiedList } from './verified-lists.ts'

/**
 * Rechecks that a record shows the current names of its patient, doctor and invoice. An outdated name whose owner is still marked
 * stale is not a difference: stale-owners.ts reports the owner.
 */
export function copiedNameRecheck(
  inspection: Inspection,
  verified: VerifiedList<AnyRecord>,
  { held }: Unrepaired,
) {
  const { table, clinic, commit } = inspection
  const { entity } = verified

  async function recheck(id: string, read: Snapshot): Promise<Finding | null> {
    const key = calendarKey(clinic, entity.entityCode, id)
    const item = await read.get(key)
    const image = item && imageOf(clinic, entity, item)
    if (!image) return null
    const { patient, doctor, invoice } = image.position
    const ownerKeys = {
      patient: patientKey(clinic, patient),
      ...(doctor !== undefined && { doctor: doctorKey(clinic, doctor) }),
      ...(invoice !== undefined && { invoice: calendarKey(clinic, INVOICES.entityCode, invoice) }),
    }
    const names = Object.keys(ownerKeys) as (keyof typeof ownerKeys)[]
    const owners = await Promise.all(Object.values(ownerKeys).map((owner) => read.get(owner)))
    // A mark is removed only after all records are refreshed.
    const marks = await read.getMany([
      staleCopiesKey(clinic, patientOwner(patient)),
      ...(doctor === undefined ? [] : [staleCopiesKey(clinic, doctorOwner(doctor))]),
    ])
    // What rows of a missing owner hold was reported with the owner, and it is not certain who owns a record that its rows contradict.
    if ([key, ...Object.values(ownerKeys)].some(({ sk }) => held.has(sk))) return null
    const missing = names.flatMap((name, at) => (owners[at] ? [] : [`${name} ${ownerKeys[name]?.sk}`]))
    if (missing.length > 0) return findingOf('dangling_reference', key, null, missing.join(', '))
    const [patientItem, ...others] = owners
    const current = {
      patient: await readPatient(patientItem as Item),
      doctor: doctor === undefined ? undefined : await readDoctor(doctor),
      invoice: invoice === undefined ? undefined : imageOf(clinic, INVOICES, others[0] as never)?.record,
    }
    // There is nothing to compare with if one of them is unreadable.
    const isUnreadable = names.some((name) => !current[name])
    if (isUnreadable || marks.length > 0 || !isStale(verified, image.record, current as never)) return null
    const repair = () =>
      commit((changes) => {
        const after = verified.withCurrentNames(image.record, current as never)
        calendarList<AnyRecord, never>({ table }, entity).change(changes, image, after)
        for (const { pk, sk, v } of owners.filter((owner) => owner !== undefined))
          changes.requireVersion({ pk, sk }, v as number)
      })
    return findingOf('stale_copy', key, repair)
  }

  /** A patient whose record has a wrong name was reported before. */
  async function readPatient(item: Item): Promise<StoredPatient | undefined> {
    const read = decodeStoredPatient(item)
    const row = read && (await table.get(patientRowKey(clinic, read.ordinal)))
    return read && !(row && (await withNameOfRow(inspection, read, row))) ? read : undefined
  }

  const readDoctor = (id: string) =>
    doctorStore({ table })
      .find(clinic, id)
      .catch(() => undefined)

  return recheck
}
