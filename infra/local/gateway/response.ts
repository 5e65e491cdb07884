import { validateHeaderName, validateHeaderValue } from 'node:http'

/** A response to the client. Header names keep their case and may repeat. */
export type HttpResponse = {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

/** The fields of a Lambda proxy integration's result. Any other field makes it malformed. */
const RESULT_FIELDS = new Set(['statusCode', 'headers', 'multiValueHeaders', 'body', 'isBase64Encoded'])

/** Headers that API Gateway drops, by the column "lambda" of its important notes. */
const DROPPED_HEADERS = new Set([
  'expect',
  'host',
  'proxy-authenticate',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
])
/** Headers that API Gateway renames. Content-Length is not in its notes, but is renamed too: the gateway sends its own. */
const REMAPPED_HEADERS = new Set([
  'authorization',
  'connection',
  'content-length',
  'content-md5',
  'date',
  'max-forwards',
  'server',
  'user-agent',
  'www-authenticate',
])

/** Converts a function's result to a response, as a REST API does. Returns null for a malformed result. */
export function readResult(payload: string): HttpResponse | null {
  const result: unknown = JSON.parse(payload)
  if (!isRecord(result) || Object.keys(result).some((field) => !RESULT_FIELDS.has(field))) return null
  const { statusCode = 200, body = '', headers: single, multiValueHeaders: multiple } = result
  const status = Number(statusCode)
  const isValid =
    Number.isInteger(status) && status >= 200 && status <= 599 && (typeof body === 'string' || body === null)
  if (!isValid || !isHeaders(single, isScalar) || !isHeaders(multiple, isList)) return null
  const headers = mergeHeaders(single ?? {}, multiple ?? {})
  return headers.every(isSendable) ? { status, headers, body: body ?? '' } : null
}

function isSendable([name, value]: readonly [string, string]): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

type Scalar = string | number | boolean

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isScalar = (value: unknown): value is Scalar => ['string', 'number', 'boolean'].includes(typeof value)
const isList = (value: unknown): value is Scalar[] => Array.isArray(value) && value.every(isScalar)

function isHeaders<V>(
  value: unknown,
  isValue: (value: unknown) => value is V,
): value is Record<string, V> | null | undefined {
  return value === undefined || value === null || (isRecord(value) && Object.values(value).every(isValue))
}

/** Merges both lists; a pair that is in both is sent once. */
function mergeHeaders(
  single: Readonly<Record<string, Scalar>>,
  multiple: Readonly<Record<string, readonly Scalar[]>>,
): [string, string][] {
  const pairs = [
    ...Object.entries(single),
    ...Object.entries(multiple).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
  ]
  const sent = new Map<string, [string, string]>()
  for (const [name, value] of pairs) {
    const lower = name.toLowerCase()
    if (DROPPED_HEADERS.has(lower)) continue
    const renamed = REMAPPED_HEADERS.has(lower) ? `x-amzn-Remapped-${name}` : name
    sent.set(`${lower}: ${value}`, [renamed, String(value)])
  }
  const hasType = [...sent.values()].some(([name]) => name.toLowerCase() === 'content-type')
  return [...(hasType ? [] : [['Content-Type', 'application/json'] as [string, string]]), ...sent.values()]
}
