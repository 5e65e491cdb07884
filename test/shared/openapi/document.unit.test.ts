/** The committed document: generated from the routes and the example records. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { errorEntry } from '../../../shared/api/error-catalogue.ts'
import { EVENT_NAMES, EVENT_PAYLOADS } from '../../../shared/api/events.ts'
import {
  acceptsIdempotencyKey,
  acceptsIfMatch,
  errorsOf,
  retrievesRecord,
  scopesOf,
} from '../../../shared/api/route.ts'
import { ROUTES } from '../../../shared/api/routes.ts'
import { signatureHeaders } from '../../../shared/delivery/webhooks/webhook-signature.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import { detailFields, pascalCase } from '../../../shared/openapi/errors.ts'
import { exchangesOf } from '../../../shared/openapi/examples.ts'
import {
  document,
  type Operation,
  operationOf,
  resolveRef,
  schemaError,
} from '../../support/document-conformance.ts'

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')

describe.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  const operation = operationOf(route.method, route.path) as Operation

  it('documents its scopes, parameters, statuses and errors', () => {
    expect(operation.operationId).toBe(route.id)
    expect(operation.security).toEqual([{ Developer: [] }])
    expect(operation['x-required-scopes']).toEqual(scopesOf(route))
    const parameters = operation.parameters.map(resolveRef).map(({ in: place, name }) => `${place} ${name}`)
    expect(parameters).toEqual([
      ...Object.keys(route.params ?? {}).map((name) => `path ${name}`),
      ...Object.keys(route.query?.shape ?? {}).map((name) => `query ${name}`),
      ...(acceptsIdempotencyKey(route) ? ['header idempotency-key', 'header x-idempotency-key'] : []),
      ...(retrievesRecord(route) ? ['header if-none-match'] : []),
      ...(acceptsIfMatch(route) ? ['header if-match'] : []),
    ])
    const statuses = errorsOf(route).map((key) => errorEntry(key).status)
    const { status, unchangedStatus = status } = route.response
    expect(Object.keys(operation.responses)).toEqual(
      [...new Set([status, unchangedStatus, ...(retrievesRecord(route) ? [304] : []), ...statuses])]
        .sort()
        .map(String),
    )
    for (const key of errorsOf(route))
      expect(JSON.stringify(resolveRef(operation.responses[errorEntry(key).status] ?? {}))).toContain(
        `${pascalCase(key)}Error`,
      )
  })

  it('leaves its responses open to new fields, and its request closed', () => {
    expect(hasClosedSchema(operation.responses)).toBe(false)
    if (route.body) expect(hasClosedSchema(operation.requestBody)).toBe(true)
  })

  it('documents query parameters by the type that they are parsed to', () => {
    for (const parameter of operation.parameters.map(resolveRef)) {
      if (parameter.in !== 'query') continue
      const parsed = ['true', '7'].map((text) => route.query?.shape[parameter.name]?.safeParse(text).data)
      const type = parsed.map((value) => PARSED_TYPES[typeof value]).find((found) => found !== undefined)
      expect([parameter.name, parameter.schema.type]).toEqual([parameter.name, type ?? 'string'])
    }
  })

  it('has examples of valid requests and of successful responses to them', () => {
    const exchanges = Object.values(exchangesOf(route))
    expect(exchanges.length).toBeGreaterThan(0)
    for (const { query = {}, request, response } of exchanges) {
      expect(route.query?.safeParse(withTextValues(query)).error).toBeUndefined()
      expect(route.body?.safeParse(request).error).toBeUndefined()
      expect(request !== undefined).toBe(route.body !== undefined)
      expect(response !== undefined).toBe(route.response.status !== 204)
      expect(route.response.body.safeParse(response).error).toBeUndefined()
    }
    for (const { in: place, example } of operation.parameters.map(resolveRef))
      if (place === 'path') expect(example === undefined).toBe(route.aliasOf !== undefined)
  })

  it('has examples of errors that show every field of their details', () => {
    if (route.aliasOf) return
    for (const key of errorsOf(route)) {
      const { content = {} } = resolveRef(operation.responses[errorEntry(key).status] ?? {})
      const body: { details?: object[] } = content['application/json']?.examples?.[key]?.value ?? {}
      expect(body.details ? Object.keys(body.details[0] ?? {}) : null).toEqual(detailFields(key, route))
    }
  })
})

const PARSED_TYPES: Readonly<Record<string, string>> = { number: 'integer', boolean: 'boolean' }

/** Whether a schema in a part of the document permits no further fields. */
function hasClosedSchema(part: any): boolean {
  if (typeof part !== 'object' || part === null) return false
  const resolved: any = resolveRef(part)
  return resolved.additionalProperties === false || Object.values(resolved).some(hasClosedSchema)
}

const withTextValues = (query: object) =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))

it.each(EVENT_NAMES)('has an example of %s that fits the contract', (event) => {
  const { requestBody } = document.webhooks[event]?.post ?? {}
  const { value } = requestBody?.content['application/json']?.examples?.default ?? {}
  expect(hasClosedSchema(requestBody)).toBe(false)
  expect(EVENT_PAYLOADS[event].safeParse(value).error).toBeUndefined()
})

