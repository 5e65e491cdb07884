import type * as z from 'zod'
import { ApiError } from '../api/errors.ts'
import { errorsOf, type Route } from '../api/route.ts'

/** A response that violates the endpoint's own contract, which is a defect of the endpoint. */
export class ContractViolation extends Error {
  /** `mismatch` names fields and rules, never values, because it is logged. */
  constructor(mismatch: string) {
    super('the response violates the contract of its route')
    this.name = `ContractViolation(${mismatch})`
  }
}

/** Checks a response against the contract of its route. In development only (see CHECK_RESPONSES). */
export function checkResponse(route: Route, response: unknown): unknown {
  const { error } = route.response.body.safeParse(response)
  if (error) throw new ContractViolation(mismatches(error))
  return response
}

/** The error itself, or a violation if it is one of the catalogue that the route does not declare. */
export const checkDeclared = (route: Route, error: unknown): unknown =>
  error instanceof ApiError && !errorsOf(route).includes(error.key)
    ? new ContractViolation(`undeclared error ${error.key}`)
    : error

const mismatches = (error: z.ZodError): string =>
  error.issues.map(({ path, code }) => `${path.join('.')}: ${code}`).join(', ')
