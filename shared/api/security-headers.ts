/**
 * Headers of every response, the gateway’s own included. Browsers that once reached the API by https never use http for it, and
 * take the declared content type as it is.
 */
export const SECURITY_HEADERS = {
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
  'x-content-type-options': 'nosniff',
} as const satisfies Readonly<Record<string, string>>
