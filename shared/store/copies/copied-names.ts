/**
 * Names and addresses are copied into the records that lists show, and holidays into doctors. A change of one marks its copies as stale in its own
 * transaction (Changeset.markStale); refreshing them afterwards can be interrupted and repeated. An interrupted refresh is
 * finished by a sweep (due-refreshes.ts).
 */
import {
  APPOINTMENT_FIELDS,
  type Appointment,
  type PersonReference,
} from '../../domain/booking/appointment.ts'
import type { ClinicId } from '../../domain/clinic.ts'
import { eraseFields } from '../../domain/field-policy.ts'
import { MESSAGE_FIELDS, type Message } from '../../domain/messages/message.ts'
import { INVOICE_FIELDS, type Invoice } from '../../domain/money/invoice.ts'
import { PAYMENT_FIELDS, type Payment } from '../../domain/money/payment.ts'
import { fullName } from '../../domain/patients/patient.ts'
import { appointmentStore } from '../calendar/appointments.ts'
import type { RecordStore } from '../calendar/calendar-list.ts'
import { invoiceStore } from '../calendar/invoices.ts'
import { paymentStore } from '../calendar/payments.ts'
import { doctorStore } from '../doctors.ts'
import { externalIds } from '../external-ids/links.ts'
import { holidayStore } from '../holidays.ts'
import { doctorKey, holidaysKey } from '../keys/clinics.ts'
import {
  dueRefreshKey,
  holidaysOwner,
  parseOwner,
  staleCopiesKey,
  staleCopiesPartition,
} from '../keys/copies.ts'
import type { Key } from '../keys/key.ts'
import { patientKey } from '../keys/patients.ts'
import { messageStore } from '../messages/messages.ts'
import { patientStore, type StoredPatient } from '../patients/patients.ts'
import type { Changeset } from '../table/changeset.ts'
import { ifConditionHolds } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import type { Item } from '../table/write-requests.ts'
import { rewriteRecords } from './rewrite-records.ts'

