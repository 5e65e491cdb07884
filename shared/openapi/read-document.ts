/** The parts of the API document that the documentation's pages, the Python client and the tools of assistants are made from. */

export type Schema = {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly description?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly deprecated?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly maxItems?: number
  readonly additionalProperties?: boolean | Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}
type Reference = { readonly $ref?: string }
export type Parameter = Reference & {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly deprecated?: boolean
  readonly description?: string
  readonly schema: Schema
  readonly example?: unknown
}
export type Content = {
  readonly 'application/json'?: {
    readonly schema: Schema
    readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
  }
}
export type Response = Reference & { readonly description: string; readonly content?: Content }
export type Operation = {
  readonly operationId: string
  readonly summary: string
  readonly description?: string
  readonly tags: readonly string[]
  readonly deprecated?: boolean
  readonly 'x-required-scopes': readonly string[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, Response>>
}
type PathItem = Readonly<Record<string, Operation>>
export type ApiDocument = {
  readonly tags: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, PathItem>>
  readonly webhooks: Readonly<Record<string, PathItem>>
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>> & {
    readonly schemas: Readonly<Record<string, Schema>>
  }
}

/**
 * Follows a reference within the document.
 * @throws Error naming a reference that the document does not have
 */
export function resolve<T extends Reference>({ components }: ApiDocument, value: T): T {
  if (value.$ref === undefined) return value
  const [kind = '', name = ''] = value.$ref.split('/').slice(2)
  const found = components[kind]?.[name]
  if (!found) throw new Error(`The document has no ${value.$ref}.`)
  return found as T
}

/** An operation with its place in the document. */
export type Endpoint = { readonly method: string; readonly path: string; readonly operation: Operation }

/** The operations of `paths` or `webhooks`, without deprecated ones. */
export const endpointsOf = (items: Readonly<Record<string, PathItem>>): Endpoint[] =>
  Object.entries(items).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, { deprecated }]) => !deprecated)
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )

/** The first example of a body. */
export const exampleOf = (content: Content | undefined): unknown =>
  Object.values(content?.['application/json']?.examples ?? {})[0]?.value
