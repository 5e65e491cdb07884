import type { Invoice } from '../../../domain/money/invoice.ts'
import { calendarList } from '../../../store/calendar/calendar-list.ts'
import type { ListPosition } from '../../../store/calendar/calendar-row.ts'
import { INVOICES } from '../../../store/calendar/invoices.ts'
import { toDoctor } from '../../../store/doctors.ts'
import { calendarKey } from '../../../store/keys/calendar.ts'
import { doctorKey } from '../../../store/keys/clinics.ts'
import { doctorOwner, patientOwner, staleCopiesKey } from '../../../store/keys/copies.ts'
import { type Key, keyText } from '../../../store/keys/key.ts'
import { patientKey } from '../../../store/keys/patients.ts'
import { isSameRecord } from '../../../store/table/updated-at-codec.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import type { Unrepaired } from '../comparison/derived-items.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import { decodeStoredPatient } from '../comparison/patient-image.ts'
import { readable } from '../comparison/readable.ts'
import { imageOf, type RecordImage } from '../comparison/record-image.ts'
import type { Snapshot } from '../comparison/snapshot.ts'
import type { AnyRecord, Owners, VerifiedList } from './verified-lists.ts'

/**
 * Verifies that records show the current names of their patients, doctors and invoices, which exist. An outdated name whose owner is
 * still marked stale is not a difference: stale-owners.ts reports the owner.
 */
export function copiedNameChecker(
  { table, clinic, commit, examineAll }: Inspection,
  verified: VerifiedList<AnyRecord>,
  { held }: Unrepaired,
) {
  const { entity } = verified

  const ownerKeys = ({ patient, doctor, invoice }: ListPosition): Readonly<Record<string, Key>> => ({
    patient: patientKey(clinic, patient),
    ...(doctor !== undefined && { doctor: doctorKey(clinic, doctor) }),
    ...(invoice !== undefined && { invoice: calendarKey(clinic, INVOICES.entityCode, invoice) }),
  })

  /** The owners of a record's names, those that do not exist, and the record with current names if it shows others. */
  function compare({ record, position }: RecordImage<AnyRecord>, stored: ReadonlyMap<string, Item>) {
    const owners = Object.entries(ownerKeys(position)).map(([name, key]) => ({
      name,
      id: key.sk,
      item: stored.get(keyText(key)),
    }))
    const missing = owners.filter(({ item }) => !item).map(({ name, id }) => `${name} ${id}`)
    // There is nothing to compare with an owner that is missing or unreadable.
    const current: Owners = Object.fromEntries(
      owners.flatMap(({ name, item }) => (item ? [[name, readOwner[name]?.(item)]] : [])),
    )
    const isComplete = owners.every(({ name }) => current[name as keyof Owners])
    const after = isComplete ? verified.withCurrentNames(record, current) : record
    return { owners, missing, after: isSameRecord<AnyRecord>(record, after) ? null : after }
  }

  const readOwner: Readonly<Record<string, (item: Item) => unknown>> = {
    patient: decodeStoredPatient,
    doctor: (item) => readable(() => toDoctor(item)),
    invoice: (item) => imageOf<Invoice>(INVOICES, item)?.record,
  }

  async function recheck({ id }: RecordImage<AnyRecord>, read: Snapshot): Promise<Finding | null> {
    const key = calendarKey(clinic, entity.entityCode, id)
    const item = await read.get(key)
    const image = item && imageOf(entity, item)
    if (!image) return null
    const { patient, doctor } = image.position
    const keys = Object.values(ownerKeys(image.position))
    const { missing, after, owners } = compare(image, byKey(await read.getMany(keys)))
    // What rows of a missing owner hold was reported with the owner, and it is not certain who owns a record that its rows contradict.
    if ([key, ...keys].some(({ sk }) => held.has(sk))) return null
    if (missing.length > 0) return findingOf('dangling_reference', key, null, missing.join(', '))
    // A mark is removed only after all records are refreshed.
    const marks = await read.getMany([
      staleCopiesKey(clinic, patientOwner(patient)),
      ...(doctor === undefined ? [] : [staleCopiesKey(clinic, doctorOwner(doctor))]),
    ])
    if (!after || marks.length > 0) return null
    const repair = () =>
      commit((changes) => {
        calendarList<AnyRecord, never>({ table }, entity).change(changes, image, after)
        for (const { item: owner } of owners)
          if (owner) changes.requireVersion({ pk: owner.pk, sk: owner.sk }, owner.v ?? 0)
      })
    return findingOf('stale_copy', key, repair)
  }

  return async (records: readonly Item[]): Promise<void> => {
    const images = records.flatMap((item) => imageOf(entity, item) ?? [])
    const keys = images.flatMap(({ position }) => Object.values(ownerKeys(position)))
    const distinct = [...new Map(keys.map((key) => [keyText(key), key])).values()]
    const owners = byKey(await table.getMany(distinct))
    const isSuspect = (image: RecordImage<AnyRecord>) => {
      const { missing, after } = compare(image, owners)
      return missing.length > 0 || after !== null
    }
    await examineAll(images.filter(isSuspect), recheck)
  }
}

const byKey = (items: readonly Item[]): Map<string, Item> =>
  new Map(items.map((item) => [keyText(item), item]))