it('every example fits its schema', () => {
  const misfits: string[] = []
  let checked = 0
  const walk = (value: any, at: string): void => {
    if (typeof value !== 'object' || value === null) return
    const shown = [
      ...('example' in value ? [value.example] : []),
      ...Object.values(value.examples ?? {}).map((example: any) => example.value),
    ]
    for (const example of value.schema ? shown : []) {
      checked++
      const problem = schemaError(value.schema, example)
      if (problem !== null) misfits.push(`${at}: ${problem}`)
    }
    for (const [name, inner] of Object.entries(value)) {
      if (name !== 'examples') walk(inner, `${at}/${name}`)
    }
  }
  walk(document, '')
  expect(misfits).toEqual([])
  expect(checked).toBeGreaterThan(150)
})

it('describes every field, parameter and operation', () => {
  const undescribed: string[] = []
  const walk = (value: any, at: string): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [field, property] of Object.entries<any>(value.properties ?? {}))
      if (!property.description) undescribed.push(`${at}.${field}`)
    if ((value.in || value.operationId) && !value.description) undescribed.push(at)
    for (const [name, inner] of Object.entries(value))
      if (!['not', 'example', 'examples'].includes(name)) walk(inner, `${at}/${name}`)
  }
  walk(document, '')
  expect(undescribed).toEqual([])
})

it('leaves out of descriptions the limits that are in the schema', () => {
  const repeated: string[] = []
  const walk = (value: any, at: string): void => {
    if (typeof value !== 'object' || value === null) return
    const schemas = [value, value.schema ?? {}, ...(value.anyOf ?? [])]
    const isLimited = schemas.some((one) => (one.maxLength ?? one.maximum ?? one.maxItems) !== undefined)
    if (isLimited && /(at most|up to) \d|\d to \d+ (?!bytes)/i.test(value.description)) repeated.push(at)
    for (const [name, inner] of Object.entries(value)) walk(inner, `${at}/${name}`)
  }
  walk(document, '')
  expect(repeated).toEqual([])
})

it('has nothing that generators for Go read otherwise: untyped constants, float32, constructors, components of webhooks alone', () => {
  const misread: string[] = []
  const walk = (value: any, at: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (('const' in value && !value.type) || (value.type === 'number' && value.format !== 'double'))
      misread.push(at)
    for (const [name, inner] of Object.entries(value))
      if (!['example', 'examples'].includes(name)) walk(inner, `${at}/${name}`)
  }
  walk(document, '')
  const { webhooks, components, ...others } = document
  const names = Object.keys(components.schemas)
  const refs = (part: object) => new Set(JSON.stringify(part).match(/#\/components\/\w+\/\w+/g))
  expect(misread).toEqual([])
  expect(names.filter((name) => names.includes(name.replace(/^New/, '')) && name.startsWith('New'))).toEqual(
    [],
  )
  expect([...refs(webhooks).difference(refs({ ...others, components }))]).toEqual([])
})

it('describes every scope and every event', () => {
  const { Developer } = document.components.securitySchemes
  expect(Object.keys(Developer?.['x-scopes'] ?? {}).sort()).toEqual([...SCOPES].sort())
  expect(Object.keys(document.webhooks)).toEqual([...EVENT_NAMES])
})

it('the examples contain no secret but the well-known one, which signs the example of a ping', () => {
  const text = read('docs/openapi.json')
  const secrets = new Set(text.match(/(?:whsec|cs|ck)_[A-Za-z0-9+/=_-]{8,}/g))
  const [secret = '', ...others] = secrets
  expect(others).toEqual([])
  expect(Buffer.from(secret.slice('whsec_'.length), 'base64').toString()).toBe('0'.repeat(32))
  const { parameters = [], requestBody } = document.webhooks['webhook.ping']?.post ?? {}
  const headers = Object.fromEntries(
    parameters.map(resolveRef).map(({ name, example }) => [name, String(example)]),
  )
  const { 'webhook-id': id = '', 'webhook-timestamp': at } = headers
  const body = JSON.stringify(requestBody?.content['application/json']?.examples?.default?.value)
  expect(signatureHeaders({ id, timestampSeconds: Number(at), body, secrets: [secret] })).toEqual(headers)
})

it('shows in the schema that an SMS has no subject', () => {
  const message = { channel: 'sms', patient_id: '0b5a1f9e-7c7a-4c57-8f0f-2f2f6a1c9d11', message: 'Hello' }
  const { schema } = operationOf('POST', '/messages')?.requestBody?.content['application/json'] ?? {}
  const isAccepted = (facts: object) => schemaError(schema ?? {}, { ...message, ...facts }) === null
  expect([{}, { subject: null }, { subject: 'Hello' }].map(isAccepted)).toEqual([true, true, false])
  expect(isAccepted({ channel: 'email', subject: 'Hello' })).toBe(true)
})

it('marks aliases as deprecated, and describes requests with them', () => {
  const { schema } = operationOf('POST', '/webhooks')?.requestBody?.content['application/json'] ?? {}
  const isAccepted = (body: object) => schemaError(schema ?? {}, body) === null
  const [url, events] = ['https://example.com/', ['patient.created']]
  expect(isAccepted({ url, events })).toBe(true)
  expect(isAccepted({ target_url: url, subscribed_events: ['payment.received'], is_active: true })).toBe(true)
  expect(isAccepted({ url, target_url: url, events })).toBe(false)
  const deprecated = ROUTES.filter(({ method, path }) => {
    const operation = operationOf(method, path) as Operation & { deprecated?: boolean }
    return operation.deprecated
  })
  expect(deprecated).toEqual(ROUTES.filter(({ aliasOf }) => aliasOf !== undefined))
  expect(JSON.stringify(deprecated.map(({ path }) => document.paths[path]))).not.toMatch(/"examples?":/)
  expect(read('docs/openapi.json')).not.toMatch(/"(target_url|subscribed_events|signing_secret)": ("|\[)/)
})
