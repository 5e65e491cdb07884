import { checkParameters, type ErrorContext, resolveParameter } from './errors.ts'
import type { OpenApiIntegration } from './open-api.ts'
import type { HttpResponse } from './response.ts'

/** A mock integration: the response to every request, by no function. */
export type Mock = {
  /** Media types with a template. A body of another type is rejected with a 415. */
  readonly mediaTypes: ReadonlySet<string>
  readonly respond: (context: ErrorContext) => HttpResponse
}

const HEADER_PREFIX = 'method.response.header.'

/** The mock of an operation. @throws Error for what the local gateway does not support, such as templates that depend on the request */
export function mockOf(
  id: string,
  { passthroughBehavior = '', requestTemplates = {}, responses = {} }: OpenApiIntegration,
): Mock {
  const { default: response, ...others } = responses
  const { statusCode, responseParameters = {}, responseTemplates = {} } = response ?? {}
  const [[contentType, body] = ['', '']] = Object.entries(responseTemplates)
  const isSupported =
    Object.keys(others).length === 0 &&
    passthroughBehavior.toUpperCase() === 'NEVER' &&
    Object.values(requestTemplates).every((template) => template === `{"statusCode":${statusCode}}`) &&
    Object.keys(responseTemplates).length === 1 &&
    !/[$#]/.test(body)
  if (!isSupported)
    throw new Error(`${id} has a mock that depends on the request, which the local gateway does not support.`)
  checkParameters(id, HEADER_PREFIX, responseParameters)
  return {
    mediaTypes: new Set(Object.keys(requestTemplates)),
    respond: (context) => ({
      status: Number(statusCode),
      headers: [
        ['Content-Type', contentType],
        ...Object.entries(responseParameters).map(
          ([name, value]) => [name.slice(HEADER_PREFIX.length), resolveParameter(value, context)] as const,
        ),
      ],
      body,
    }),
  }
}