export function copiedNames(table: Table) {
  const patients = patientStore({ table })
  const doctors = doctorStore({ table })
  const appointments = appointmentStore({ table })
  const invoices = invoiceStore({ table })
  const payments = paymentStore({ table })
  const messages = messageStore({ table })
  const external = externalIds({ table })
  const holidays = holidayStore({ table })

  /** Patients, doctors and holidays whose copies are stale. */
  async function staleOwners(clinic: ClinicId): Promise<string[]> {
    const items = await table.query({ pk: staleCopiesPartition(clinic), limit: 100_000 })
    return items.map(({ sk }) => sk)
  }

  /** Refreshes all stale copies, including those that an interrupted run left. */
  async function refreshAll(clinic: ClinicId): Promise<void> {
    for (const owner of await staleOwners(clinic)) await refresh(clinic, owner)
  }

  async function refresh(clinic: ClinicId, owner: string): Promise<void> {
    const key = staleCopiesKey(clinic, owner)
    const staleCopies = await table.get(key)
    if (!staleCopies) return
    const { kind, id } = parseOwner(owner)
    // A mark that was deleted and set again may have the same version, so its deletion depends on the owner's version too.
    const source = SOURCES[kind](clinic, id)
    const version = (await table.get(source))?.v
    if (kind === 'patient') await refreshPatientCopies(clinic, id)
    else if (kind === 'doctor') await refreshDoctorCopies(clinic, id)
    else await holidays.refreshCopies(clinic)
    // If it was changed again in the meantime, the run of that change refreshes its copies, or the sweep does.
    const removal = table.transact([
      table.deleteWrite(key, staleCopies.v ?? 0),
      ...dueItems(clinic, staleCopies).map((dueItem) => table.deleteWrite(dueItem)),
      ...(version === undefined ? [] : [table.checkWrite(source, version)]),
    ])
    await ifConditionHolds(removal)
  }

  /** Brings the copies of holidays up to date, also where no mark says that they are not. Returns how many it changed. */
  async function refreshHolidays(clinic: ClinicId): Promise<number> {
    const refreshed = await holidays.refreshCopies(clinic)
    await refresh(clinic, holidaysOwner(clinic))
    return refreshed
  }

  async function refreshPatientCopies(clinic: ClinicId, id: string): Promise<void> {
    const refreshList = async <R extends { readonly id: string; readonly patient: PersonReference }>(
      list: RecordStore<R>,
      withFreshCopies: (record: R, patient: StoredPatient) => R,
      eraseMore: (changes: Changeset, record: R) => Promise<void> = async () => {},
    ) =>
      rewriteRecords(table, clinic, list, await list.allOf(clinic, 'patient', id), async (record) => {
        // An import may have moved the record to another patient since.
        const patient = record.patient.id === id && (await patients.find(clinic, id))
        if (!patient) return null
        const after = withFreshCopies(record, patient)
        const isErasure = patient.erasedAt !== null
        const erase = (changes: Changeset) => eraseMore(changes, record)
        return { after, source: patientKey(clinic, id), version: patient.version, isErasure, erase }
      })
    await refreshList(appointments, refreshAppointmentCopy, (changes, { id, externalId }) =>
      external.move(changes, 'appointment', id, externalId, null),
    )
    await refreshList(invoices, refreshInvoiceCopy)
    await refreshList(payments, refreshPaymentCopy)
    await refreshList(messages, refreshMessageCopy)
    if ((await patients.find(clinic, id))?.erasedAt) await takeBackPayments(clinic, id)
  }

  /**
   * Erases the payments of an erased patient's invoices that are another patient's: a correction of the invoice had moved them, and
   * was interrupted (invoice-correction.ts). None is moved after the erasure has begun.
   */
  async function takeBackPayments(clinic: ClinicId, id: string): Promise<void> {
    for (const invoice of await invoices.allOf(clinic, 'patient', id)) {
      const ofInvoice = await payments.allOf(clinic, 'invoice', invoice.id)
      const moved = ofInvoice.filter(({ patient }) => patient.id !== id)
      await rewriteRecords(table, clinic, payments, moved, async (payment) => {
        const patient = await patients.find(clinic, id)
        if (!patient) return null
        const takenBack = {
          ...payment,
          invoice: { id: invoice.id, number: invoice.number },
          patient: patientReference(patient),
        }
        const after = refreshPaymentCopy(takenBack, patient)
        return { after, source: patientKey(clinic, id), version: patient.version, isErasure: true }
      })
    }
  }

  async function refreshDoctorCopies(clinic: ClinicId, id: string): Promise<void> {
    // An appointment whose status changes during a pass moves within the list, and the pass may miss it.
    while ((await refreshDoctorCopiesPass(clinic, id)) > 0);
  }

  async function refreshDoctorCopiesPass(clinic: ClinicId, id: string): Promise<number> {
    const records = await appointments.allOf(clinic, 'doctor', id)
    return rewriteRecords(table, clinic, appointments, records, async (record) => {
      const doctor = record.doctor.id === id && (await doctors.find(clinic, id))
      if (!doctor) return null
      const after = { ...record, doctor: { id, fullName: doctor.fullName } }
      return { after, source: doctorKey(clinic, id), version: doctor.version }
    })
  }

  return { staleOwners, refresh, refreshAll, refreshHolidays }
}

/** What the copies of an owner are made from. */
const SOURCES = { patient: patientKey, doctor: doctorKey, holidays: holidaysKey } satisfies {
  readonly [Kind in ReturnType<typeof parseOwner>['kind']]: (clinic: ClinicId, id: string) => Key
}

/** The due item that was written with a mark; marks of earlier releases have none. */
const dueItems = (clinic: ClinicId, { sk, at }: Item): Key[] =>
  at === undefined ? [] : [dueRefreshKey({ clinic, owner: sk, at: at as number })]

const patientReference = (patient: StoredPatient) => ({ id: patient.id, fullName: fullName(patient) })

/** The record with the patient's current name, or without personal data if the patient was erased. */
export const refreshAppointmentCopy = (appointment: Appointment, patient: StoredPatient): Appointment =>
  patient.erasedAt
    ? eraseFields(appointment, APPOINTMENT_FIELDS)
    : { ...appointment, patient: patientReference(patient) }

export const refreshInvoiceCopy = (invoice: Invoice, patient: StoredPatient): Invoice =>
  patient.erasedAt
    ? eraseFields(invoice, INVOICE_FIELDS)
    : { ...invoice, patient: { ...patientReference(patient), email: patient.emailAddress } }

export const refreshPaymentCopy = (payment: Payment, patient: StoredPatient): Payment =>
  patient.erasedAt ? eraseFields(payment, PAYMENT_FIELDS) : { ...payment, patient: patientReference(patient) }

export const refreshMessageCopy = (message: Message, patient: StoredPatient): Message =>
  patient.erasedAt ? eraseFields(message, MESSAGE_FIELDS) : { ...message, patient: patientReference(patient) }
