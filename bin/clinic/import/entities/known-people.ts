/** Finds patients of the clinic who may be the same person as a new one: the same name and date of birth. */
import { hash } from 'node:crypto'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import { fullName, type Patient } from '../../../../shared/domain/patients/patient.ts'
import { fold } from '../../../../shared/domain/patients/search-text.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { searchLineParts } from '../../../../shared/store/patients/search-lines.ts'
import { chunked } from '../../../../shared/store/table/chunked.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'

type Person = Pick<Patient, 'firstName' | 'lastName' | 'dateOfBirth'>

/** Characters of a folded name that a search line has, however long its other fields are. */
const NAME_LENGTH = 60

/** Patients that are read at once. */
const MAX_READ = 100

/** The name, folded as search folds it, and the date of birth; null without one. */
export const personKey = ({ firstName, lastName, dateOfBirth }: Person): string | null =>
  dateOfBirth === null ? null : `${fold(fullName({ firstName, lastName }))}\t${dateOfBirth}`

const digest = (text: string): Buffer => hash('sha256', text, 'buffer').subarray(0, 16)

const nameDigest = (foldedName: string): Buffer => digest(foldedName.slice(0, NAME_LENGTH))

/** A patient who was not read yet has an ordinal; those who were have an id instead. */
type Unread = { readonly rowid: number; readonly ordinal: number }

/**
 * The patients of a clinic by name. Names come from the search lines, which cost a fraction of the patients. Only patients whose name
 * matches are read, each once. All is kept in a temporary database, whose file SQLite deletes when it opens it: there can be more
 * patients than fit in memory. It has digests instead of names.
 */
export class KnownPeople {
  readonly #table: Table
  readonly #clinic: ClinicId
  readonly #db = temporaryDatabase('CREATE TABLE people (name BLOB, ordinal INTEGER, id TEXT, person BLOB)')
  readonly #insert
  readonly #unread
  readonly #remove
  readonly #alike
  #isLoaded = false

  constructor(table: Table, clinic: ClinicId) {
    this.#table = table
    this.#clinic = clinic
    this.#insert = this.#db.prepare('INSERT INTO people VALUES (?, ?, ?, ?)')
    this.#unread = this.#db.prepare(
      'SELECT rowid, ordinal FROM people WHERE name = ? AND ordinal IS NOT NULL',
    )
    this.#remove = this.#db.prepare('DELETE FROM people WHERE rowid = ?')
    this.#alike = this.#db.prepare('SELECT id FROM people WHERE name = ? AND person = ? AND id <> ?')
  }

  /** For each of these new patients who has the name and date of birth of another, the id of one of those. */
  async findAlike(created: readonly Patient[]): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    const people = created.filter(({ dateOfBirth }) => dateOfBirth !== null)
    if (people.length === 0) return found
    await this.#load()
    await this.#readNamesakes(people)
    for (const patient of people) {
      const alike = this.#alike.get(nameOf(patient), personOf(patient), patient.id) as
        | { id: string }
        | undefined
      if (alike) found.set(patient.id, alike.id)
    }
    return found
  }

  /** Adds patients who were created since the others were read. */
  add(patients: readonly Patient[]): void {
    for (const patient of patients)
      if (patient.dateOfBirth !== null) this.#insert.run(nameOf(patient), null, patient.id, personOf(patient))
  }

  async #load(): Promise<void> {
    if (this.#isLoaded) return
    for await (const lines of searchLineParts(this.#table, this.#clinic))
      for (const [ordinal, line] of lines)
        this.#insert.run(nameDigest(line.slice(0, line.indexOf('\t'))), ordinal, null, null)
    // Building it once takes a fraction of the time of inserting into it.
    this.#db.exec('CREATE INDEX named ON people (name)')
    this.#isLoaded = true
  }

  /** Reads the patients of the same names, unless they were read before. */
  async #readNamesakes(people: readonly Patient[]): Promise<void> {
    const unread = people.flatMap((patient) => this.#unread.all(nameOf(patient)) as Unread[])
    const ordinals = [...new Set(unread.map(({ ordinal }) => ordinal))]
    for (const chunk of chunked(ordinals, MAX_READ))
      this.add(await patientStore({ table: this.#table }).findByOrdinals(this.#clinic, chunk))
    for (const { rowid } of unread) this.#remove.run(rowid)
  }
}

const nameOf = (patient: Patient): Buffer => nameDigest(fold(fullName(patient)))

const personOf = (patient: Patient): Buffer => digest(personKey(patient) ?? '')
