/**
 * The states that a restore writes: those of the copy, with present names. A record of a patient who is erased now is as it
 * would be if the erasure had followed the time that is restored: amounts and dates come back, personal data does not.
 */
import { isDeepStrictEqual } from 'node:util'
import { closeAs, isUpcoming } from '../../../domain/booking/appointment-actions.ts'
import type { ClinicId } from '../../../domain/clinic.ts'
import { wallClock } from '../../../domain/clock.ts'
import { eraseFields } from '../../../domain/field-policy.ts'
import { applyPayments } from '../../../domain/money/invoice.ts'
import { PATIENT_FIELDS, type Patient } from '../../../domain/patients/patient.ts'
import type { StoredRecord } from '../../../store/calendar/calendar-entity.ts'
import { calendarList } from '../../../store/calendar/calendar-list.ts'
import { invoiceStore } from '../../../store/calendar/invoices.ts'
import { paymentStore } from '../../../store/calendar/payments.ts'
import { clinicStore } from '../../../store/clinics.ts'
import { doctorStore } from '../../../store/doctors.ts'
import { type Provenance, provenanceOf } from '../../../store/external-ids/provenance.ts'
import { patientStore, type StoredPatient } from '../../../store/patients/patients.ts'
import { isSameRecord } from '../../../store/table/updated-at-codec.ts'
import { type AnyRecord, type ListName, VERIFIED_LISTS } from '../../verify/calendar/verified-lists.ts'
import type { ClinicTables } from './comparison.ts'

export type RestoredState = {
  /** Null for a record that does not exist now. */
  readonly before: StoredRecord<AnyRecord> | null
  readonly after: AnyRecord
  readonly provenance: Provenance
  /** The number of the record's events so far. */
  readonly events: number
  /** The state follows from this version of the patient. */
  readonly patient: StoredPatient
}

/** Whether a record has its restored state already. */
export const isRestored = ({ before, after, provenance }: RestoredState): boolean =>
  before !== null &&
  isDeepStrictEqual(provenanceOf(before), provenance) &&
  isSameRecord<AnyRecord>(before.record, after)

export function restoredStates({ table, copy }: ClinicTables, clinic: ClinicId) {
  const patients = patientStore({ table })
  const doctors = doctorStore({ table })
  const payments = paymentStore({ table })
  const earlierInvoices = invoiceStore({ table: copy })

  /**
   * The states of records by id. One that the copy lacks keeps its own, with the balance of its payments.
   * @throws RangeError if the patient of a record does not exist
   */
  async function read(name: ListName, ids: readonly string[]): Promise<Map<string, RestoredState>> {
    const verified = VERIFIED_LISTS[name]
    const [now, then] = await Promise.all(
      [table, copy].map((one) => calendarList({ table: one }, verified.entity).findMany(clinic, ids)),
    )
    const bases = ids.flatMap((id) => then?.get(id) ?? now?.get(id) ?? [])
    const owners = await ownersOf(bases)
    const found = await patients.findMany(clinic, distinct(owners.values()))
    const treating = await doctors.findMany(
      clinic,
      distinct(bases.flatMap(({ record }) => doctorOf(record) ?? [])),
    )
    const states = new Map<string, RestoredState>()
    for (const base of bases) {
      const { id } = base.record
      const patient = found.get(owners.get(id) ?? '')
      if (!patient) throw new RangeError(`the patient of ${name} ${id} does not exist`)
      const doctor = treating.get(doctorOf(base.record) ?? '')
      const before = now?.get(id) ?? null
      const named = verified.withCurrentNames(withOwner(base.record, patient), { patient, doctor })
      states.set(id, {
        before,
        after: await complete(named, patient, before?.record),
        provenance: patient.erasedAt ? {} : provenanceOf(base),
        events: (before ?? base).events,
        patient,
      })
    }
    return states
  }

  /**
   * The patients of records, by the record's id. A payment of an erased patient's invoice is that patient's: an erasure takes back what
   * a correction of the invoice had moved (copied-names.ts).
   */
  async function ownersOf(bases: readonly StoredRecord<AnyRecord>[]): Promise<Map<string, string>> {
    const payments = bases.flatMap(({ record }) => ('invoice' in record ? [record] : []))
    const invoices = await earlierInvoices.findMany(
      clinic,
      distinct(payments.map(({ invoice }) => invoice.id)),
    )
    const payers = [...invoices.values()].map(({ record }) => record.patient.id)
    const found = await patients.findMany(clinic, distinct(payers))
    const owners = new Map(bases.map(({ record }) => [record.id, record.patient.id]))
    for (const { id, invoice } of payments) {
      const payer = invoices.get(invoice.id)?.record.patient.id
      if (payer !== undefined && found.get(payer)?.erasedAt) owners.set(id, payer)
    }
    return owners
  }

  /** The record with what follows from others: the balance of an invoice, and the cancellation by an erasure. */
  async function complete(
    record: AnyRecord,
    { erasedAt }: StoredPatient,
    before: AnyRecord | undefined,
  ): Promise<AnyRecord> {
    if ('lineItems' in record)
      return applyPayments(record, await payments.allOf(clinic, 'invoice', record.id))
    if (!('startTime' in record) || erasedAt === null) return record
    const { timezone } = await clinicStore({ table }).requireNotDeleting(clinic)
    if (!isUpcoming(record, wallClock(Date.parse(erasedAt), timezone))) return record
    // The erasure itself has cancelled it a moment later.
    const cancelledAt = before && 'cancelledAt' in before ? before.cancelledAt : null
    const verdict = closeAs(record, 'cancelled', { at: cancelledAt ?? erasedAt })
    return verdict.kind === 'done' ? verdict.appointment : record
  }

  return { read }
}

/** The state of a patient that a restore writes: of one who is erased now, only what an erasure keeps. */
export function restoredPatient(before: StoredPatient, then: StoredPatient): StoredPatient {
  const { ordinal, version, events, erasedAt } = before
  // The earlier state is written at the position that the patient has now.
  const after = {
    ...then,
    ordinal,
    version,
    events,
    // What the patient declined since stays declined.
    acceptsSms: before.acceptsSms && then.acceptsSms,
    acceptsEmail: before.acceptsEmail && then.acceptsEmail,
  }
  if (erasedAt === null) return after
  const erased = eraseFields<Patient>(after, PATIENT_FIELDS)
  return { ...after, ...erased, erasedAt, imported: undefined, isLinkedByApi: undefined }
}

/** Whether a patient has no change, apart from the time of the last one. */
export const isSamePatient = (before: StoredPatient, after: StoredPatient): boolean =>
  isDeepStrictEqual(
    { ...before, ...provenance(before), updatedAt: null },
    { ...after, ...provenance(after), updatedAt: null },
  )

const provenance = ({ imported, isLinkedByApi }: Provenance) => ({ imported, isLinkedByApi })

const distinct = (ids: Iterable<string>): string[] => [...new Set(ids)]

const doctorOf = (record: AnyRecord): string | undefined =>
  'doctor' in record ? record.doctor?.id : undefined

const withOwner = <R extends AnyRecord>(record: R, { id }: StoredPatient): R => ({
  ...record,
  patient: { ...record.patient, id },
})
