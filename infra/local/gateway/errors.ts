import type { ResolvedTemplate } from '../template/template.ts'
import { openApiBodies } from './open-api.ts'
import type { HttpResponse } from './response.ts'

/** The gateway's own errors, with the status, message and error type of AWS. */
const GATEWAY_ERRORS = {
  DEFAULT_4XX: [400, 'Bad Request', 'BadRequestException'],
  DEFAULT_5XX: [502, 'Internal server error', 'InternalServerErrorException'],
  INTEGRATION_TIMEOUT: [504, 'Endpoint request timed out', 'InternalServerErrorException'],
  INVALID_SIGNATURE: [403, 'The Authorization header is no AWS signature', 'IncompleteSignatureException'],
  MISSING_AUTHENTICATION_TOKEN: [403, 'Missing Authentication Token', 'MissingAuthenticationTokenException'],
  REQUEST_TOO_LARGE: [413, 'Request Too Long', 'RequestTooLargeException'],
  THROTTLED: [429, 'Too Many Requests', 'TooManyRequestsException'],
} as const satisfies Record<string, readonly [status: number, message: string, errorType: string]>

export type GatewayErrorType = keyof typeof GATEWAY_ERRORS

type Properties = {
  readonly ResponseType: string
  readonly StatusCode?: string
  readonly ResponseParameters?: Readonly<Record<string, string>>
  readonly ResponseTemplates?: Readonly<Record<string, string>>
}

/** $context variables of the request, by their names without `$context.` */
type ErrorContext = Readonly<Record<string, string>>

export type RenderError = (type: GatewayErrorType, context: ErrorContext) => HttpResponse

/** Renders the gateway's own errors with the gateway responses of the template. */
export function gatewayErrors(template: ResolvedTemplate): RenderError {
  const responses = new Map<string, Properties>()
  const defined = [
    ...template.resourcesOf<Properties>('AWS::ApiGateway::GatewayResponse'),
    ...definedByDocument(template),
  ]
  for (const { id, properties } of defined) {
    checkParameters(id, properties)
    responses.set(properties.ResponseType, properties)
  }
  return (type, context) => {
    const [status, message, errorType] = GATEWAY_ERRORS[type]
    const fallback = status < 500 ? 'DEFAULT_4XX' : 'DEFAULT_5XX'
    const properties: Partial<Properties> = responses.get(type) ?? responses.get(fallback) ?? {}
    const { StatusCode, ResponseParameters = {}, ResponseTemplates = DEFAULT_TEMPLATES } = properties
    const [contentType, body] = templateOf(ResponseTemplates)
    const values: ErrorContext = {
      ...context,
      'error.message': message,
      'error.messageString': JSON.stringify(message),
      'error.responseType': type,
    }
    return {
      status: Number(StatusCode ?? status),
      headers: [
        ['Content-Type', contentType],
        ['x-amzn-ErrorType', errorType],
        ...Object.entries(ResponseParameters).map(
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

const definedByDocument = (template: ResolvedTemplate): { id: string; properties: Properties }[] =>
  openApiBodies(template).flatMap(({ id, body }) =>
    Object.entries(body['x-amazon-apigateway-gateway-responses'] ?? {}).map(([ResponseType, response]) => {
      const { statusCode, responseParameters, responseTemplates } = response
      return {
        id: `${id}: ${ResponseType}`,
        properties: {
          ResponseType,
          ...(statusCode !== undefined && { StatusCode: statusCode }),
          ...(responseParameters && { ResponseParameters: responseParameters }),
          ...(responseTemplates && { ResponseTemplates: responseTemplates }),
        },
      }
    }),
  )

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

function checkParameters(id: string, { ResponseParameters = {} }: Properties): void {
  for (const [name, value] of Object.entries(ResponseParameters))
    if (!name.startsWith(HEADER_PREFIX) || !(LITERAL.test(value) || CONTEXT.test(value)))
      throw new Error(`${id} maps ${name} to ${value}, which the local gateway does not support.`)
}

const resolveParameter = (value: string, context: ErrorContext): string =>
  LITERAL.exec(value)?.[1] ?? context[CONTEXT.exec(value)?.[1] ?? ''] ?? ''
