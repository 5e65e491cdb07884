import type * as z from 'zod'
import { ApiError } from '../api/errors.ts'
import { errorsOf, type Route } from '../api/route.ts'
import type { Middleware } from './call.ts'
import { ReplayedResponse } from './replayed-response.ts'

/** An answer that breaks the endpoint's own contract: a defect of ours, found before a client does. */
export class ContractViolation extends Error {
  /** `how` names fields and rules, never values: it reaches the log. */
  constructor(mismatch: string) {
    super('the answer does not fit the contract')
    this.name = `ContractBroken(${mismatch})`
  }
}

/** Holds what the endpoint answers against its route; in development only (see CHECK_RESPONSES). */
export function checkResponse(route: Route): Middleware {
  const { body } = route.response
  const declared: readonly string[] = errorsOf(route)
  return {
    after: ({ response }) => {
      // It was checked when it was first sent.
      if (response instanceof ReplayedResponse) return
      const { error } = body.safeParse(response)
      if (error) throw new ContractViolation(mismatches(error))
    },
    onError: (request) => {
      const { error } = request
      if (error instanceof ApiError && !declared.includes(error.key)) {
        request.error = new ContractViolation(`undeclared error ${error.key}`)
      }
    },
  }
}

const mismatches = (error: z.ZodError): string =>
  error.issues.map(({ path, code }) => `${path.join('.')}: ${code}`).join(', ')
