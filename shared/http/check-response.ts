import type * as z from 'zod'
import type { Link } from './call.ts'

/** An answer that breaks the endpoint's own contract: a defect of ours, found before a client does. */
export class ResponseMismatch extends Error {
  constructor(error: z.ZodError) {
    super('the response does not fit its schema')
    // Which fields and rules, never their values: this name reaches the log.
    this.name = `ResponseMismatch(${error.issues.map(({ path, code }) => `${path.join('.')}: ${code}`).join(', ')})`
  }
}

/** Holds what the endpoint returns against its schema; in development only (see CHECK_RESPONSES). */
export function checkResponse(schema: z.ZodType): Link {
  return {
    after: ({ response }) => {
      const { error } = schema.safeParse(response)
      if (error) throw new ResponseMismatch(error)
    },
  }
}
