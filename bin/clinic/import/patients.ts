import * as z from 'zod'
import { CalendarDate } from '../../../shared/api/schemas.ts'
import type { ClinicFacts } from '../../../shared/domain/clinic.ts'
import { fullName, GENDERS, type Patient } from '../../../shared/domain/patient.ts'
import { emailAddress, line, personName, phoneNumber } from '../../../shared/domain/text-fields.ts'
import { clinicTimestamp } from '../../../shared/domain/timestamp.ts'
import { fanOut } from '../../../shared/store/copies/copied-names.ts'
import {
  MOST_ENTERED,
  MOST_UPDATED,
  type PatientChange,
  patientEntry,
} from '../../../shared/store/patients/patient-writes.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import { chunked, type Table } from '../../../shared/store/table/table.ts'
import { given, type ImportEntity, type ImportRow, isUnchanged, type RowRejection } from './entity.ts'

type Fields = Partial<Omit<Patient, 'id'>>

const columns = {
  first_name: personName,
  last_name: personName,
  full_name: line(201).nullish(),
  gender: z.enum(GENDERS, { error: `must be one of ${GENDERS.join(', ')}` }).nullish(),
  phone_number: phoneNumber.nullish(),
  email_address: emailAddress.nullish(),
  created_at: z.iso
    .datetime({ offset: true, error: 'must be a timestamp such as 2026-05-01T10:00:00+03:00' })
    .nullish(),
}

/** The clinic's calendar day at an instant. */
const today = (clinic: ClinicFacts, now: number): string =>
  clinicTimestamp(new Date(now).toISOString(), clinic.timezone).slice(0, 10)

/** Patients enter in file order. Rows are compared with what is there, so a repeated or resumed import finds its place. */
export function patientImport(table: Table, now: () => number): ImportEntity<Fields> {
  const store = patientStore({ table })
  const entry = patientEntry({ table })

  const newPatient = ({ id, fields }: ImportRow<Fields>): Patient => ({
    id,
    firstName: '',
    lastName: '',
    dateOfBirth: null,
    gender: null,
    phoneNumber: null,
    emailAddress: null,
    createdAt: new Date(now()).toISOString(),
    ...given(fields),
  })

  return {
    name: 'patients',
    idKind: 'patient',
    columns: [...Object.keys(columns), 'date_of_birth'],
    required: ['first_name', 'last_name'],
    schema: (clinic, at) => {
      const lastBirthday = today(clinic, at)
      return z
        .strictObject({
          ...columns,
          date_of_birth: CalendarDate.refine((date) => date <= lastBirthday, {
            error: 'must not be in the future',
          }).nullish(),
        })
        .refine(
          (row) =>
            row.full_name == null ||
            row.full_name === fullName({ firstName: row.first_name, lastName: row.last_name }),
          {
            path: ['full_name'],
            error: 'must be first_name, a space and last_name',
          },
        )
        .transform((row) => ({
          firstName: row.first_name,
          lastName: row.last_name,
          dateOfBirth: row.date_of_birth,
          gender: row.gender,
          phoneNumber: row.phone_number,
          emailAddress: row.email_address,
          createdAt: row.created_at ? new Date(row.created_at).toISOString() : undefined,
        }))
    },
    write: async ({ id: clinic }, batch) => {
      const existing = await store.findMany(
        clinic,
        batch.map(({ id }) => id),
      )
      const entered = batch.filter(({ id }) => !existing.has(id)).map(newPatient)
      const rejected: RowRejection[] = []
      const changed = batch.flatMap(({ id, fields }): PatientChange[] => {
        const before = existing.get(id)
        if (before?.erased) rejected.push({ id, reason: 'the patient was erased' })
        if (!before || before.erased || isUnchanged(before, given(fields))) return []
        return [{ before, after: { ...before, ...given(fields) } }]
      })
      for (const chunk of chunked(entered, MOST_ENTERED)) await entry.enter(clinic, chunk)
      for (const chunk of chunked(changed, MOST_UPDATED)) await entry.update(clinic, chunk)
      if (entered.length + changed.length > 0) await entry.snapshotIfDue(clinic)
      return {
        imported: entered.length,
        updated: changed.length,
        unchanged: batch.length - entered.length - changed.length - rejected.length,
        rejected,
      }
    },
    finish: async ({ id }) => {
      await entry.snapshotAll(id)
      await fanOut(table).payAll(id)
    },
  }
}
