import type { APIGatewayProxyEvent } from 'aws-lambda'

/** Every value of a header, in the order in which they were sent. */
export const headerValues = (event: APIGatewayProxyEvent, name: string): string[] =>
  Object.entries(event.multiValueHeaders ?? {}).flatMap(([sent, values]) =>
    sent.toLowerCase() === name ? (values ?? []) : [],
  )

/** The value of a header; the last one, if it was sent more than once. */
export const headerOf = (event: APIGatewayProxyEvent, name: string): string | undefined =>
  headerValues(event, name).at(-1)
