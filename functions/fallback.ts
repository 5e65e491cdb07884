import { ApiError } from '../shared/api/errors.ts'
import { BASE_PATH } from '../shared/api/route.ts'
import { methodsOf } from '../shared/api/routes.ts'
import { fallbackChain } from '../shared/http/chain.ts'
import { logToStdout } from '../shared/observability/log.ts'
import { now } from '../shared/runtime/system.ts'

/** Responds to unmatched requests: 405 when the path exists with other methods, else 404. */
export const handler = fallbackChain({ now, log: logToStdout }).handler(async ({ resource }) => {
  const allowed = resource.startsWith(BASE_PATH) ? methodsOf(resource.slice(BASE_PATH.length)) : []
  if (allowed.length === 0) throw new ApiError('route_not_found')
  throw new ApiError('method_not_allowed', { headers: { allow: allowed.join(', ') } })
})
