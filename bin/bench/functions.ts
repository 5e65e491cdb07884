/** Requests to the functions of endpoints in this process. */
import type { Clinic } from '../../shared/domain/clinic.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import type { Table } from '../../shared/store/table/table.ts'
import { functionEnvironment, request, type SentRequest } from '../../test/support/functions.ts'
import { issueBenchCredential } from './records.ts'

/** A request to the endpoint with the id `to`. */
export type BenchRequest = Pick<SentRequest, 'path' | 'query' | 'body'> & { readonly to: string }

/** Sends a request, and returns the body of its response. @throws Error for a response that is not successful */
export type Send = <Data = { readonly id: string }>(
  request: BenchRequest,
) => Promise<{ readonly data: Data; readonly meta: { readonly total: number } }>

/** Sends requests of a clinic with idempotency keys. */
export async function sender(table: Table, clinic: Clinic): Promise<Send> {
  const { headers } = await issueBenchCredential(table, clinic)
  return async ({ to, ...sent }) => {
    const keyed = { ...headers, 'idempotency-key': newUuid() }
    const { status, text, body } = await request(to, { headers: keyed, ...sent })
    if (status >= 300) throw new Error(`${to}: ${status} ${text}`)
    return body
  }
}

/** The environment of functions. @param endpoint the address of every AWS service */
export const environment = (tableName: string, endpoint: string): Record<string, string> => ({
  ...functionEnvironment(tableName),
  CHECK_RESPONSES: 'off',
  EMAIL_QUEUE_URL: `${endpoint}/000000000000/emails`,
  AWS_ENDPOINT_URL: endpoint,
})
