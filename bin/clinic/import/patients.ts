import * as z from 'zod'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import { fullName, GENDERS, NO_DETAILS, type Patient } from '../../../shared/domain/patient.ts'
import {
  emailAddress,
  multiLineText,
  nationalId,
  personName,
  phoneNumber,
  singleLineText,
} from '../../../shared/domain/text-fields.ts'
import { clinicTimestamp, isCalendarDate } from '../../../shared/domain/timestamp.ts'
import { copiedNames } from '../../../shared/store/copies/copied-names.ts'
import { erasureLedger } from '../../../shared/store/copies/erasure-ledger.ts'
import {
  MAX_CREATED,
  MAX_UPDATED,
  type PatientChange,
  patientWriter,
} from '../../../shared/store/patients/patient-writer.ts'
import { type ImportedPatient, patientStore } from '../../../shared/store/patients/patients.ts'
import { chunked } from '../../../shared/store/table/chunked.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { booleanField } from './booleans.ts'
import { definedFields, type ImportEntity, type ImportRow, isUnchanged, type RowFields } from './entity.ts'
import { Instant, RowDate } from './timestamps.ts'

type Fields = RowFields<Omit<Patient, 'id' | 'erasedAt'>>

const columns = {
  first_name: personName,
  last_name: personName,
  full_name: singleLineText(201).nullish(),
  gender: z.enum(GENDERS, { error: `must be one of ${GENDERS.join(', ')}` }).nullish(),
  phone_number: phoneNumber.nullish(),
  email_address: emailAddress.nullish(),
  is_active: booleanField.nullish(),
  national_id: nationalId.nullish(),
  notes: multiLineText(2000).nullish(),
  created_at: Instant.nullish(),
}

/** The calendar date in the clinic's time zone. */
const today = (clinic: ClinicInfo, now: number): string =>
  clinicTimestamp(new Date(now).toISOString(), clinic.timezone).slice(0, 10)

/** Creates patients in file order. Rows are compared with the stored records, so an import can be repeated or resumed. */
export function patientImport(table: Table, now: () => number): ImportEntity<Fields> {
  const store = patientStore({ table })
  const writer = patientWriter({ table })
  const ledger = erasureLedger({ table })

  const newPatient = ({ id, externalId, fields }: ImportRow<Fields>): ImportedPatient => ({
    id,
    externalId,
    firstName: '',
    lastName: '',
    ...NO_DETAILS,
    createdAt: new Date(now()).toISOString(),
    ...definedFields(fields),
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
          (row): Fields => ({
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
    write: async ({ id: clinic }, batch, outcomes) => {
      const existing = await store.findMany(
        clinic,
        batch.map(({ id }) => id),
      )
      const missing = batch.filter(({ id }) => !existing.has(id))
      const erasures = await ledger.findMany(
        clinic,
        missing.map(({ id }) => id),
      )
      // Erased, and then lost in a restore to a time before the patient was created.
      for (const id of erasures.keys()) outcomes.rejected(id, 'the patient was erased')
      const created = missing.filter(({ id }) => !erasures.has(id)).map(newPatient)
      const updated = batch.flatMap(({ id, fields }): PatientChange[] => {
        const before = existing.get(id)
        if (!before) return []
        if (before.erasedAt) outcomes.rejected(id, 'the patient was erased')
        else if (isUnchanged(before, definedFields(fields))) outcomes.unchanged(id)
        else return [{ before, after: { ...before, ...definedFields(fields) } }]
        return []
      })
      for (const chunk of chunked(created, MAX_CREATED)) {
        const ids = chunk.map(({ id }) => id)
        await outcomes.commit(ids, 'imported', () => writer.createMany(clinic, chunk))
      }
      for (const chunk of chunked(updated, MAX_UPDATED)) {
        const ids = chunk.map(({ after }) => after.id)
        await outcomes.commit(ids, 'updated', () => writer.update(clinic, chunk))
      }
      if (created.length + updated.length > 0) await writer.snapshotIfDue(clinic)
    },
    finish: async ({ id }) => {
      await writer.snapshotAll(id)
      await copiedNames(table).refreshAll(id)
    },
  }
}
