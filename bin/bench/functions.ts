/** Functions of endpoints, with the environment and the events that they have in the deployment. */
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from 'aws-lambda'
import { ENDPOINTS } from '../../shared/api/routes.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { functionFile } from '../../shared/runtime/workers.ts'

/** A request to the endpoint with the id `to`. Those with a body have an idempotency key. */
export type BenchRequest = {
  readonly to: string
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number>>
  readonly body?: object
}

/** Sends a request, and returns the body of its response. @throws Error for a response that is not successful */
export type Send = (
  request: BenchRequest,
) => Promise<{ readonly data: { readonly id: string }; readonly meta: { readonly total: number } }>

/** @param endpoint the address of every AWS service */
export const environment = (tableName: string, endpoint: string) => ({
  TABLE_NAME: tableName,
  STAGE: 'bench',
  CHECK_RESPONSES: 'off',
  REQUESTS_PER_MINUTE: '1000000',
  SMS_SENDER_ID: 'Bench',
  SMS_MAX_PRICE: '0.10',
  SMS_PER_DAY: '1000000',
  EMAILS_PER_DAY: '1000000',
  MESSAGES_PER_RECIPIENT: '1000000',
  SMS_COUNTRIES: 'TR',
  EMAIL_QUEUE_URL: `${endpoint}/000000000000/emails`,
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
  AWS_ENDPOINT_URL: endpoint,
})

export function eventOf(
  authorization: string,
  { to, path, query = {}, body }: BenchRequest,
  key?: string,
): APIGatewayProxyEvent {
  const parameters = Object.entries(query).map(([name, value]) => [name, [String(value)]])
  return {
    httpMethod: ENDPOINTS.find(({ id }) => id === to)?.method,
    pathParameters: path ?? null,
    multiValueHeaders: {
      authorization: [authorization],
      'content-type': ['application/json'],
      ...(key && { 'idempotency-key': [key] }),
    },
    multiValueQueryStringParameters: Object.fromEntries(parameters),
    body: body ? JSON.stringify(body) : null,
    requestContext: { extendedRequestId: newUuid(), identity: { sourceIp: '192.0.2.1' } },
  } as unknown as APIGatewayProxyEvent
}

/** Loads a function into this process, which has its environment. */
export async function loadFunction(id: string) {
  const { handler } = (await import(`../../${functionFile(id)}`)) as {
    handler: (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>
  }
  // The chain keeps the state of a request in its context.
  return (event: APIGatewayProxyEvent) =>
    handler(event, { getRemainingTimeInMillis: () => 15_000 } as Context)
}

/** Runs work without the log lines of functions. */
export async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const write = process.stdout.write
  process.stdout.write = () => true
  try {
    return await work()
  } finally {
    process.stdout.write = write
  }
}
