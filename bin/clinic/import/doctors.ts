import * as z from 'zod'
import { CalendarDate } from '../../../shared/api/schemas.ts'
import { departmentProblems } from '../../../shared/domain/catalogue.ts'
import type { Doctor, TimeOff } from '../../../shared/domain/doctor.ts'
import { singleLineText } from '../../../shared/domain/text-fields.ts'
import {
  parseWeeklyHours,
  type WeeklyHours,
  WorkingHoursError,
} from '../../../shared/domain/working-hours.ts'
import { departmentStore } from '../../../shared/store/catalogue.ts'
import { copiedNames } from '../../../shared/store/copies/copied-names.ts'
import { type DoctorChange, doctorStore, MAX_SAVED } from '../../../shared/store/doctors.ts'
import { chunked } from '../../../shared/store/table/chunked.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { booleanField } from './booleans.ts'
import { readIds } from './catalogue-rows.ts'
import { definedFields, type ImportEntity, isUnchanged } from './entity.ts'
import { ExternalRef } from './references.ts'

type Fields = Partial<Omit<Doctor, 'id'>>

/** `mon-fri 09:00-17:00; sat 10:00-14:00` */
export const weeklyHours = singleLineText(1000).transform((text, context): WeeklyHours => {
  try {
    return parseWeeklyHours(text)
  } catch (error) {
    if (!(error instanceof WorkingHoursError)) throw error
    context.addIssue({ code: 'custom', message: error.message })
    return z.NEVER
  }
})

/** `2026-12-24/2026-12-26; 2027-01-01` */
export const timeOff = singleLineText(10_000).transform((text, context): TimeOff[] =>
  text.split(';').flatMap((piece) => {
    const [from = '', to = from, ...rest] = piece.trim().split('/')
    const isSpan =
      rest.length === 0 && CalendarDate.safeParse(from).success && CalendarDate.safeParse(to).success
    if (isSpan && from <= to) return [{ from, to, reason: null }]
    context.addIssue({
      code: 'custom',
      message: 'must be days or spans such as 2026-12-24/2026-12-26; 2027-01-01',
    })
    return []
  }),
)

const columns = {
  full_name: singleLineText(200),
  specialty: singleLineText(100).nullish(),
  department_external_id: ExternalRef.nullish(),
  is_active: booleanField.nullish(),
  hours: weeklyHours.nullish(),
  breaks: weeklyHours.nullish(),
  time_off: timeOff.nullish(),
}

/** A doctor without working hours. */
export const NEW_DOCTOR: Omit<Doctor, 'id' | 'fullName'> = {
  specialty: null,
  departmentId: null,
  isActive: true,
  hours: {},
  breaks: {},
  timeOff: [],
  exceptions: {},
}

export function doctorImport(table: Table): ImportEntity<Fields> {
  const store = doctorStore({ table })
  const departments = departmentStore({ table })
  return {
    name: 'doctors',
    idKind: 'doctor',
    columns: Object.keys(columns),
    required: ['full_name'],
    schema: (_clinic, _now, idOf) =>
      z.strictObject(columns).transform((row) => ({
        fullName: row.full_name,
        specialty: row.specialty,
        departmentId: row.department_external_id && idOf('department', row.department_external_id),
        isActive: row.is_active ?? undefined,
        hours: row.hours === null ? {} : row.hours,
        breaks: row.breaks === null ? {} : row.breaks,
        timeOff: row.time_off === null ? [] : row.time_off,
      })),
    write: async (info, batch, outcomes) => {
      const { id: clinic } = info
      const known = await readIds(departments, info)
      const existing = await store.findMany(
        clinic,
        batch.map(({ id }) => id),
      )
      const changes = batch.flatMap(({ id, externalId, fields }): DoctorChange[] => {
        const [problem] = departmentProblems({ departmentId: fields.departmentId ?? null }, known)
        if (problem) {
          outcomes.rejected(id, `department_external_id ${problem.issue}`)
          return []
        }
        const before = existing.get(id) ?? null
        if (before && isUnchanged(before, definedFields(fields))) {
          outcomes.unchanged(id)
          return []
        }
        const { version: _, ...doctor } = before ?? { ...NEW_DOCTOR, fullName: '', version: 0, externalId }
        return [{ before, after: { ...doctor, ...definedFields(fields), id } }]
      })
      const [updated, created] = [
        changes.filter(({ before }) => before),
        changes.filter(({ before }) => !before),
      ]
      for (const [write, doctors] of [
        ['imported', created],
        ['updated', updated],
      ] as const) {
        for (const chunk of chunked(doctors, MAX_SAVED)) {
          const ids = chunk.map(({ after }) => after.id)
          await outcomes.commit(ids, write, () => store.save(clinic, chunk))
        }
      }
    },
    finish: ({ id }) => copiedNames(table).refreshAll(id),
  }
}
