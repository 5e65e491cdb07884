import type { Clinic } from '../../shared/domain/clinic.ts'
import { DEFAULT_CELL } from '../../shared/domain/credential.ts'
import { confirmsExternalIds, SCOPES, type Scope } from '../../shared/domain/scope.ts'
import { credentialStore } from '../../shared/store/credentials.ts'
import type { Table } from '../../shared/store/table/table.ts'

/** The scopes of an integrator, whose external ids an operator has to confirm. */
export const INTEGRATOR_SCOPES = SCOPES.filter((scope) => !confirmsExternalIds([scope]))

/** Issues a credential of the clinic; also returns its authorization header. */
export async function issueCredential(
  table: Table,
  clinic: Clinic,
  scopes: readonly Scope[] = SCOPES,
  expiresAt: string | null = null,
  requestsPerMinute: number | null = null,
) {
  const credential = await credentialStore({ table, now: Date.now }).issue({
    name: 'test',
    clinic: clinic.id,
    cell: DEFAULT_CELL,
    scopes,
    expiresAt,
    requestsPerMinute,
  })
  return { ...credential, headers: { Authorization: `Developer ${credential.key}:${credential.secret}` } }
}
