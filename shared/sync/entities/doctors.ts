import * as z from 'zod'
import { departmentProblems } from '../../domain/booking/catalogue.ts'
import { type Doctor, MAX_ACTIVE_DOCTORS, NEW_DOCTOR } from '../../domain/booking/doctor.ts'
import {
  DaysError,
  doctorName,
  MAX_DAYS_TEXT,
  parseExceptions,
  parseTimeOff,
  specialty,
} from '../../domain/booking/doctor-days.ts'
import { parseWeeklyHours, WorkingHoursError } from '../../domain/booking/working-hours.ts'
import { singleLineText } from '../../domain/patients/text-fields.ts'
import { LAST_DATE } from '../../domain/timestamp.ts'
import { departmentStore } from '../../store/catalogue.ts'
import { copiedNames } from '../../store/copies/copied-names.ts'
import {
  activeDoctorsAdded,
  type DoctorChange,
  doctorStore,
  MAX_SAVED,
  type StoredDoctor,
  TooManyActiveDoctors,
} from '../../store/doctors.ts'
import { saveProvenance } from '../../store/external-ids/provenance.ts'
import { doctorKey } from '../../store/keys/clinics.ts'
import type { Changeset } from '../../store/table/changeset.ts'
import { chunked } from '../../store/table/chunked.ts'
import { ConditionFailed } from '../../store/table/errors.ts'
import type { Table } from '../../store/table/table.ts'
import { requireUnlinked, withoutNewLinks } from '../external-ids/new-links.ts'
import type { RowWrite } from '../outcomes/batch-outcomes.ts'
import { RowRejectedError, requireKnownId } from '../outcomes/row-rejected.ts'
import { readIds } from './catalogue-rows.ts'
import { columnTable, defaulted, emptied, nullable, nullableReference, required } from './columns.ts'
import {
  definedFields,
  type ImportEntity,
  type ImportRow,
  type ImportRun,
  isUnchanged,
  type RowFields,
} from './entity.ts'
import { booleanField } from './row-fields.ts'

/** Holidays are in a separate file. */
type Fields = RowFields<Omit<Doctor, 'id' | 'holidays'>> & Pick<Doctor, 'fullName'>

/** Text in a special format, whose parser throws what is wrong with it. */
const parsed = <T>(max: number, parse: (text: string) => T) =>
  singleLineText(max).transform((text, context): T => {
    try {
      return parse(text)
    } catch (error) {
      if (!(error instanceof WorkingHoursError || error instanceof DaysError)) throw error
      context.addIssue({ code: 'custom', message: error.message })
      return z.NEVER
    }
  })

const TOO_LATE = { error: `must not be after ${LAST_DATE}` }

/** `mon-fri 09:00-17:00; sat 10:00-14:00` */
export const weeklyHours = parsed(10_000, parseWeeklyHours)

/** `2026-12-24/2026-12-26 "Family"; 2027-01-01 14:00-16:00` */
export const timeOff = parsed(MAX_DAYS_TEXT, parseTimeOff)

/** Days off to add: none after the last date that a record can have. */
export const newTimeOff = timeOff.refine((days) => days.every(({ to }) => to <= LAST_DATE), TOO_LATE)

/** `2026-12-24 09:00-12:00; 2026-12-27 off` */
export const exceptions = parsed(MAX_DAYS_TEXT, parseExceptions).refine(
  (days) => Object.keys(days).every((date) => date <= LAST_DATE),
  TOO_LATE,
)

const columns = columnTable({
  full_name: required('fullName', doctorName),
  specialty: nullable('specialty', specialty),
  department_external_id: nullableReference('departmentId', 'department'),
  is_active: defaulted('isActive', booleanField),
  hours: emptied('hours', weeklyHours, {}),
  breaks: emptied('breaks', weeklyHours, {}),
  time_off: emptied('timeOff', newTimeOff, []),
  exceptions: emptied('exceptions', exceptions, {}),
})

export const { cells: doctorCells, valuesOf: doctorValues } = columns

