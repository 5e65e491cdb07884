import type { APIGatewayProxyEvent } from 'aws-lambda'
import type * as z from 'zod'
import { ApiError, byField, type FieldIssue } from '../api/errors.ts'
import type { Route } from '../api/route.ts'
import { unknownField } from '../api/suggest-field.ts'
import type { ApiCall } from './call.ts'
import { headerValues } from './headers.ts'

/** The largest body, in bytes. */
export const MAX_BODY_BYTES = 256 * 1024

/**
 * Parses and validates the JSON body; undefined for a route without one. The error names every invalid field. `authorize` may
 * reject a body before its fields are validated.
 */
export function bodyReader({ body: schema, fieldAliases = {} }: Pick<Route, 'body' | 'fieldAliases'>) {
  if (!schema) return undefined
  const isOptional = schema.safeParse({}).success
  return (event: APIGatewayProxyEvent, call: ApiCall, authorize: (body: object) => void): void => {
    const type = headerValues(event, 'content-type').at(-1)
    const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
    if (bytes.length > MAX_BODY_BYTES) throw new ApiError('payload_too_large')
    const text = bytes.toString('utf8')
    call.bodyText = text
    // If all fields are optional, an absent body is equivalent to an empty object. Some clients name its type nevertheless.
    const isEmpty = text === '' && isOptional
    const isSupported = type === undefined ? isEmpty : isJson(type)
    const coding = headerValues(event, 'content-encoding').join().trim().toLowerCase()
    if (!isSupported || (coding && coding !== 'identity')) throw new ApiError('unsupported_media_type')
    const body = isEmpty ? {} : parseObject(text)
    authorize(body)
    call.body = validateBody(schema, fieldAliases, body)
  }
}

/** Whether a content type is JSON in UTF-8, which is also the charset of JSON without one. */
function isJson(type: string): boolean {
  const [media, ...parameters] = type
    .trim()
    .toLowerCase()
    .split(/\s*;\s*/)
  return (
    media === 'application/json' &&
    parameters.every((part) => !part.startsWith('charset=') || /^charset="?utf-?8"?$/.test(part))
  )
}

function parseObject(text: string): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ApiError('malformed_json')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError('validation', { details: [{ field: '', issue: 'the body must be a JSON object' }] })
  }
  return value
}

export function validateBody(
  schema: z.ZodObject,
  aliases: Readonly<Record<string, string>>,
  body: object,
): Record<string, unknown> {
  const issues: FieldIssue[] = []
  /** The fields that were sent, each with the name under which it was. */
  const sent = new Map<string, string>()
  const values: Record<string, unknown> = {}
  for (const name of Object.keys(body)) {
    const field = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name
    if (!Object.hasOwn(schema.shape, field))
      issues.push(unknownField(name, 'is not a field of this request', Object.keys(schema.shape), issues))
    else if (name !== field && Object.hasOwn(body, field))
      issues.push({ field: name, issue: `is another name of ${field}: send one of the two` })
    else {
      sent.set(field, name)
      values[field] = (body as Record<string, unknown>)[name]
    }
  }
  const { data, error } = schema.safeParse(values)
  for (const problem of error?.issues ?? []) {
    const { path, message } = problem
    const [field, ...rest] = path.map(String)
    const name = sent.get(field as string)
    if (problem.code === 'unrecognized_keys') {
      for (const key of problem.keys)
        issues.push({ field: [name, ...rest, key].join('.'), issue: 'is not a field of this request' })
      continue
    }
    issues.push({
      field: [name ?? field, ...rest].join('.'),
      issue: name === undefined ? 'is required' : message,
    })
  }
  if (issues.length > 0) throw new ApiError('validation', { details: byField(issues) })
  return data ?? {}
}
