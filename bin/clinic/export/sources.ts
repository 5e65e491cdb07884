/** Where the rows of each exported entity come from, and their order. */

import { renderInvoiceAmounts, renderLineItemFacts } from '../../../shared/api/invoices.ts'
import type { PriceList, Treatment } from '../../../shared/domain/booking/catalogue.ts'
import { type Doctor, isSameSpan } from '../../../shared/domain/booking/doctor.ts'
import { formatExceptions, formatSpan, formatTimeOff } from '../../../shared/domain/booking/doctor-days.ts'
import { formatWeeklyHours } from '../../../shared/domain/booking/working-hours.ts'
import type { ClinicId } from '../../../shared/domain/clinic.ts'
import { ERASED_RECIPIENT, type Message, PROVIDERS } from '../../../shared/domain/messages/message.ts'
import { followsDoctor, type Invoice, statedPaidAt } from '../../../shared/domain/money/invoice.ts'
import { renderMoney } from '../../../shared/domain/money/money.ts'
import type { Payment } from '../../../shared/domain/money/payment.ts'
import { fullName, type Patient } from '../../../shared/domain/patients/patient.ts'
import type { WithUpdatedAt } from '../../../shared/domain/with-updated-at.ts'
import { APPOINTMENTS } from '../../../shared/store/calendar/appointments.ts'
import type { CalendarEntity } from '../../../shared/store/calendar/calendar-entity.ts'
import { INVOICES } from '../../../shared/store/calendar/invoices.ts'
import { PAYMENTS } from '../../../shared/store/calendar/payments.ts'
import {
  departmentStore,
  priceListStore,
  roomStore,
  treatmentStore,
} from '../../../shared/store/catalogue.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { holidayStore } from '../../../shared/store/holidays.ts'
import { calendarKey } from '../../../shared/store/keys/calendar.ts'
import { type Key, sortableNumber } from '../../../shared/store/keys/key.ts'
import { patientKey } from '../../../shared/store/keys/patients.ts'
import { MESSAGES } from '../../../shared/store/messages/messages.ts'
import { toPatient } from '../../../shared/store/patients/patients.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import type { Item } from '../../../shared/store/table/write-requests.ts'
import { appointmentValues } from '../../../shared/sync/entities/appointments.ts'
import {
  departmentValues,
  priceListValues,
  roomValues,
  treatmentValues,
} from '../../../shared/sync/entities/catalogue.ts'
import { doctorValues } from '../../../shared/sync/entities/doctors.ts'
import { holidayValues } from '../../../shared/sync/entities/holidays.ts'
import { invoiceValues } from '../../../shared/sync/entities/invoices.ts'
import { messageValues } from '../../../shared/sync/entities/messages.ts'
import { patientValues } from '../../../shared/sync/entities/patients.ts'
import { paymentValues } from '../../../shared/sync/entities/payments.ts'
import type { StagedRow } from './staging.ts'

type Columns = Readonly<Record<string, unknown>>

export const doctorColumns = (doctor: Doctor): Columns => ({
  ...doctorValues(doctor),
  hours: formatWeeklyHours(doctor.hours) || null,
  breaks: formatWeeklyHours(doctor.breaks) || null,
  time_off: formatTimeOff(doctor.timeOff) || null,
  exceptions: formatExceptions(doctor.exceptions) || null,
})

export const treatmentColumns = (treatment: Treatment): Columns => ({
  ...treatmentValues(treatment),
  price: renderMoney(treatment.price, treatment.currency),
})

export const priceListColumns = (list: PriceList): Columns => ({
  ...priceListValues(list),
  items: list.items.map(({ treatmentId, price }) => ({
    treatment_external_id: treatmentId,
    price: renderMoney(price, list.currency),
  })),
})

export const patientColumns = (patient: Patient): Columns => ({
  ...patientValues(patient),
  full_name: fullName(patient),
  // No column says that the patient was erased. An inactive patient cannot get appointments or messages either.
  is_active: patient.isActive && patient.erasedAt === null,
})

/** `status` and `paid_at` are what the clinic set: payments determine what is shown. */
export const invoiceColumns = (invoice: Invoice): Columns => ({
  ...invoiceValues(invoice),
  paid_at: statedPaidAt(invoice),
  ...renderInvoiceAmounts(invoice),
  line_items: invoice.lineItems.map((item) => ({
    ...renderLineItemFacts(item, invoice.currency),
    doctor_external_id: followsDoctor(item, invoice) ? null : (item.doctor?.id ?? null),
    treatment_external_id: item.treatment?.id ?? null,
  })),
})

