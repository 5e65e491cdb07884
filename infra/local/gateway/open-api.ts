import type { ResolvedTemplate } from '../template/template.ts'

/** The parts of a REST API's OpenAPI document that API Gateway acts on. */
export type OpenApiBody = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly security?: unknown
  readonly 'x-amazon-apigateway-request-validator'?: unknown
  readonly 'x-amazon-apigateway-binary-media-types'?: unknown
  readonly 'x-amazon-apigateway-minimum-compression-size'?: number
  readonly 'x-amazon-apigateway-gateway-responses'?: Readonly<Record<string, GatewayResponseExtension>>
}

type OpenApiOperation = {
  readonly security?: unknown
  readonly 'x-amazon-apigateway-request-validator'?: unknown
  readonly 'x-amazon-apigateway-integration'?: OpenApiIntegration
}

export type OpenApiIntegration = {
  readonly type?: string
  readonly uri?: string
  readonly timeoutInMillis?: number
  readonly passthroughBehavior?: string
  readonly requestTemplates?: Readonly<Record<string, string>>
  readonly responses?: Readonly<Record<string, GatewayResponseExtension>>
}

export type GatewayResponseExtension = {
  readonly statusCode?: string
  readonly responseParameters?: Readonly<Record<string, string>>
  readonly responseTemplates?: Readonly<Record<string, string>>
}

type RestApi = { readonly Body?: OpenApiBody }

/** REST APIs that are defined by a document, with their logical ids. @throws Error that names an unsupported extension */
export function openApiBodies(
  template: ResolvedTemplate,
): { readonly id: string; readonly body: OpenApiBody }[] {
  return template.resourcesOf<RestApi>('AWS::ApiGateway::RestApi').flatMap(({ id, properties: { Body } }) => {
    if (!Body) return []
    const parts = [Body, ...Object.values(Body.paths).flatMap((item) => Object.values(item))]
    if (parts.some((part) => part.security || part['x-amazon-apigateway-request-validator']))
      throw new Error(
        `${id} has an authorizer, an API key or a request validator: the local gateway supports none of these.`,
      )
    if (Body['x-amazon-apigateway-binary-media-types'])
      throw new Error(`${id} has binary media types, which the local gateway does not support.`)
    return [{ id, body: Body }]
  })
}
