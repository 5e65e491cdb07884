import type { Invoice } from '../../../domain/money/invoice.ts'
import { calendarList } from '../../../store/calendar/calendar-list.ts'
import { INVOICES } from '../../../store/calendar/invoices.ts'
import { doctorStore } from '../../../store/doctors.ts'
import { calendarKey, ownerPartition } from '../../../store/keys/calendar.ts'
import { doctorKey } from '../../../store/keys/clinics.ts'
import { doctorOwner, patientOwner, staleCopiesKey } from '../../../store/keys/copies.ts'
import { type Key, shortId } from '../../../store/keys/key.ts'
import { patientKey } from '../../../store/keys/patients.ts'
import { Changeset } from '../../../store/table/changeset.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import type { Finding, Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import type { KeySums } from '../comparison/key-sums.ts'
import { decodeStoredPatient } from '../comparison/patient-image.ts'
import { imageOf, keyText, type RecordImage } from '../comparison/record-image.ts'
import type { AnyRecord, Owners, VerifiedList } from '../comparison/verified-lists.ts'

/** The owners of names that a page of records copies, by id; null for an owner that exists but is unreadable. */
type LoadedOwners = {
  readonly patients: ReadonlyMap<string, Owners['patient'] | null>
  readonly doctors: ReadonlyMap<string, NonNullable<Owners['doctor']>>
  readonly invoices: ReadonlyMap<string, RecordImage<Invoice> | null>
}

/**
 * Verifies that records show the current names of their patient, doctor and invoice. An outdated name whose owner is
 * still marked stale is not a difference: stale-owners.ts reports the owner.
 */
export function copiedNameChecker<R extends AnyRecord>(
  { table, clinic, examine }: Inspection,
  verified: VerifiedList<R>,
  counts: KeySums,
) {
  const { entity } = verified
  const list = calendarList<R, never>({ table }, entity)
  const doctors = doctorStore({ table })

  async function check(items: readonly Item[]): Promise<void> {
    const images = items.map((item) => imageOf(clinic, entity, item)).filter((image) => image !== null)
    const known = await loadOwners(images)
    for (const image of images) countUnreadRows(image, known)
    const suspects = images.filter((image) => {
      const owners = resolveOwners(image, known)
      return owners === 'missing' || (owners && isStale(image.record, owners))
    })
    await forEachConcurrent(suspects, ({ id }) => examine(recheck(id)))
  }

  /** The lists of owners that do not exist are not read: a row that is there must not make its record a suspect. */
  function countUnreadRows({ id, position, rowKeys }: RecordImage<R>, known: LoadedOwners): void {
    const { patient, invoice } = position
    const unread = [
      ...(known.patients.has(patient) ? [] : [ownerPartition(clinic, entity.entityCode, 'patient', patient)]),
      ...(invoice === undefined || known.invoices.has(invoice)
        ? []
        : [ownerPartition(clinic, entity.entityCode, 'invoice', invoice)]),
    ]
    for (const key of rowKeys) if (unread.includes(key.pk)) counts.find(shortId(id), keyText(key))
  }

  async function loadOwners(images: readonly RecordImage<R>[]): Promise<LoadedOwners> {
    const ids = (name: 'patient' | 'doctor' | 'invoice') => [
      ...new Set(images.flatMap(({ position: place }) => place[name] ?? [])),
    ]
    const [patients, named, invoices] = await Promise.all([
      table.getMany(ids('patient').map((id) => patientKey(clinic, id))),
      doctors.findMany(clinic, ids('doctor')),
      table.getMany(ids('invoice').map((id) => calendarKey(clinic, INVOICES.entityCode, id))),
    ])
    return {
      patients: new Map(patients.map((item) => [item.sk, decodeStoredPatient(item)])),
      doctors: named,
      invoices: new Map(invoices.map((item) => [item.sk, imageOf(clinic, INVOICES, item)])),
    }
  }

  const isStale = (record: R, owners: Owners): boolean =>
    JSON.stringify(verified.copiedValues(record)) !==
    JSON.stringify(verified.copiedValues(verified.withCurrentNames(record, owners)))

  /** Reads the owner first, then its stale mark, then the record: a mark is removed only after all records are refreshed. */
  const recheck =
    (id: string): Recheck =>
    async () => {
      const key = calendarKey(clinic, entity.entityCode, id)
      const early = await imageAt(key)
      if (!early) return null
      const known = await loadOwners([early])
      const staleMarkers = await table.getMany(staleMarkerKeys(early))
      const image = await imageAt(key)
      const again = await loadOwners([early])
      if (image?.version !== early.version || versionsOf(known) !== versionsOf(again)) return 'moving'
      const owners = resolveOwners(image, known)
      if (owners === 'missing') return danglingFinding(image, known)
      if (!owners || staleMarkers.length > 0 || !isStale(image.record, owners)) return null
      return { differences: [{ kind: 'stale_copy', key }], repair: () => rewriteRecord(image, owners, known) }
    }

  async function imageAt(key: Key): Promise<RecordImage<R> | null> {
    const item = await table.get(key)
    return item ? imageOf(clinic, entity, item) : null
  }

  const staleMarkerKeys = ({ position: place }: RecordImage<R>): Key[] => [
    staleCopiesKey(clinic, patientOwner(place.patient)),
    ...(place.doctor === undefined ? [] : [staleCopiesKey(clinic, doctorOwner(place.doctor))]),
  ]

  function rewriteRecord(image: RecordImage<R>, owners: Owners, known: LoadedOwners): Promise<void> {
    const { position: place } = image
    const changes = new Changeset(table, clinic)
    list.change(changes, image, verified.withCurrentNames(image.record, owners))
    changes.requireVersion(patientKey(clinic, place.patient), owners.patient.version)
    if (owners.doctor) changes.requireVersion(doctorKey(clinic, owners.doctor.id), owners.doctor.version)
    const invoice = known.invoices.get(place.invoice ?? '')
    if (invoice) changes.requireVersion(invoice.key, invoice.version)
    return changes.commit()
  }

  return { check }
}

/** Null if one of them is unreadable: there is nothing to compare with. */
function resolveOwners(
  { position: place }: RecordImage<AnyRecord>,
  known: LoadedOwners,
): Owners | 'missing' | null {
  const patient = known.patients.get(place.patient)
  const doctor = place.doctor === undefined ? null : known.doctors.get(place.doctor)
  const invoice = place.invoice === undefined ? null : known.invoices.get(place.invoice)
  if (patient === undefined || doctor === undefined || invoice === undefined) return 'missing'
  if (patient === null || (place.invoice !== undefined && invoice === null)) return null
  return { patient, doctor, invoice: invoice?.record ?? null }
}

function danglingFinding({ key, position: place }: RecordImage<AnyRecord>, known: LoadedOwners): Finding {
  const missing = [
    ...(known.patients.has(place.patient) ? [] : [`patient ${place.patient}`]),
    ...(place.doctor === undefined || known.doctors.has(place.doctor) ? [] : [`doctor ${place.doctor}`]),
    ...(place.invoice === undefined || known.invoices.has(place.invoice) ? [] : [`invoice ${place.invoice}`]),
  ]
  return { differences: [{ kind: 'dangling_reference', key, note: missing.join(', ') }], repair: null }
}

/** Equal if none of them has changed. */
const versionsOf = ({ patients, doctors, invoices }: LoadedOwners): string =>
  JSON.stringify(
    [patients, doctors, invoices].map((owners) => [...owners].map(([id, owner]) => [id, owner?.version])),
  )