export const paymentColumns = (payment: Payment): Columns => ({
  ...paymentValues(payment),
  amount: renderMoney(payment.amount, payment.currency),
})

export const messageColumns = (message: Message): Columns => ({
  ...messageValues(message),
  // An erasure leaves none, and an import requires one.
  message: message.text || ERASED_RECIPIENT,
  provider: PROVIDERS[message.channel],
})

/** Records of one kind, which can be many. */
export type LargeSource = {
  readonly entity: string
  readonly keyOf: (clinic: ClinicId, id: string) => Key
  readonly row: (item: Item) => StagedRow
}

/** A small list, which is read as a whole. */
export type SmallSource = {
  readonly entity: string
  readonly read: (table: Table, clinic: ClinicId) => Promise<StagedRow[]>
}

/** The id in the clinic's own system. A record without one is exported under its id. */
const externalIdOf = (item: Item): string => item.xi ?? item.sk

function calendarSource<R>(
  entity: string,
  { entityCode, decode }: CalendarEntity<R, never>,
  columnsOf: (record: WithUpdatedAt<R>) => StagedRow['columns'],
  sortKeyOf: (record: WithUpdatedAt<R>) => string,
): LargeSource {
  return {
    entity,
    keyOf: (clinic, id) => calendarKey(clinic, entityCode, id),
    row: (item) => {
      const record = decode(item, item.sk)
      const externalId = externalIdOf(item)
      return {
        id: item.sk,
        externalId,
        sortKey: `${sortKeyOf(record)} ${externalId}`,
        columns: columnsOf(record),
      }
    },
  }
}

/**
 * Each after the entities that refer to it: whatever a row refers to exists by the time that its own entity is read. Sort keys do
 * not contain ids of records, which differ between clinics.
 */
export const LARGE_SOURCES: readonly LargeSource[] = [
  calendarSource('messages', MESSAGES, messageColumns, ({ acceptedAt }) => acceptedAt),
  calendarSource('payments', PAYMENTS, paymentColumns, ({ date, createdAt }) => `${date} ${createdAt}`),
  calendarSource('invoices', INVOICES, invoiceColumns, ({ issueDate, number }) => `${issueDate} ${number}`),
  calendarSource(
    'appointments',
    APPOINTMENTS,
    appointmentValues,
    ({ date, startTime }) => `${date} ${startTime}`,
  ),
  {
    entity: 'patients',
    keyOf: patientKey,
    // Patients are in order of creation, which an import keeps.
    row: (item) => ({
      id: item.sk,
      externalId: externalIdOf(item),
      sortKey: sortableNumber(item.o ?? 0),
      columns: patientColumns(toPatient(item)),
    }),
  },
]

type Listed = { readonly id: string; readonly externalId?: string | null }

const smallSource = <Entry extends Listed>(
  entity: string,
  open: (platform: { table: Table }) => { readonly list: (clinic: ClinicId) => Promise<Entry[]> },
  columnsOf: (entry: Entry) => StagedRow['columns'],
): SmallSource => ({
  entity,
  read: async (table, clinic) =>
    (await open({ table }).list(clinic)).map((entry) => {
      const externalId = entry.externalId ?? entry.id
      return { id: entry.id, externalId, sortKey: externalId, columns: columnsOf(entry) }
    }),
})

export const SMALL_SOURCES: readonly SmallSource[] = [
  smallSource('price-lists', priceListStore, priceListColumns),
  smallSource('treatments', treatmentStore, treatmentColumns),
  smallSource('rooms', roomStore, roomValues),
  {
    entity: 'holidays',
    read: async (table, clinic) => {
      const { holidays, imports } = await holidayStore({ table }).read(clinic)
      return holidays.map((holiday) => {
        // One that was added by hand is known by its days.
        const days = formatSpan(holiday)
        const imported = Object.values(imports).find((one) => isSameSpan(one, holiday))
        return {
          id: days,
          externalId: imported?.externalId ?? days,
          sortKey: `${holiday.from} ${holiday.to}`,
          columns: holidayValues(holiday),
        }
      })
    },
  },
  smallSource('doctors', doctorStore, doctorColumns),
  smallSource('departments', departmentStore, departmentValues),
]
