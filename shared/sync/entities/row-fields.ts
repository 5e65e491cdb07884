/** Fields that rows of several entities have. */
import * as z from 'zod'
import { isCalendarDate, LAST_DATE } from '../../domain/timestamp.ts'

/** A boolean of NDJSON, or its text in CSV, which spreadsheets save in capitals. */
export const booleanField = z.preprocess(
  (value) => (typeof value === 'string' && /^(true|false)$/i.test(value) ? /^t/i.test(value) : value),
  z.boolean({ error: 'must be true or false' }),
)

/** Text of one line. Line breaks of a cell become spaces. */
export const rowText = <Line extends z.ZodType>(line: Line) =>
  z.preprocess(
    (text) => (typeof text === 'string' ? text.trim().replace(/[\t ]*[\r\n]+\s*/g, ' ') : text),
    line,
  )

/** The first day of year 1 is in year 0 in some time zones. */
const FIRST_DATE = '0001-01-02'

/** The days since 1900 by which a spreadsheet stores a date from May 1927 on, with or without a time. */
const DAY_NUMBER = /^[1-9]\d{4}(\.\d+)?$/

const problemOf = (problem: string) => (input: unknown) =>
  typeof input !== 'object' && DAY_NUMBER.test(String(input))
    ? "is a spreadsheet's day number; save the column as dates"
    : problem

const notATimestamp = problemOf('must be a timestamp such as 2026-05-01T10:00:00+03:00')

/** A timestamp with an offset, as an ISO 8601 instant in UTC. */
export const Instant = z.iso
  .datetime({ offset: true, error: ({ input }) => notATimestamp(input) })
  .transform((text) => new Date(text).toISOString())
  .refine((instant) => FIRST_DATE <= instant && instant.slice(0, 10) <= LAST_DATE, {
    error: `must be from ${FIRST_DATE} to ${LAST_DATE}`,
  })

const notADate = problemOf('is not YYYY-MM-DD (31.12.1974 would be 1974-12-31)')

/** A date. A wrong one gets one reason. */
export const RowDate = z.string({ error: ({ input }) => notADate(input) }).superRefine((text, context) => {
  if (isCalendarDate(text)) return
  const message = /^\d{4}-\d{2}-\d{2}$/.test(text) ? 'is not a date that exists' : notADate(text)
  context.addIssue({ code: 'custom', message })
})

/** A date that a record can have. */
export const RowRecordDate = RowDate.refine((date) => !isCalendarDate(date) || date <= LAST_DATE, {
  error: `must not be after ${LAST_DATE}`,
})
