import type { APIGatewayProxyEvent } from 'aws-lambda'
import type * as z from 'zod'
import { ApiError, type FieldIssue } from '../api/errors.ts'
import type { Call, Middleware } from './call.ts'
import { headerOf } from './headers.ts'

/** The largest body, in bytes. */
const MAX_BYTES = 256 * 1024

/**
 * Parses and validates the JSON body. The error names every invalid field. `authorize` may reject a body before its
 * fields are validated.
 */
export function readBody(
  schema: z.ZodObject,
  authorize: (call: Call, body: object) => void = () => {},
): Middleware {
  const isOptional = schema.safeParse({}).success
  return {
    before: ({ event, context: { call } }) => {
      const type = headerOf(event, 'content-type')
      const text = textOf(event)
      call.bodyText = text
      // If all fields are optional, an absent body is equivalent to an empty object.
      const isEmpty = text === '' && type === undefined && isOptional
      if (!isEmpty && !isJson(type)) throw new ApiError('unsupported_media_type')
      const body = isEmpty ? {} : requireObject(parseJson(text))
      authorize(call, body)
      call.body = validateBody(schema, body)
    },
  }
}

const isJson = (type: string | undefined): boolean => /^application\/json\s*(;|$)/i.test(type ?? '')

function textOf({ body, isBase64Encoded }: APIGatewayProxyEvent): string {
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > MAX_BYTES) throw new ApiError('payload_too_large')
  return bytes.toString('utf8')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError('malformed_json')
  }
}

function requireObject(value: unknown): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ApiError('validation', { details: [{ field: '', issue: 'the body must be a JSON object' }] })
  }
  return value
}

function validateBody(schema: z.ZodObject, value: object): Record<string, unknown> {
  const known = Object.entries(value).filter(([name]) => Object.hasOwn(schema.shape, name))
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(schema.shape, name))
  const issues: FieldIssue[] = unknown.map((field) => ({ field, issue: 'is not a field of this request' }))
  const { data, error } = schema.safeParse(Object.fromEntries(known))
  for (const { path, message } of error?.issues ?? []) {
    const field = path.join('.')
    issues.push({ field, issue: Object.hasOwn(value, String(path[0])) ? message : 'is required' })
  }
  if (issues.length > 0) throw new ApiError('validation', { details: issues })
  return data ?? {}
}
