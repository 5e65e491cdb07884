/** What the rows of files are compared with: the people and the invoice numbers of the clinic. */

import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { partitionPages } from '../../../../shared/maintenance/walk/partition-pages.ts'
import { invoiceNumbers } from '../../../../shared/store/calendar/invoice-numbers.ts'
import { INVOICES } from '../../../../shared/store/calendar/invoices.ts'
import { calendarPartition } from '../../../../shared/store/keys/calendar.ts'
import { patientListPartition } from '../../../../shared/store/keys/patients.ts'
import { toPatient } from '../../../../shared/store/patients/patients.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { Item } from '../../../../shared/store/table/write-requests.ts'
import { type Lookups, personKey } from '../../../../shared/sync/entities/lookups.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'

/** Lookups for the rows of files, which are all of one clinic. */
export function clinicLookups(table: Table): Lookups {
  const people = valuesOfRecords(table, patientListPartition, (row) => {
    const patient = toPatient(row)
    return [patient.id, personKey(patient)]
  })
  const numbers = valuesOfRecords(
    table,
    (clinic) => calendarPartition(clinic, INVOICES.entityCode),
    ({ sk, no }) => [sk, String(no).normalize()],
  )
  const { holderOf } = invoiceNumbers(table)
  return {
    findAlike: async (clinic, created) => {
      const alike = new Map<string, string>()
      for (const patient of created) {
        const other = await people.findOther(clinic, personKey(patient), patient.id)
        if (other !== null) alike.set(patient.id, other)
      }
      return alike
    },
    addPatients: (created) => {
      for (const patient of created) people.add(patient.id, personKey(patient))
    },
    holderOf: async (clinic, number, invoice, isAgain) =>
      (await numbers.findOther(clinic, number, invoice)) ??
      (isAgain ? holderOf(clinic, number, invoice) : null),
    addNumber: (number, invoice) => numbers.add(invoice, number),
  }
}

/**
 * A value of each record in a partition. All are read when the first is looked up, which costs less than a query for each row, into a
 * temporary database, since there can be more than fit in memory.
 */
function valuesOfRecords(
  table: Table,
  partitionOf: (clinic: ClinicId) => string,
  read: (item: Item) => readonly [id: string, value: string | null],
) {
  const db = temporaryDatabase(
    'CREATE TABLE known (id TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID; CREATE INDEX by_value ON known (value)',
  )
  const insert = db.prepare('INSERT OR REPLACE INTO known VALUES (?, ?)')
  const find = db.prepare('SELECT id FROM known WHERE value = ? AND id <> ?')
  const add = (id: string, value: string | null) => void insert.run(id, value)
  let isRead = false
  return {
    add,
    /** The id of another record with a value. */
    findOther: async (clinic: ClinicId, value: string | null, id: string): Promise<string | null> => {
      if (value === null) return null
      if (!isRead)
        for await (const items of partitionPages(table, partitionOf(clinic)))
          for (const item of items) add(...read(item))
      isRead = true
      return (find.get(value, id)?.id as string | undefined) ?? null
    },
  }
}
