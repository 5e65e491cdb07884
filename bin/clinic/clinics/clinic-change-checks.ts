/** Confirmations by the operator before a clinic gets another name, time zone or currency. */
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { fold } from '../../../shared/domain/patients/search-text.ts'
import { priceListStore, treatmentStore } from '../../../shared/store/catalogue.ts'
import { type ClinicChanges, clinicStore } from '../../../shared/store/clinics.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { holidayStore } from '../../../shared/store/holidays.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { recordCounts } from '../export/record-count.ts'
import { confirm } from '../tool/confirmation.ts'
import { counted } from '../tool/output.ts'

/** The changes that differ from what is stored. */
export const differingSettings = (clinic: Clinic, changes: ClinicChanges): ClinicChanges =>
  Object.fromEntries(
    Object.entries(changes).filter(
      ([field, value]) => !isDeepStrictEqual(clinic[field as keyof Clinic] ?? null, value),
    ),
  )

/** Asks before two clinics have one name. @throws CommandFailure unless that is confirmed */
export async function confirmName(
  table: Table,
  name: string,
  own: Clinic | null,
  command: Command,
): Promise<void> {
  const clinics = await clinicStore({ table }).list()
  const same = clinics.filter((one) => one.id !== own?.id && fold(one.name) === fold(name))
  if (same.length === 0) return
  await confirm(command, [
    `There is a clinic of this name already: ${same.map(({ id }) => id).join(', ')}. Then two have it, and only their ids tell them apart.`,
  ])
}

/** Asks before changes that concern what is stored already. @throws CommandFailure unless they are confirmed */
export async function confirmChanges(
  table: Table,
  clinic: Clinic,
  { name, timezone, currency }: ClinicChanges,
  command: Command,
): Promise<void> {
  if (name) await confirmName(table, name, clinic, command)
  if (!timezone && !currency) return
  const counts = await countRecords(table, clinic)
  const consequences = [
    ...(timezone ? timezoneConsequences(clinic, timezone, counts) : []),
    ...(currency ? currencyConsequences(clinic, currency, counts) : []),
  ]
  if (consequences.length > 0) await confirm(command, consequences)
}

type Counts = Awaited<ReturnType<typeof countRecords>>

async function countRecords(table: Table, { id }: Clinic) {
  const [records, doctors, treatments, lists, holidays] = await Promise.all([
    recordCounts(table, id),
    doctorStore({ table }).list(id),
    treatmentStore({ table }).list(id),
    priceListStore({ table }).list(id),
    holidayStore({ table }).list(id),
  ])
  return {
    ...records,
    doctors: doctors.length,
    treatments: treatments.length,
    priceLists: lists.length,
    holidays: holidays.length,
  }
}

function timezoneConsequences(clinic: Clinic, timezone: string, counts: Counts): string[] {
  const { appointments, invoices, payments, messages, doctors, holidays } = counts
  if (appointments + invoices + payments + messages + doctors + holidays === 0) return []
  return [
    `The time zone of ${clinic.name} changes from ${clinic.timezone} to ${timezone}:`,
    `  Dates and clock times stay, which are other instants in the new zone: of ${counted(appointments, 'appointment')}, of the working hours and days off of ${counted(doctors, 'doctor')}, and of ${counted(holidays, 'holiday')}.`,
    `  Dates stay: of ${counted(invoices, 'invoice')}, ${counted(payments, 'payment')}, and those in the old zone under which ${counted(messages, 'message')} are listed.`,
    '  Times such as created_at stay the same instants, and are shown in the new zone.',
  ]
}

function currencyConsequences(clinic: Clinic, currency: string, counts: Counts): string[] {
  const { invoices, payments, treatments, priceLists } = counts
  if (invoices + payments + treatments + priceLists === 0) return []
  return [
    `The currency of ${clinic.name} changes from ${clinic.currency} to ${currency}:`,
    `  Nothing is converted: ${counted(invoices, 'invoice')} and ${counted(payments, 'payment')} keep their currency and amounts.`,
    `  ${counted(treatments, 'treatment')} and ${counted(priceLists, 'price list')} keep theirs, too. What is added from now on has ${currency}.`,
  ]
}
