import * as z from 'zod'
import { whenValid } from '../../api/schemas.ts'
import { wallClock } from '../../domain/clock.ts'
import { isAnotherPerson } from '../../domain/patients/another-person.ts'
import { fullName, GENDERS, NO_DETAILS, type Patient } from '../../domain/patients/patient.ts'
import { phoneNumber } from '../../domain/patients/phone-number.ts'
import {
  emailAddress,
  languageTag,
  lastName,
  nationalId,
  notes,
  singleLineText,
} from '../../domain/patients/text-fields.ts'
import { isCalendarDate } from '../../domain/timestamp.ts'
import { copiedNames } from '../../store/copies/copied-names.ts'
import { erasureLedger } from '../../store/copies/erasure-ledger.ts'
import { saveProvenance } from '../../store/external-ids/provenance.ts'
import { patientKey } from '../../store/keys/patients.ts'
import {
  MAX_CREATED,
  MAX_UPDATED,
  type PatientChange,
  patientWriter,
} from '../../store/patients/patient-writer.ts'
import { patientStore, type StoredPatient } from '../../store/patients/patients.ts'
import { chunked } from '../../store/table/chunked.ts'
import type { Table } from '../../store/table/table.ts'
import { withoutNewLinks } from '../external-ids/new-links.ts'
import type { RowWrite } from '../outcomes/batch-outcomes.ts'
import { RowRejectedError, requireKnownId } from '../outcomes/row-rejected.ts'
import type { Warning } from '../outcomes/warnings.ts'
import { columnTable, defaulted, emptied, nullable, required } from './columns.ts'
import {
  definedFields,
  type ImportEntity,
  type ImportRow,
  type ImportRun,
  isUnchanged,
  type RowFields,
} from './entity.ts'
import { type Lookups, personKey } from './lookups.ts'
import { requireUnerased } from './patient-rows.ts'
import { booleanField, Instant, RowDate } from './row-fields.ts'

type PatientFields = RowFields<Omit<Patient, 'id' | 'erasedAt' | 'externalId'>>

const columns = columnTable(
  {
    // If it is empty, the last name is the only one, and becomes the first name below.
    first_name: required(
      'firstName',
      lastName()
        .nullable()
        .transform((name) => name ?? ''),
    ),
    last_name: emptied('lastName', lastName(), ''),
    full_name: { cell: singleLineText(201).nullish() },
    gender: nullable('gender', z.enum(GENDERS, { error: `must be one of ${GENDERS.join(', ')}` })),
    phone_number: nullable('phoneNumber', phoneNumber()),
    email_address: nullable('emailAddress', emailAddress()),
    is_active: defaulted('isActive', booleanField),
    accepts_sms: defaulted('acceptsSms', booleanField),
    accepts_email: defaulted('acceptsEmail', booleanField),
    language: nullable('language', languageTag()),
    national_id: nullable('nationalId', nationalId()),
    notes: nullable('notes', notes()),
    created_at: defaulted('createdAt', Instant),
    date_of_birth: nullable('dateOfBirth', RowDate),
  },
  (row, clinic, now) => {
    const lastBirthday = wallClock(now, clinic.timezone).date
    const birthday = RowDate.refine((date) => !isCalendarDate(date) || date <= lastBirthday, {
      error: 'must not be in the future',
    })
    return row
      .extend({ date_of_birth: birthday.nullish() })
      .overwrite((cells) =>
        cells.first_name === '' ? { ...cells, first_name: cells.last_name ?? '', last_name: '' } : cells,
      )
      .refine(({ first_name, last_name }) => first_name !== '' || last_name, {
        path: ['first_name'],
        error: 'is required',
        when: whenValid('first_name', 'last_name'),
      })
      .refine(
        ({ full_name, first_name, last_name }) =>
          full_name == null || full_name === fullName({ firstName: first_name, lastName: last_name ?? '' }),
        { path: ['full_name'], error: 'must be first_name, a space and last_name, or the only name' },
      )
  },
)

export const { cells: patientCells, valuesOf: patientValues } = columns

const ERASED = new RowRejectedError({ field: '', issue: 'erased' }, 'the patient was erased')

const NO_SAME_NAME: Warning = {
  kind: 'value',
  field: 'first_name',
  issue: 'and last_name are not those of the patient with this id, and a date of birth is missing',
}

const CONSENT = [
  ['accepts_sms', 'acceptsSms'],
  ['accepts_email', 'acceptsEmail'],
] as const

/** The values of a new patient without details. */
const INITIAL = patientValues({ firstName: '', lastName: '', ...NO_DETAILS, createdAt: '' })

