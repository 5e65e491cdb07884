import type { ResolvedTemplate } from '../template/template.ts'
import { type GatewayResponseExtension, openApiBodies } from './open-api.ts'
import type { HttpResponse } from './response.ts'

/** The gateway's own errors, with the status, message and error type of AWS. */
const GATEWAY_ERRORS = {
  DEFAULT_4XX: [400, 'Bad Request', 'BadRequestException'],
  DEFAULT_5XX: [502, 'Internal server error', 'InternalServerErrorException'],
  INTEGRATION_TIMEOUT: [504, 'Endpoint request timed out', 'InternalServerErrorException'],
  INVALID_SIGNATURE: [403, 'The Authorization header is no AWS signature', 'IncompleteSignatureException'],
  MISSING_AUTHENTICATION_TOKEN: [403, 'Missing Authentication Token', 'MissingAuthenticationTokenException'],
  REQUEST_TOO_LARGE: [413, 'Request Too Long', 'RequestTooLargeException'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Unsupported Media Type', 'BadRequestException'],
  THROTTLED: [429, 'Too Many Requests', 'TooManyRequestsException'],
} as const satisfies Record<string, readonly [status: number, message: string, errorType: string]>

export type GatewayErrorType = keyof typeof GATEWAY_ERRORS

/** $context variables of the request, by their names without `$context.` */
export type ErrorContext = Readonly<Record<string, string>>

export type RenderError = (type: GatewayErrorType, context: ErrorContext) => HttpResponse

/** Renders the gateway's own errors with the gateway responses of the template. */
export function gatewayErrors(template: ResolvedTemplate): RenderError {
  const responses = new Map<string, GatewayResponseExtension>()
  const [other] = template.resourcesOf('AWS::ApiGateway::GatewayResponse')
  if (other)
    throw new Error(`${other.id} is not in the document of its API; the local gateway supports no others.`)
  for (const { id, body } of openApiBodies(template))
    for (const [type, response] of Object.entries(body['x-amazon-apigateway-gateway-responses'] ?? {})) {
      checkParameters(`${id}: ${type}`, HEADER_PREFIX, response.responseParameters)
      responses.set(type, response)
    }
  return (type, context) => {
    const [status, message, errorType] = GATEWAY_ERRORS[type]
    const fallback = status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX'
    const response = responses.get(type) ?? responses.get(fallback) ?? {}
    const { statusCode, responseParameters = {}, responseTemplates = DEFAULT_TEMPLATES } = response
    const [contentType, body] = templateOf(responseTemplates)
    const values: ErrorContext = {
      ...context,
      'error.message': message,
      'error.messageString': JSON.stringify(message),
      'error.responseType': type,
    }
    return {
      status: Number(statusCode ?? status),
      headers: [
        ['Content-Type', contentType],
        ['x-amzn-ErrorType', errorType],
        ...Object.entries(responseParameters).map(
          ([name, value]) => [name.slice(HEADER_PREFIX.length), resolveParameter(value, values)] as const,
        ),
      ],
      body: body.replace(
        /\$context\.([A-Za-z]+(?:\.[A-Za-z]+)*)/g,
        (_all, name: string) => values[name] ?? '',
      ),
    }
  }
}

const HEADER_PREFIX = 'gatewayresponse.header.'
const DEFAULT_TEMPLATES = { 'application/json': '{"message":$context.error.messageString}' }

const templateOf = (templates: Readonly<Record<string, string>>): readonly [string, string] => {
  const json = templates['application/json']
  return json === undefined
    ? (Object.entries(templates)[0] ?? ['application/json', DEFAULT_TEMPLATES['application/json']])
    : ['application/json', json]
}

const LITERAL = /^'(.*)'$/
const CONTEXT = /^context\.(.+)$/

/** @throws Error for a header with another value than a literal or a variable of the context */
export function checkParameters(
  id: string,
  prefix: string,
  parameters: GatewayResponseExtension['responseParameters'] = {},
): void {
  for (const [name, value] of Object.entries(parameters))
    if (!name.startsWith(prefix) || !(LITERAL.test(value) || CONTEXT.test(value)))
      throw new Error(`${id} maps ${name} to ${value}, which the local gateway does not support.`)
}

export const resolveParameter = (value: string, context: ErrorContext): string =>
  LITERAL.exec(value)?.[1] ?? context[CONTEXT.exec(value)?.[1] ?? ''] ?? ''