export function doctorImport(table: Table): ImportEntity<Fields> {
  const store = doctorStore({ table })
  const departments = departmentStore({ table })
  return {
    name: 'doctors',
    idKind: 'doctor',
    ...columns,
    write: async (run, batch) => {
      const { clinic, outcomes } = run
      const [known, doctors] = await Promise.all([readIds(departments, clinic), store.list(clinic.id)])
      const existing = new Map(doctors.map((doctor) => [doctor.id, doctor]))
      const possible = batch.flatMap(
        (row) => outcomes.decided(row.id, () => decide(run, row, existing.get(row.id) ?? null, known)) ?? [],
      )
      const decided = withinLimit(possible, doctors, outcomes)
      // Doctors who become inactive make room for others.
      for (const write of ['updated', 'imported'] as const) {
        const same = decided.filter((one) => one.write === write)
        for (const chunk of chunked(same, MAX_SAVED)) {
          const ids = chunk.map(({ after }) => after.id)
          const save = (extendChanges?: (changes: Changeset) => void) =>
            store.save(clinic.id, chunk, extendChanges).catch(retryIfTooMany)
          const create = () => save((changes) => requireUnlinked(changes, ids))
          await outcomes.commit(ids, write, () =>
            write === 'imported' ? withoutNewLinks(table, clinic.id, ids, create) : save(),
          )
        }
      }
      for (const { before, after } of decided.filter(({ write }) => write === 'unchanged'))
        if (before)
          await outcomes.commit([before.id], 'unchanged', () =>
            saveProvenance(table, clinic.id, doctorKey(clinic.id, before.id), before.version, after),
          )
    },
    finish: ({ id }) => copiedNames(table).refreshAll(id),
  }
}

type DecidedChange = DoctorChange & { readonly write: RowWrite }

/** Rejects changes that would exceed the active doctors of a clinic. Returns the others, those first that make room. */
function withinLimit(
  changes: readonly DecidedChange[],
  doctors: readonly Doctor[],
  outcomes: ImportRun['outcomes'],
): DecidedChange[] {
  const active = doctors.filter(({ isActive }) => isActive).length
  let left = MAX_ACTIVE_DOCTORS - active
  return changes
    .toSorted((a, b) => activeDoctorsAdded(a) - activeDoctorsAdded(b))
    .filter((change) => {
      const added = activeDoctorsAdded(change)
      if (added <= 0 || left > 0) {
        left -= added
        return true
      }
      outcomes.rejected(
        change.after.id,
        new RowRejectedError({
          field: '',
          issue: `the clinic has ${MAX_ACTIVE_DOCTORS} active doctors already, the most that it can have`,
        }),
      )
      return false
    })
}

/** Another writer was faster: the rows are checked again. */
function retryIfTooMany(error: unknown): never {
  throw error instanceof TooManyActiveDoctors ? new ConditionFailed([]) : error
}

/** The change of a row; null if nothing is to be written. @throws RowRejectedError */
function decide(
  { overwritePolicy, outcomes }: ImportRun,
  row: ImportRow<Fields>,
  before: StoredDoctor | null,
  departments: ReadonlySet<string>,
): DecidedChange | null {
  if (before && overwritePolicy.isImported(row, before)) {
    outcomes.unchanged(row.id)
    return null
  }
  requireKnownId(row, before)
  const [problem] = departmentProblems({ departmentId: row.fields.departmentId ?? null }, departments)
  if (problem) throw new RowRejectedError({ ...problem, field: row.columnOf('department_external_id') })
  const given = definedFields(row.fields)
  const { version: _, ...doctor } = before ?? { ...NEW_DOCTOR, fullName: '', version: 0 }
  const after = { ...doctor, ...given, id: row.id }
  const provenance = overwritePolicy.check(row, before, before && doctorValues(before), doctorValues(after))
  const write = before ? (isUnchanged(before, given) ? 'unchanged' : 'updated') : 'imported'
  return { before, after: { ...after, ...provenance }, write }
}
