import { isDeepStrictEqual } from 'node:util'
import { isSameSpan, MAX_HOLIDAYS, type TimeOff } from '../../domain/booking/doctor.ts'
import { dayOffReason } from '../../domain/booking/doctor-days.ts'
import { copiedNames } from '../../store/copies/copied-names.ts'
import type { Holidays } from '../../store/doctors.ts'
import { holidayStore, keptImports } from '../../store/holidays.ts'
import { retryOnConflict } from '../../store/table/retries.ts'
import type { Table } from '../../store/table/table.ts'
import type { RowWrite } from '../outcomes/batch-outcomes.ts'
import { RowRejectedError, requireKnownId } from '../outcomes/row-rejected.ts'
import { columnTable, defaulted, nullable, required } from './columns.ts'
import type { ImportEntity, ImportRow, ImportRun, RowFields } from './entity.ts'
import { RowRecordDate } from './row-fields.ts'

type Fields = RowFields<Omit<TimeOff, 'times'>> & Pick<TimeOff, 'from'>

const columns = columnTable(
  {
    from: required('from', RowRecordDate),
    to: defaulted('to', RowRecordDate),
    name: nullable('reason', dayOffReason),
  },
  (row) =>
    row.refine(({ from, to }) => to == null || from <= to, {
      path: ['to'],
      error: 'must not be before the first day',
    }),
)

export const { cells: holidayCells, valuesOf: holidayValues } = columns

/** The holidays after a row. */
type Decided = { readonly write: RowWrite; readonly after: Pick<Holidays, 'holidays' | 'imports'> }

/** Holidays of the whole clinic. They are one item, which each row changes: there are few of them. */
export function holidayImport(table: Table): ImportEntity<Fields> {
  const store = holidayStore({ table })

  async function writeRow(run: ImportRun, row: ImportRow<Fields>): Promise<void> {
    const { clinic, overwritePolicy, outcomes } = run
    const held = await store.read(clinic.id)
    if (overwritePolicy.isImported(row, held.imports[row.id] ?? {})) {
      outcomes.unchanged(row.id)
      return
    }
    const decided = outcomes.decided(row.id, () => decide(run, row, held))
    if (decided)
      await outcomes.commit([row.id], decided.write, () => store.save(clinic.id, held, decided.after))
  }

  return {
    name: 'holidays',
    idKind: 'holiday',
    ...columns,
    write: async (run, batch) => {
      for (const row of batch) await retryOnConflict(() => writeRow(run, row))
    },
    finish: async ({ id }) => {
      await copiedNames(table).refreshHolidays(id)
    },
  }
}

/** @throws RowRejectedError */
function decide(
  { overwritePolicy }: ImportRun,
  row: ImportRow<Fields>,
  { holidays, imports }: Holidays,
): Decided {
  const stored = imports[row.id] ?? null
  requireKnownId(row, stored)
  // A row without a last day is a single day.
  const { from, to = from, reason } = row.fields
  const sameDays = holidays.find((one) => isSameSpan(one, { from, to })) ?? null
  const owner = Object.entries(imports).find(([, one]) => sameDays && isSameSpan(one, sameDays))
  // A holiday that was added by hand has no import.
  const before = stored ? (holidays.find((one) => isSameSpan(one, stored)) ?? null) : owner ? null : sameDays
  if (sameDays && sameDays !== before)
    throw new RowRejectedError({ field: 'from', issue: 'and to are the days of another holiday' })
  if (stored && !before)
    overwritePolicy.requireOverwrite(
      'removed',
      'the holiday was removed after its last import',
      'to make it again',
    )
  if (!before && holidays.length >= MAX_HOLIDAYS)
    throw new RowRejectedError({
      field: '',
      issue: `the clinic has ${MAX_HOLIDAYS} holidays already, the most that it can have`,
    })
  const after = { from, to, reason: reason === undefined ? (before?.reason ?? null) : reason }
  const provenance = overwritePolicy.check(row, stored, before && holidayValues(before), holidayValues(after))
  return {
    write: before ? (isDeepStrictEqual(before, after) ? 'unchanged' : 'updated') : 'imported',
    after: {
      holidays: [...holidays.filter((one) => one !== before), after],
      imports: { ...keptImports({ holidays, imports }), [row.id]: { ...provenance, from, to } },
    },
  }
}
