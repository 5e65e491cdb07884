import type { APIGatewayProxyEvent } from 'aws-lambda'
import { missingScope } from '../api/errors.ts'
import { acceptsIfMatch, type Route, scopesOf } from '../api/route.ts'
import type { Credential } from '../domain/credential.ts'
import type { Scope } from '../domain/scope.ts'
import type { ApiCall } from './call.ts'
import { namesEtags } from './read-if-match.ts'

/**
 * Requires the route's scope, if it has one. If the scope depends on the body, requires any of the route's scopes;
 * {@link authorizeBody} then checks the exact one. Some query parameters require a further scope, and etags in `if-match` the
 * scope that reads the record: whether they match would confirm a guess of its fields.
 */
export function authorize(
  route: Pick<Route, 'scope' | 'parameterScopes' | 'readScope' | 'errors'>,
  event: APIGatewayProxyEvent,
  { scopes }: Pick<Credential, 'scopes'>,
): void {
  const accepted = scopesOf(route)
  if (accepted.length > 0 && new Set(accepted).isDisjointFrom(new Set(scopes))) throw missingScope(accepted)
  for (const [name, scope] of Object.entries(route.parameterScopes ?? {})) {
    const isSent = event.multiValueQueryStringParameters?.[name] !== undefined
    if (isSent && !scopes.includes(scope)) throw missingScope([scope])
  }
  const { readScope } = route
  if (readScope && acceptsIfMatch(route) && !scopes.includes(readScope) && namesEtags(event))
    throw missingScope([readScope])
}

/** Requires the scopes that fields of the body select. Runs before the body is validated. */
export function authorizeBody(
  { scope, furtherScope }: Pick<Route, 'scope' | 'furtherScope'>,
  call: ApiCall,
  body: object,
): void {
  for (const selected of [scope, furtherScope]) {
    if (!selected || typeof selected === 'string') continue
    const value = (body as Record<string, unknown>)[selected.field]
    const isKnown = typeof value === 'string' && Object.hasOwn(selected.byValue, value)
    const needed = isKnown ? selected.byValue[value] : undefined
    if (needed && !hasScope(call, needed)) throw missingScope([needed])
  }
}

const hasScope = ({ credential }: ApiCall, scope: Scope): boolean =>
  credential?.scopes.includes(scope) ?? false
