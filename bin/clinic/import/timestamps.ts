import * as z from 'zod'
import { LAST_DATE } from '../../../shared/domain/timestamp.ts'

/** The first day of year 1 is in year 0 in some time zones. */
const FIRST_DATE = '0001-01-02'

/** A timestamp with an offset, as an ISO 8601 instant in UTC. */
export const Instant = z.iso
  .datetime({ offset: true, error: 'must be a timestamp such as 2026-05-01T10:00:00+03:00' })
  .transform((text) => new Date(text).toISOString())
  .refine((instant) => FIRST_DATE <= instant && instant.slice(0, 10) <= LAST_DATE, {
    error: `must be from ${FIRST_DATE} to ${LAST_DATE}`,
  })
