import * as z from 'zod'

/** A boolean of NDJSON, or its text in CSV. */
export const booleanField = z.union(
  [z.boolean(), z.enum(['true', 'false']).transform((text) => text === 'true')],
  {
    error: 'must be true or false',
  },
)
