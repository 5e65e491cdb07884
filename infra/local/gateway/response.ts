import { validateHeaderName, validateHeaderValue } from 'node:http'

/** A response to the client. Header names keep their case and may repeat. */
export type HttpResponse = {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** The fields that functions return of a Lambda proxy integration's result. Any other field makes it malformed. */
const RESULT_FIELDS = new Set(['statusCode', 'headers', 'body'])

/** Headers that API Gateway drops or renames (important notes), and Content-Length, which it sends itself. Functions return none of them. */
const UNSUPPORTED_HEADERS = new Set(
  'authorization connection content-length content-md5 date expect host max-forwards proxy-authenticate server te trailer transfer-encoding upgrade user-agent via'.split(
    ' ',
  ),
)

/** Converts a function's result to a response, as a REST API does. Returns null for a malformed result. */
export function readResult(payload: string): HttpResponse | null {
  const result: unknown = JSON.parse(payload)
  if (!isRecord(result) || Object.keys(result).some((field) => !RESULT_FIELDS.has(field))) return null
  const { statusCode = 200, body = '', headers } = result
  const status = Number(statusCode)
  const isValid =
    Number.isInteger(status) && status >= 200 && status <= 599 && (typeof body === 'string' || body === null)
  if (!isValid || !isRecord(headers ?? {})) return null
  const returned = Object.entries(headers ?? {})
  if (!returned.every(isSendable)) return null
  const sent = returned.map(([name, value]): [string, string] => [nameOf(name), value])
  const hasType = sent.some(([name]) => name.toLowerCase() === 'content-type')
  return {
    status,
    headers: hasType ? sent : [['Content-Type', 'application/json'], ...sent],
    body: body ?? '',
  }
}

/** API Gateway renames this one too. */
const nameOf = (name: string): string =>
  name.toLowerCase() === 'www-authenticate' ? `x-amzn-Remapped-${name}` : name

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isSendable(header: [name: string, value: unknown]): header is [string, string] {
  const [name, value] = header
  try {
    validateHeaderName(name)
    validateHeaderValue(name, String(value))
    return typeof value === 'string' && !UNSUPPORTED_HEADERS.has(name.toLowerCase())
  } catch {
    return false
  }
}
