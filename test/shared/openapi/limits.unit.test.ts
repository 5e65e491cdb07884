/** Each limit that the document states is what the endpoint enforces: it accepts a value at the limit, and rejects all beyond. */
import { describe, expect, it } from 'vitest'
import type { Route } from '../../../shared/api/route.ts'
import { ROUTES } from '../../../shared/api/routes.ts'
import type { Schema } from '../../../shared/openapi/read-document.ts'
import { operationOf, resolveRef } from '../../support/document-conformance.ts'

type Path = readonly (string | number)[]
type Body = Readonly<Record<string, any>>
type Limited = Schema & {
  readonly [limit in 'minLength' | 'minItems' | 'exclusiveMinimum']?: number
} & { readonly allOf?: readonly Schema[]; readonly pattern?: string }

/** A schema and those within it, alternatives included, with their paths. */
function partsOf(schema: Schema, path: Path = []): (readonly [Path, Limited])[] {
  const own: Limited = resolveRef(schema)
  const { allOf = [], anyOf = [], oneOf = [], items, properties = {}, additionalProperties: others } = own
  return [
    [path, own],
    ...[...allOf, ...anyOf, ...oneOf].flatMap((one) => partsOf(one, path)),
    ...(items ? partsOf(items, [...path, 0]) : []),
    ...(typeof others === 'object' ? partsOf(others, [...path, '2030-01-07']) : []),
    ...Object.entries(properties).flatMap(([name, one]) => partsOf(one, [...path, name])),
  ]
}

/** Texts of a length: a plain one, an email address, a language and a URL. */
const texts = (length: number): string[] =>
  [
    ['', 'x'],
    ['a@b', '.b'],
    ['de-x-a', '-a'],
    ['https://example.com/', 'x'],
  ].map(([start = '', more = '']) => `${start}${more.repeat(length)}`.slice(0, length).replace(/[.-]$/, 'b'))

/** The n-th of different values of a schema; texts are times in ascending order. */
function sample(schema: Schema, n: number): unknown {
  const { type, format, enum: values, properties = {}, required = [] } = resolveRef(schema)
  if (values) return values[n % values.length]
  if (format === 'uuid') return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  if (type === 'number') return n
  if (type === 'string') return new Date(n * 60_000).toISOString().slice(11, 16)
  return Object.fromEntries(required.map((name, at) => [name, sample(properties[name] ?? {}, 2 * n + at)]))
}

/** Each limit of a schema: its keyword, and the values at it and beyond. */
function limitsOf({ type, items = {}, pattern, ...schema }: Limited) {
  const step = type === 'integer' ? 1 : 0.01
  const list = (length: number) => [Array.from({ length }, (_, n) => sample(items, n))]
  const number = (value: number) => [value]
  const limits = [
    ['minLength', -1, texts],
    ['maxLength', 1, texts],
    ['minItems', -1, list],
    ['maxItems', 1, list],
    ['minimum', -step, number],
    ['maximum', step, number],
  ] as const
  return limits.flatMap(([keyword, further, valuesOf]) => {
    const limit = schema[keyword]
    // No text of one character fits the pattern of an email address.
    const isImplied = keyword === 'minLength' && limit === 1 && pattern !== undefined
    return limit === undefined || isImplied
      ? []
      : [{ keyword, at: valuesOf(limit), beyond: valuesOf(limit + further) }]
  })
}

/** A request with a value at a path. */
function withValue(body: unknown, [step, ...path]: Path, value: unknown): unknown {
  if (step === undefined) return value
  if (typeof step === 'number') return [withValue({}, path, value)]
  const own = (body ?? {}) as Body
  return { ...own, [step]: withValue(own[step], path, value) }
}

describe.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  const { parameters = [], requestBody } = operationOf(route.method, route.path) ?? {}
  const content = requestBody?.content['application/json']
  const { fieldAliases = {} }: Route = route
  const query = parameters.map(resolveRef).filter(({ in: place }) => place === 'query')
  const isAlias = (name: string | number) => Object.hasOwn(fieldAliases, name)
  const requests = [
    ...query.map(({ name, schema }) => ({
      schema: route.query,
      bases: [{}],
      parts: partsOf(schema, [name]),
    })),
    {
      schema: route.body,
      bases: [{}, ...Object.values(content?.examples ?? {}).map(({ value }) => value)],
      parts: content ? partsOf(content.schema).filter(([[name = '']]) => !isAlias(name)) : [],
    },
  ]

  it('enforces the limits of the document', () => {
    for (const { schema, bases, parts } of requests)
      for (const [path, part] of parts)
        for (const { keyword, at, beyond } of limitsOf(part)) {
          const isRejected = (base: unknown, value: unknown): boolean => {
            const sent = schema === route.query ? String(value) : value
            const { issues = [] } = schema?.safeParse(withValue(base, path, sent)).error ?? {}
            return issues.some((issue) => issue.path.join('.') === path.join('.'))
          }
          const name = `${path.join('.')} ${keyword}`
          expect([name, bases.some((base) => at.some((value) => !isRejected(base, value)))]).toEqual([
            name,
            true,
          ])
          expect([name, bases.every((base) => beyond.every((value) => isRejected(base, value)))]).toEqual([
            name,
            true,
          ])
        }
  })

  it('has a limit of every text and list', () => {
    const isLimited = ({ maxLength, maxItems, format, pattern, enum: values, const: only }: Limited) =>
      [maxLength, maxItems, format, pattern, values, only].some((limit) => limit !== undefined)
    const limited = requests
      .flatMap(({ parts }) => parts)
      .filter(([, { type }]) => type === 'string' || type === 'array')
    expect(limited.filter(([, part]) => !isLimited(part)).map(([path]) => path.join('.'))).toEqual([])
  })
})