/** Creates patients in file order. Rows are compared with the stored records, so an import can be repeated or resumed. */
export function patientImport(
  table: Table,
  now: () => number,
  { findAlike, addPatients }: Lookups,
): ImportEntity<PatientFields> {
  const store = patientStore({ table })
  const writer = patientWriter({ table })
  const ledger = erasureLedger({ table })

  /** Decides on the patient after a row; null if nothing is to be written. @throws RowRejectedError */
  function decide(
    { overwritePolicy, outcomes }: ImportRun,
    row: ImportRow<PatientFields>,
    before: StoredPatient | null,
  ) {
    if (before) requireUnerased(before)
    if (before && overwritePolicy.isImported(row, before)) {
      outcomes.unchanged(row.id)
      return null
    }
    requireKnownId(row, before)
    const read = definedFields(row.fields)
    // Consent that the file repeats is older than what the patient has said since.
    const kept = CONSENT.filter(([column, field]) => {
      return before && overwritePolicy.isRepeated(row, before, column, read[field])
    })
    const given = { ...read, ...Object.fromEntries(kept.map(([, field]) => [field, before?.[field]])) }
    const patient: Patient = {
      firstName: '',
      lastName: '',
      ...NO_DETAILS,
      createdAt: new Date(now()).toISOString(),
      ...(before as Patient | null),
      ...given,
      id: row.id,
    }
    const isOther = before && isAnotherPerson(before, patient)
    if (isOther)
      overwritePolicy.requireOverwrite(
        'another_person',
        'another_person: first_name, last_name and date_of_birth are not those of the patient with this id',
        'if they are to replace them',
      )
    if (isOther === null && before) outcomes.warned(row.id, NO_SAME_NAME)
    const provenance = overwritePolicy.check(
      row,
      before,
      before && patientValues(before),
      patientValues(patient),
      INITIAL,
      kept.map(([column]) => column),
    )
    const write: RowWrite = before ? (isUnchanged(before, given) ? 'unchanged' : 'updated') : 'imported'
    return { before, after: { ...patient, ...provenance }, write }
  }

  async function write(run: ImportRun, batch: readonly ImportRow<PatientFields>[]): Promise<void> {
    const { clinic, outcomes } = run
    const ids = batch.map(({ id }) => id)
    const existing = await store.findMany(clinic.id, ids)
    const missing = ids.filter((id) => !existing.has(id))
    const erased = await ledger.findErased(clinic.id, missing)
    // Erased, and then lost in a restore to a time before the patient was created or linked; or unlinked before.
    for (const id of erased) outcomes.rejected(id, ERASED)
    const decided = batch
      .filter(({ id }) => !erased.has(id))
      .flatMap((row) => outcomes.decided(row.id, () => decide(run, row, existing.get(row.id) ?? null)) ?? [])
    const created = decided.filter(({ write }) => write === 'imported').map(({ after }) => after)
    const alike = await findAlike(clinic.id, created)
    for (const { id } of created) outcomes.warned(id, samePerson(alike.get(id)))
    for (const chunk of chunked(created, MAX_CREATED)) {
      const ids = chunk.map(({ id }) => id)
      const create = () => writer.createMany(clinic.id, chunk)
      await outcomes.commit(ids, 'imported', () => withoutNewLinks(table, clinic.id, ids, create))
      addPatients(chunk)
    }
    const changes = decided.flatMap(({ before, after, write }): (PatientChange & { write: RowWrite })[] =>
      before ? [{ before, after: { ...before, ...after }, write }] : [],
    )
    const updated = changes.filter(({ write }) => write === 'updated')
    for (const chunk of chunked(updated, MAX_UPDATED)) {
      const ids = chunk.map(({ after }) => after.id)
      await outcomes.commit(ids, 'updated', () => writer.update(clinic.id, chunk))
    }
    for (const { before, after } of changes.filter(({ write }) => write === 'unchanged'))
      await outcomes.commit([before.id], 'unchanged', () =>
        saveProvenance(table, clinic.id, patientKey(clinic.id, before.id), before.version, after),
      )
    if (created.length + updated.length > 0) await writer.snapshotIfDue(clinic.id)
  }

  return {
    name: 'patients',
    idKind: 'patient',
    ...columns,
    // In CSV, a file without the column is one that lacks a column, rather than one of people with one name.
    required: [...columns.required, 'last_name'],
    personOf: ({ firstName = '', lastName = '', dateOfBirth = null }) =>
      personKey({ firstName, lastName, dateOfBirth }),
    write,
    finish: async ({ id }, { isTrial }) => {
      // A trial compares copied names, and searches for nobody.
      if (!isTrial) await writer.snapshotAll(id)
      await copiedNames(table).refreshAll(id)
    },
  }
}

const samePerson = (other: string | undefined): Warning | null =>
  other === undefined
    ? null
    : {
        kind: 'same_person',
        field: '',
        issue: 'first_name, last_name and date_of_birth match another patient of the clinic',
        patient: other,
      }
