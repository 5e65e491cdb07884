import type * as z from 'zod'
import { ApiError } from '../api/errors.ts'
import { errorsOf, type Route } from '../api/route.ts'
import type { Middleware } from './call.ts'
import { ReplayedResponse } from './replayed-response.ts'

/** A response that violates the endpoint's own contract, which is a defect of the endpoint. */
export class ContractViolation extends Error {
  /** `mismatch` names fields and rules, never values, because it is logged. */
  constructor(mismatch: string) {
    super('the response violates the contract of its route')
    this.name = `ContractViolation(${mismatch})`
  }
}

/** Checks the endpoint's response and errors against its route. In development only (see CHECK_RESPONSES). */
export function checkResponse(route: Route): Middleware {
  const { body } = route.response
  const declared: readonly string[] = errorsOf(route)
  return {
    after: ({ response }) => {
      // A replayed response was checked when it was first sent.
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
