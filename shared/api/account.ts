import * as z from 'zod'
import type { Credential } from '../domain/credential.ts'
import { SCOPES } from '../domain/scope.ts'
import { clinicTimestamp } from '../domain/timestamp.ts'
import { defineRoute } from './route.ts'
import { envelopeOf, oneOf, Timestamp, Uuid } from './schemas.ts'

/** The credential of the request, without its secret. */
const Account = z.lazy(() =>
  z
    .strictObject({
      key: z.string(),
      name: z.string(),
      scopes: z.array(oneOf(SCOPES)),
      expires_at: Timestamp.nullable(),
      rate_limit: z.int().min(1),
      clinic: z
        .strictObject({ id: Uuid, name: z.string(), timezone: z.string(), is_test: z.boolean() })
        .meta({ id: 'AccountClinic' }),
    })
    .meta({ id: 'Account' }),
)

/** A credential with the rate limit that applies to it. */
export type Caller = Pick<Credential, 'key' | 'name' | 'scopes' | 'expiresAt' | 'clinic'> & {
  readonly requestsPerMinute: number
}

export const renderAccount = (caller: Caller): z.input<typeof Account> => ({
  key: caller.key,
  name: caller.name,
  scopes: [...caller.scopes],
  expires_at: caller.expiresAt && clinicTimestamp(caller.expiresAt, caller.clinic.timezone),
  rate_limit: caller.requestsPerMinute,
  clinic: {
    id: caller.clinic.id,
    name: caller.clinic.name,
    timezone: caller.clinic.timezone,
    is_test: caller.clinic.isTest ?? false,
  },
})

export const getAccount = defineRoute({
  id: 'get-me',
  method: 'GET',
  path: '/me',
  summary: 'Retrieve the credential of the request',
  description: 'Shows which clinic the credential gives access to, and with which scopes.',
  scope: null,
  response: { status: 200, body: envelopeOf(Account), record: {} },
  errors: [],
})

/** Reads nothing but the credential: it reports that requests are served, not that every part of the service works. */
export const getHealth = defineRoute({
  id: 'get-health',
  method: 'GET',
  path: '/health',
  summary: 'Check that the API serves requests',
  scope: null,
  response: {
    status: 200,
    body: z.strictObject({ status: z.literal('ok'), tzdata: z.string() }).meta({ id: 'Health' }),
  },
  errors: [],
})
