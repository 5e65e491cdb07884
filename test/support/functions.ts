import { beforeAll, inject, vi } from 'vitest'
import type { Route } from '../../shared/api/route.ts'
import { functionFile } from '../../shared/runtime/workers.ts'
import { call, type RequestInput } from './event.ts'
import { type TestTable, tableOfFile } from './table.ts'

/** The environment that the stack sets for functions. */
export const functionEnvironment = (tableName: string): Record<string, string> => ({
  TABLE_NAME: tableName,
  STAGE: 'test',
  CHECK_RESPONSES: 'on',
  REQUESTS_PER_MINUTE: '100000',
  EMAIL_QUEUE_URL: 'http://127.0.0.1:1/000000000000/emails',
  DELIVERY_QUEUE_URL: 'http://127.0.0.1:1/000000000000/deliveries',
  SLOW_DELIVERY_QUEUE_URL: 'http://127.0.0.1:1/000000000000/slow-deliveries',
  MAINTENANCE_QUEUE_URL: 'http://127.0.0.1:1/000000000000/maintenance',
  EMAIL_FROM: 'clinic@example.com',
  EMAIL_CONFIGURATION_SET: 'mail',
  EMAILS_PER_SECOND: '1000',
  SMS_SENDER_ID: 'Clinic',
  SMS_MAX_PRICE: '0.50',
  SMS_PER_DAY: '1000',
  EMAILS_PER_DAY: '1000',
  MESSAGES_PER_RECIPIENT: '10',
  SMS_COUNTRIES: 'TR,US,DE',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
})

/** Sets the environment of functions, with the DynamoDB engine of the test run, if the tier has one. */
export function stubFunctionEnvironment(tableName: string, more: Record<string, string> = {}): void {
  const AWS_ENDPOINT_URL_DYNAMODB = inject('dynamodb') ?? 'http://127.0.0.1:1'
  const variables = { ...functionEnvironment(tableName), AWS_ENDPOINT_URL_DYNAMODB, ...more }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}

/** A table of its own for the test file, which functions use. */
export function tableOfFunctions(more: Record<string, string> = {}): TestTable {
  const db = tableOfFile()
  beforeAll(() => stubFunctionEnvironment(db.name, more))
  return db
}

/** The handler of a route or worker. */
export async function handlerOf(route: Pick<Route, 'id'>): Promise<unknown> {
  const { handler } = (await import(/* @vite-ignore */ `../../${functionFile(route.id)}`)) as {
    handler: unknown
  }
  return handler
}

const METHODS: Record<string, string> = { get: 'GET', list: 'GET', update: 'PATCH', delete: 'DELETE' }

export type SentRequest = Omit<RequestInput, 'body' | 'method' | 'headers'> & {
  body?: unknown
  headers?: Record<string, string | string[] | undefined>
}

/** Sends a request to an endpoint. A body that is not text is sent as JSON. */
export async function request(id: string, { body, headers, ...sent }: SentRequest = {}) {
  const all = { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }
  return call(await handlerOf({ id }), {
    method: METHODS[id.split('-')[0] ?? ''] ?? 'POST',
    headers: Object.fromEntries(Object.entries(all).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]]))),
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...sent,
  })
}
