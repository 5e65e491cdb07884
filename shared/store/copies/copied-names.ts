/**
 * Names and addresses are copied into the records that lists show. When one changes, the change owes it to those
 * records (Changeset.owe, in its own transaction); paying the debt is safe to break off and to repeat.
 */
import { isDeepStrictEqual } from 'node:util'
import { APPOINTMENT_FIELDS, type Appointment } from '../../domain/appointment.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { eraseFields } from '../../domain/field-policy.ts'
import { INVOICE_FIELDS, type Invoice } from '../../domain/invoice.ts'
import { MESSAGE_FIELDS, type Message } from '../../domain/message.ts'
import { fullName } from '../../domain/patient.ts'
import { PAYMENT_FIELDS, type Payment } from '../../domain/payment.ts'
import { appointmentStore } from '../calendar/appointments.ts'
import type { StoredRecord } from '../calendar/calendar-entity.ts'
import type { RecordList } from '../calendar/calendar-list.ts'
import { invoiceStore } from '../calendar/invoices.ts'
import { paymentStore } from '../calendar/payments.ts'
import { doctorStore } from '../doctors.ts'
import { doctorKey } from '../keys/clinics.ts'
import { parseOwner, staleCopiesKey, staleCopiesPartition } from '../keys/copies.ts'
import { patientKey } from '../keys/patients.ts'
import { messageStore } from '../messages/messages.ts'
import { patientStore, type StoredPatient } from '../patients/patients.ts'
import { Changeset } from '../table/changeset.ts'
import { commitPacked, type Unit } from '../table/commit-packed.ts'
import { ConditionFailed, chunked, type Table } from '../table/table.ts'

const BATCH = 50

export function copiedNames(table: Table) {
  const patients = patientStore({ table })
  const doctors = doctorStore({ table })
  const appointments = appointmentStore({ table })
  const invoices = invoiceStore({ table })
  const payments = paymentStore({ table })
  const messages = messageStore({ table })

  /** Who still has copies of an old name. */
  async function staleOwners(clinic: ClinicId): Promise<string[]> {
    const items = await table.query({ pk: staleCopiesPartition(clinic), limit: 100_000 })
    return items.map(({ sk }) => sk)
  }

  /** Pays every debt there is, those of a run that broke off too. */
  async function refreshAll(clinic: ClinicId): Promise<void> {
    for (const owner of await staleOwners(clinic)) await refresh(clinic, owner)
  }

  async function refresh(clinic: ClinicId, owner: string): Promise<void> {
    const key = staleCopiesKey(clinic, owner)
    const staleCopies = await table.get(key)
    if (!staleCopies) return
    const { kind, id } = parseOwner(owner)
    if (kind === 'patient') await refreshPatientCopies(clinic, id)
    else await refreshDoctorCopies(clinic, id)
    try {
      await table.transact([table.deleteWrite(key, staleCopies.v as number)])
    } catch (error) {
      // Changed again meanwhile: that change's own run pays for it.
      if (!(error instanceof ConditionFailed)) throw error
    }
  }

  async function refreshPatientCopies(clinic: ClinicId, id: string): Promise<void> {
    const copy = <R extends { readonly id: string }>(
      list: RecordList<R>,
      refreshed: (record: R, patient: StoredPatient) => R,
    ) =>
      rewrite(
        clinic,
        list,
        () => list.allOf(clinic, 'patient', id),
        async (stored) => {
          const patient = (await patients.findMany(clinic, [id])).get(id)
          if (!patient) return null
          return {
            after: refreshed(stored.record, patient),
            key: patientKey(clinic, id),
            version: patient.version,
          }
        },
      )
    await copy(appointments, refreshAppointmentCopy)
    await copy(invoices, refreshInvoiceCopy)
    await copy(payments, refreshPaymentCopy)
    await copy(messages, refreshMessageCopy)
  }

  async function refreshDoctorCopies(clinic: ClinicId, id: string): Promise<void> {
    // An appointment whose status changes meanwhile moves in the list that is walked here, and may be passed by.
    while ((await refreshDoctorCopiesPass(clinic, id)) > 0);
  }

  async function refreshDoctorCopiesPass(clinic: ClinicId, id: string): Promise<number> {
    return rewrite(
      clinic,
      appointments,
      () => appointments.allOf(clinic, 'doctor', id),
      async ({ record }) => {
        const doctor = await doctors.find(clinic, id)
        if (!doctor) return null
        const after = { ...record, doctor: { id, fullName: doctor.fullName } }
        return { after, key: doctorKey(clinic, id), version: doctor.version }
      },
    )
  }

  /** Rewrites records under the condition that whoever they copy has not changed again. */
  async function rewrite<R extends { readonly id: string }>(
    clinic: ClinicId,
    list: RecordList<R>,
    all: () => Promise<R[]>,
    change: (
      stored: StoredRecord<R>,
    ) => Promise<{ after: R; key: { pk: string; sk: string }; version: number } | null>,
  ): Promise<number> {
    const buildChangeset = async (stored: StoredRecord<R> | null | undefined): Promise<Changeset | null> => {
      const changed = stored && (await change(stored))
      if (!changed || isDeepStrictEqual(stored.record, changed.after)) return null
      const changes = new Changeset(table, clinic)
      list.change(changes, stored, changed.after)
      changes.requireVersion(changed.key, changed.version)
      return changes
    }
    let rewritten = 0
    for (const batch of chunked(await all(), BATCH)) {
      const stored = await list.findMany(
        clinic,
        batch.map(({ id }) => id),
      )
      const units: Unit[] = []
      for (const { id } of batch) {
        const changes = await buildChangeset(stored.get(id))
        if (changes) units.push({ changes, rebuild: async () => buildChangeset(await list.find(clinic, id)) })
      }
      await commitPacked(table, clinic, units)
      rewritten += units.length
    }
    return rewritten
  }

  return { staleOwners, refresh, refreshAll }
}

const patientReference = (patient: StoredPatient) => ({ id: patient.id, fullName: fullName(patient) })

/** A patient's record with the name of now; of an erased patient, without personal data. */
export const refreshAppointmentCopy = (appointment: Appointment, patient: StoredPatient): Appointment =>
  patient.erased
    ? eraseFields(appointment, APPOINTMENT_FIELDS)
    : { ...appointment, patient: patientReference(patient) }

export const refreshInvoiceCopy = (invoice: Invoice, patient: StoredPatient): Invoice =>
  patient.erased
    ? eraseFields(invoice, INVOICE_FIELDS)
    : { ...invoice, patient: { ...patientReference(patient), email: patient.emailAddress } }

export const refreshPaymentCopy = (payment: Payment, patient: StoredPatient): Payment =>
  patient.erased ? eraseFields(payment, PAYMENT_FIELDS) : { ...payment, patient: patientReference(patient) }

export const refreshMessageCopy = (message: Message, patient: StoredPatient): Message =>
  patient.erased ? eraseFields(message, MESSAGE_FIELDS) : { ...message, patient: patientReference(patient) }
