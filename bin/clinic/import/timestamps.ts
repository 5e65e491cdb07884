import * as z from 'zod'

/** A timestamp with an offset, as an ISO 8601 instant in UTC. */
export const Instant = z.iso
  .datetime({ offset: true, error: 'must be a timestamp such as 2026-05-01T10:00:00+03:00' })
  .transform((text) => new Date(text).toISOString())
