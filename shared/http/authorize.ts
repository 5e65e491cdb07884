import { ApiError } from '../api/errors.ts'
import type { Scope } from '../domain/scope.ts'
import type { Link } from './call.ts'

/** Requires the route's scope (spec section 5). */
export function authorize(scope: Scope): Link {
  return {
    before: ({ context: { call } }) => {
      if (!call.credential?.scopes.includes(scope))
        throw new ApiError('missing_scope', { details: [{ scope }] })
    },
  }
}
