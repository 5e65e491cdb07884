/** What a row is compared with besides its record: the people and the invoice numbers of the whole clinic. */
import type { ClinicId } from '../../domain/clinic.ts'
import { fullName, type Patient } from '../../domain/patients/patient.ts'
import { fold } from '../../domain/patients/search-text.ts'
import { invoiceNumbers } from '../../store/calendar/invoice-numbers.ts'
import { patientSearch } from '../../store/patients/search.ts'
import type { Table } from '../../store/table/table.ts'

export type Lookups = {
  /** For each of these new patients who has the name and date of birth of another, the id of one of those. */
  readonly findAlike: (clinic: ClinicId, created: readonly Patient[]) => Promise<ReadonlyMap<string, string>>
  /** Adds patients who were created since the others were read. */
  readonly addPatients: (created: readonly Patient[]) => void
  /**
   * The id of another invoice with a number; null if there is none.
   * @param isAgain whether another writer may have used it since
   */
  readonly holderOf: (
    clinic: ClinicId,
    number: string,
    invoice: string,
    isAgain: boolean,
  ) => Promise<string | null>
  /** Adds the number of an invoice that is about to be written. */
  readonly addNumber: (number: string, invoice: string) => void
}

type Person = Pick<Patient, 'firstName' | 'lastName' | 'dateOfBirth'>

/** The name, folded as search folds it, and the date of birth; null without one. */
export const personKey = ({ firstName, lastName, dateOfBirth }: Person): string | null =>
  dateOfBirth === null ? null : `${fold(fullName({ firstName, lastName }))}\t${dateOfBirth}`

/** Patients with the words of a name who are read. */
const MAX_NAMESAKES = 50

/** Lookups for a few rows, which read what concerns these rows only. */
export function queryLookups(table: Table): Lookups {
  const { named } = patientSearch({ table })
  return {
    findAlike: async (clinic, created) => {
      const people = created.filter(({ dateOfBirth }) => dateOfBirth !== null)
      const found = await named(clinic, people.map(fullName), MAX_NAMESAKES)
      return new Map(
        people.flatMap((patient) => {
          const key = personKey(patient)
          const alike = found.find((one) => one.id !== patient.id && personKey(one) === key)
          return alike ? [[patient.id, alike.id]] : []
        }),
      )
    },
    addPatients: () => {},
    holderOf: invoiceNumbers(table).holderOf,
    addNumber: () => {},
  }
}
