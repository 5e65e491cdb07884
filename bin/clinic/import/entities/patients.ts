import * as z from 'zod'
import type { ClinicInfo } from '../../../../shared/domain/clinic.ts'
import { fullName, GENDERS } from '../../../../shared/domain/patients/patient.ts'
import {
  emailAddress,
  multiLineText,
  nationalId,
  personName,
  phoneNumber,
  singleLineText,
} from '../../../../shared/domain/patients/text-fields.ts'
import { clinicTimestamp, isCalendarDate } from '../../../../shared/domain/timestamp.ts'
import { copiedNames } from '../../../../shared/store/copies/copied-names.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { ImportEntity } from './entity.ts'
import { personKey } from './known-people.ts'
import { type PatientFields, patientRowWriter } from './patient-row-writer.ts'
import { booleanField, Instant, RowDate } from './row-fields.ts'

const columns = {
  first_name: personName(),
  last_name: personName(),
  full_name: singleLineText(201).nullish(),
  gender: z.enum(GENDERS, { error: `must be one of ${GENDERS.join(', ')}` }).nullish(),
  phone_number: phoneNumber().nullish(),
  email_address: emailAddress().nullish(),
  is_active: booleanField.nullish(),
  national_id: nationalId().nullish(),
  notes: multiLineText(2000).nullish(),
  created_at: Instant.nullish(),
}

/** The calendar date in the clinic's time zone. */
const today = (clinic: ClinicInfo, now: number): string =>
  clinicTimestamp(new Date(now).toISOString(), clinic.timezone).slice(0, 10)

export function patientImport(table: Table, now: () => number): ImportEntity<PatientFields> {
  const writer = patientWriter({ table })

  return {
    name: 'patients',
    idKind: 'patient',
    columns: [...Object.keys(columns), 'date_of_birth'],
    required: ['first_name', 'last_name'],
    personOf: ({ firstName = '', lastName = '', dateOfBirth = null }) =>
      personKey({ firstName, lastName, dateOfBirth }),
    schema: (clinic, at) => {
      const lastBirthday = today(clinic, at)
      return z
        .strictObject({
          ...columns,
          date_of_birth: RowDate.refine((date) => !isCalendarDate(date) || date <= lastBirthday, {
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
        .transform(
          (row): PatientFields => ({
            firstName: row.first_name,
            lastName: row.last_name,
            dateOfBirth: row.date_of_birth,
            gender: row.gender,
            phoneNumber: row.phone_number,
            emailAddress: row.email_address,
            isActive: row.is_active ?? undefined,
            nationalId: row.national_id,
            notes: row.notes,
            createdAt: row.created_at ?? undefined,
          }),
        )
    },
    write: patientRowWriter(table, now),
    finish: async ({ id }) => {
      await writer.snapshotAll(id)
      await copiedNames(table).refreshAll(id)
    },
  }
}
