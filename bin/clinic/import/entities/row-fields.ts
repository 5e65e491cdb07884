/** Fields that rows of several entities have. */
import * as z from 'zod'
import { isCalendarDate, LAST_DATE } from '../../../../shared/domain/timestamp.ts'

/** A boolean of NDJSON, or its text in CSV. */
export const booleanField = z.union(
  [z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')],
  { error: 'must be true or false' },
)

/** Text of one line. Line breaks of a cell become spaces. */
export const rowText = <Line extends z.ZodType>(line: Line) =>
  z.preprocess(
    (text) => (typeof text === 'string' ? text.trim().replace(/[\t ]*[\r\n]+\s*/g, ' ') : text),
    line,
  )

/** The first day of year 1 is in year 0 in some time zones. */
const FIRST_DATE = '0001-01-02'

/** A timestamp with an offset, as an ISO 8601 instant in UTC. */
export const Instant = z.iso
  .datetime({ offset: true, error: 'must be a timestamp such as 2026-05-01T10:00:00+03:00' })
  .transform((text) => new Date(text).toISOString())
  .refine((instant) => FIRST_DATE <= instant && instant.slice(0, 10) <= LAST_DATE, {
    error: `must be from ${FIRST_DATE} to ${LAST_DATE}`,
  })

const NOT_A_DATE = 'is not YYYY-MM-DD (31.12.1974 would be 1974-12-31)'

/** A date. A wrong one gets one reason. */
export const RowDate = z.string({ error: NOT_A_DATE }).superRefine((text, context) => {
  if (isCalendarDate(text)) return
  const message = /^\d{4}-\d{2}-\d{2}$/.test(text) ? 'is not a date that exists' : NOT_A_DATE
  context.addIssue({ code: 'custom', message })
})

/** A date that a record can have. */
export const RowRecordDate = RowDate.refine((date) => !isCalendarDate(date) || date <= LAST_DATE, {
  error: `must not be after ${LAST_DATE}`,
})
