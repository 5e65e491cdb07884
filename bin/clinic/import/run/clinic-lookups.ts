/** What the rows of files are compared with: the people and the invoice numbers of the clinic, all of which are read once. */

import { hash } from 'node:crypto'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { fullName, type Patient } from '../../../../shared/domain/patients/patient.ts'
import { fold } from '../../../../shared/domain/patients/search-text.ts'
import { partitionPages } from '../../../../shared/maintenance/walk/partition-pages.ts'
import { invoiceNumbers } from '../../../../shared/store/calendar/invoice-numbers.ts'
import { INVOICES } from '../../../../shared/store/calendar/invoices.ts'
import { calendarKey } from '../../../../shared/store/keys/calendar.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { searchLineParts } from '../../../../shared/store/patients/search-lines.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { type KnownNumbers, type KnownPeople, personKey } from '../../../../shared/sync/entities/lookups.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'

/** Characters of a folded name that a search line has, however long its other fields are. */
const NAME_LENGTH = 60

/** Patients that are read at once. */
const MAX_READ = 100

const digest = (text: string): Buffer => hash('sha256', text, 'buffer').subarray(0, 16)

const nameDigest = (foldedName: string): Buffer => digest(foldedName.slice(0, NAME_LENGTH))

/** A patient who was not read yet has an ordinal; those who were have an id instead. */
type Unread = { readonly rowid: number; readonly ordinal: number }

/**
 * The patients of a clinic by name. Names come from the search lines, which cost a fraction of the patients. Only patients whose name
 * matches are read, each once. All is kept in a temporary database, whose file SQLite deletes when it opens it: there can be more
 * patients than fit in memory. It has digests instead of names.
 */
export function knownPeople(table: Table, clinic: ClinicId): KnownPeople {
  const db = temporaryDatabase('CREATE TABLE people (name BLOB, ordinal INTEGER, id TEXT, person BLOB)')
  const insert = db.prepare('INSERT INTO people VALUES (?, ?, ?, ?)')
  const unreadOf = db.prepare('SELECT rowid, ordinal FROM people WHERE name = ? AND ordinal IS NOT NULL')
  const remove = db.prepare('DELETE FROM people WHERE rowid = ?')
  const alikeOf = db.prepare('SELECT id FROM people WHERE name = ? AND person = ? AND id <> ?')
  let isLoaded = false

  async function load(): Promise<void> {
    if (isLoaded) return
    for await (const lines of searchLineParts(table, clinic))
      for (const [ordinal, line] of lines)
        insert.run(nameDigest(line.slice(0, line.indexOf('\t'))), ordinal, null, null)
    // Building it once takes a fraction of the time of inserting into it.
    db.exec('CREATE INDEX named ON people (name)')
    isLoaded = true
  }

  /** Reads the patients of the same names, unless they were read before. */
  async function readNamesakes(people: readonly Patient[]): Promise<void> {
    const unread = people.flatMap((patient) => unreadOf.all(nameOf(patient)) as Unread[])
    const ordinals = [...new Set(unread.map(({ ordinal }) => ordinal))]
    for (const chunk of chunked(ordinals, MAX_READ))
      add(await patientStore({ table }).findByOrdinals(clinic, chunk))
    for (const { rowid } of unread) remove.run(rowid)
  }

  /** Adds patients who were created since the others were read. */
  function add(patients: readonly Patient[]): void {
    for (const patient of patients)
      if (patient.dateOfBirth !== null) insert.run(nameOf(patient), null, patient.id, personOf(patient))
  }

  /** For each of these new patients who has the name and date of birth of another, the id of one of those. */
  async function findAlike(created: readonly Patient[]): Promise<Map<string, string>> {
    const people = created.filter(({ dateOfBirth }) => dateOfBirth !== null)
    if (people.length === 0) return new Map()
    await load()
    await readNamesakes(people)
    return new Map(
      people.flatMap((patient) => {
        const alike = alikeOf.get(nameOf(patient), personOf(patient), patient.id) as
          | { id: string }
          | undefined
        return alike ? [[patient.id, alike.id]] : []
      }),
    )
  }

  return { add, findAlike }
}

const nameOf = (patient: Patient): Buffer => nameDigest(fold(fullName(patient)))

const personOf = (patient: Patient): Buffer => digest(personKey(patient) ?? '')

/**
 * The numbers of a clinic's invoices. All are read when the first new number is imported, which costs less than a query for each, into
 * a temporary database, since there can be more than fit in memory.
 */
export function usedNumbers(table: Table, clinic: ClinicId): KnownNumbers {
  const db = temporaryDatabase(
    'CREATE TABLE numbers (invoice TEXT PRIMARY KEY, number TEXT) WITHOUT ROWID; CREATE INDEX by_number ON numbers (number)',
  )
  const insert = db.prepare('INSERT OR REPLACE INTO numbers VALUES (?, ?)')
  const findOther = db.prepare('SELECT invoice FROM numbers WHERE number = ? AND invoice <> ?')
  const { holderOf } = invoiceNumbers(table)
  let isRead = false

  async function readAll(): Promise<void> {
    const { pk } = calendarKey(clinic, INVOICES.entityCode, '')
    for await (const items of partitionPages(table, pk))
      for (const { sk, no } of items) insert.run(sk, String(no))
    isRead = true
  }

  return {
    holderOf: async (number, invoice, isAgain) => {
      if (!isRead) await readAll()
      const known = findOther.get(number, invoice)?.invoice as string | undefined
      return known ?? (isAgain ? holderOf(clinic, number, invoice) : null)
    },
    add: (number, invoice) => void insert.run(invoice, number),
  }
}
