/** Confirmations by the operator before a clinic gets another name, time zone or currency. */
import { isDeepStrictEqual } from 'node:util'
import type { Command } from 'commander'
import type { Clinic } from '../../../shared/domain/clinic.ts'
import { fold } from '../../../shared/domain/patients/search-text.ts'
import { type ClinicChanges, clinicStore } from '../../../shared/store/clinics.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { confirm } from '../tool/confirmation.ts'

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
  const consequences = [
    ...(timezone
      ? [
          `The time zone of ${clinic.name} changes from ${clinic.timezone} to ${timezone}.`,
          '  Dates and clock times stay, which are other instants in the new zone: of appointments, working hours, days off and holidays.',
          '  Dates of invoices and payments stay. Times such as created_at stay the same instants, and are shown in the new zone.',
        ]
      : []),
    ...(currency
      ? [
          `The currency of ${clinic.name} changes from ${clinic.currency} to ${currency}.`,
          '  Nothing is converted: invoices, payments, treatments and price lists keep their currency and amounts.',
        ]
      : []),
  ]
  if (consequences.length > 0) await confirm(command, consequences)
}
