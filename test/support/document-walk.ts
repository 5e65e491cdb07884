/** Generates requests from the API document alone: every operation, valid and with many kinds of mistakes. */

import { document, type Operation, type Parameter, resolveRef, schemaError } from './document-conformance.ts'
import { type SeededRandom, seeded } from './random.ts'
import { fieldValues, isAtLimit, parameterValues, type ValueSchema, type Verdict } from './walk-values.ts'

/** One generated request. The test fills in ids that must exist. */
export type RequestCase = {
  readonly label: string
  readonly method: string
  /** The template, such as `/patients/{id}`. */
  readonly path: string
  /** Encoded values that replace existing ids. */
  readonly ids: Readonly<Record<string, string>>
  /** Encoded `name=value` pairs. */
  readonly query: readonly string[]
  readonly headers: Readonly<Record<string, string | string[]>>
  /** A JSON value; ignored if there is `text`. */
  readonly body?: unknown
  readonly text?: string
  readonly verdict: Verdict
  /** The parameter or field that a `fits` response must not report as invalid. */
  readonly field?: string
}

type Mutation = Partial<Omit<RequestCase, 'method' | 'path'>>
type Subject = {
  readonly method: string
  readonly path: string
  readonly operation: Operation
  readonly parameters: readonly Parameter[]
  /** The required query parameters. */
  readonly query: readonly string[]
  /** The document's example bodies, with existing ids. */
  readonly bodies: readonly Readonly<Record<string, unknown>>[]
}

const encode = encodeURIComponent
const JSON_HEADERS = { 'content-type': 'application/json' }

const subjectsOf = (known: KnownValues): Subject[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const parameters = operation.parameters.map(resolveRef)
      return {
        method: method.toUpperCase(),
        path,
        operation,
        parameters,
        query: requiredQuery(parameters, known),
        bodies: validBodies(operation, known),
      }
    }),
  )

/** Existing ids by the name of their parameter or field, and a URL that webhooks may use. */
export type KnownValues = Readonly<Record<string, string>> & { readonly url: string }

/** `count` requests: all single changes in a random order, then several changes at a time. */
export function generateRequests(seed: number, count: number, known: KnownValues): RequestCase[] {
  const random = seeded(seed)
  const subjects = subjectsOf(known)
  const all = subjects.map((subject) => ({ subject, changes: [...mutationsOf(subject)] }))
  const plain = all.map(({ subject }) => stepOf(subject, [{ label: 'unchanged', verdict: 'fits' }]))
  const single = shuffled(
    random,
    all.flatMap(({ subject, changes }) => changes.map((change) => stepOf(subject, [change]))),
  )
  const steps = [...plain, ...single].slice(0, Math.max(count, plain.length))
  while (steps.length < count) {
    const { subject, changes } = random.pick(all as [(typeof all)[number], ...typeof all])
    const some = Array.from({ length: random.integer(2, 4) }, () =>
      random.pick(changes as [Mutation, ...Mutation[]]),
    )
    steps.push(stepOf(subject, some))
  }
  return steps
}

function shuffled<T>(random: SeededRandom, items: readonly T[]): T[] {
  const left = [...items]
  return items.map(() => left.splice(random.integer(0, left.length - 1), 1)[0] as T)
}

/** A valid request with some changes; of two changes to the same part, the later one wins. */
function stepOf(
  { method, path, operation, query, bodies }: Subject,
  changes: readonly Mutation[],
): RequestCase {
  const valid: RequestCase = {
    label: '',
    method,
    path,
    ids: {},
    query,
    headers: operation.requestBody ? JSON_HEADERS : {},
    ...(operation.requestBody && { body: bodies[0] }),
    verdict: 'fits',
  }
  let step = valid
  for (const change of changes) step = { ...step, ...applyMutation(step, change) }
  const verdicts = changes.map(({ verdict }) => verdict)
  const isMixed = changes.length > 1
  return {
    ...step,
    label: `${method} ${path}: ${changes.map(({ label }) => label).join(' + ')}`,
    verdict: verdictOf(step, operation, verdicts, isMixed),
  }
}

const applyMutation = (before: RequestCase, change: Mutation): Mutation => ({
  ...change,
  ids: { ...before.ids, ...change.ids },
  headers: { ...before.headers, ...change.headers },
})

/** A request with several changes is `wrong` only if its body violates the schema. */
function verdictOf(
  { body, text }: RequestCase,
  operation: Operation,
  verdicts: readonly (Verdict | undefined)[],
  isMixed: boolean,
): Verdict {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (text === undefined && schema && schemaError(schema, body) !== null) return 'wrong'
  return isMixed ? 'open' : (verdicts[0] ?? 'open')
}

const requiredQuery = (parameters: readonly Parameter[], known: KnownValues): string[] =>
  parameters
    .filter((one) => one.in === 'query' && (one.required || one.description?.includes('Required unless')))
    .map(({ name, example }) => `${name}=${encode(known[name] ?? String(example))}`)

function validBodies(operation: Operation, known: KnownValues): Record<string, unknown>[] {
  // Aliases have no examples, and no fields.
  const { examples = { default: { value: {} } } } = operation.requestBody?.content['application/json'] ?? {}
  return Object.values(examples).map(({ value }) =>
    Object.fromEntries(Object.entries(value as object).map(([name, shown]) => [name, known[name] ?? shown])),
  )
}

function* mutationsOf(subject: Subject): Generator<Mutation> {
  const { operation, parameters, query } = subject
  for (const parameter of parameters) {
    if (parameter.in === 'path') yield* idMutations(parameter)
    if (parameter.in === 'query') yield* queryMutations(subject, parameter)
    if (parameter.in === 'header' && parameter.schema.maxLength) yield* headerMutations(parameter)
  }
  for (const unknown of ['colour=blue', 'colour', '__proto__=1', 'constructor', '%00=1', encode('🙂')])
    yield { label: `query ${unknown}`, query: [...query, unknown], verdict: 'wrong' }
  for (const broken of ['limit=%', 'limit=%zz', '&&&', '=', 'a=b=c', 'x={}', '%FF=%FE'])
    yield { label: `query ${broken}`, query: [...query, broken], verdict: 'open' }
  yield { label: 'a query of 12 KB', query: [`search=${'a'.repeat(12_000)}`], verdict: 'wrong' }
  yield* credentialMutations()
  if (operation.requestBody) yield* bodyMutations(subject)
}

function* idMutations({ name, schema }: Parameter): Generator<Mutation> {
  const values = parameterValues(schema).map(({ value }) => value)
  for (const value of [...values, '..', '.', '%', '/', 'a/b', '\u0000', '👍', 'a'.repeat(3000), '*', '{id}'])
    yield {
      label: `${name} ${value.slice(0, 60)}`,
      ids: { [name]: encode(value) },
      verdict: value ? 'wrong' : 'open',
    }
  for (const raw of ['%', '%zz', '%FF', '%2e%2e', '..;', '%C0%AF'])
    yield { label: `${name} ${raw}`, ids: { [name]: raw }, verdict: 'wrong' }
}

function* queryMutations(
  { query, parameters }: Subject,
  { name, schema, required, description = '' }: Parameter,
): Generator<Mutation> {
  const needed = parameters
    .filter((other) => description.includes('Needs ') && other.schema.format === 'date')
    .map((other) => `${other.name}=2026-05-04`)
  const others = [...query.filter((pair) => !pair.startsWith(`${name}=`)), ...needed]
  const withValues = (...values: string[]) => [
    ...others,
    ...values.map((value) => `${name}=${encode(value)}`),
  ]
  for (const { value, verdict } of parameterValues(schema))
    yield { label: `${name}=${value.slice(0, 60)}`, query: withValues(value), verdict, field: name }
  const [{ value: right = '' } = {}] = parameterValues(schema)
  yield { label: `${name} twice`, query: withValues(right, right), verdict: 'wrong' }
  yield { label: `${name} as a list`, query: [...others, `${name}[]=${right}`], verdict: 'wrong' }
  yield { label: `${name} capital`, query: [...others, `${name.toUpperCase()}=${right}`], verdict: 'wrong' }
  yield { label: `${name} without a value`, query: [...others, name], verdict: 'open' }
  yield { label: `${name} of broken UTF-8`, query: [...others, `${name}=%ED%A0%80%FF`], verdict: 'open' }
  if (required) yield { label: `${name} missing`, query: others, verdict: 'wrong' }
}

function* headerMutations({ name, schema }: Parameter): Generator<Mutation> {
  const max = schema.maxLength ?? 0
  yield { label: `${name} at its limit`, headers: { [name]: 'k'.repeat(max) }, verdict: 'open' }
  for (const value of ['k'.repeat(max + 1), 'k'.repeat(max * 10), 'a b', 'é', '\t'])
    yield { label: `${name} ${value.slice(0, 20)}`, headers: { [name]: value }, verdict: 'wrong' }
  yield { label: `${name} empty`, headers: { [name]: '' }, verdict: 'open' }
  yield { label: `${name} twice`, headers: { [name]: ['one', 'two'] }, verdict: 'open' }
}

function* credentialMutations(): Generator<Mutation> {
  const long = `Developer ${'a'.repeat(600)}:b`
  for (const authorization of [
    '',
    'Developer',
    'Developer a',
    'Developer a:b:c',
    'Developer a:b',
    'Bearer a',
    long,
  ])
    yield {
      label: `authorization ${authorization.slice(0, 20)}`,
      headers: { authorization },
      verdict: 'wrong',
    }
}

function* bodyMutations({ operation, bodies }: Subject): Generator<Mutation> {
  const schema = operation.requestBody?.content['application/json']?.schema ?? {}
  const [first = schema] = schema.anyOf ?? []
  const { properties = {} } = resolveRef(first) as { properties?: Record<string, ValueSchema> }
  for (const right of bodies) {
    yield { label: 'another body', body: right, verdict: 'fits' }
    for (const field of Object.keys(properties)) {
      const fieldSchema = properties[field] ?? {}
      for (const value of fieldValues(fieldSchema, right[field])) {
        const body = { ...right, [field]: value }
        const isLimit = isAtLimit(fieldSchema, value) && schemaError(schema, body) === null
        // The schema's limit is an email's; the document describes the shorter limit of an SMS in words.
        const verdict = isLimit && right.channel !== 'sms' ? 'fits' : 'open'
        yield { label: `${field} ${JSON.stringify(value).slice(0, 60)}`, body, verdict, field }
      }
      const { [field]: _, ...without } = right
      yield { label: `${field} missing`, body: without, verdict: 'open' }
      yield { label: `${field} capital`, body: { ...right, [field.toUpperCase()]: 1 }, verdict: 'open' }
    }
    const text = JSON.stringify(right)
    yield { label: 'an unknown field', body: { ...right, colour: 'blue' }, verdict: 'wrong' }
    yield {
      label: '__proto__',
      text: text.replace('{', '{"__proto__":{"a":1},').replace(',}', '}'),
      verdict: 'open',
    }
    yield { label: 'cut off', text: text.slice(0, -1), verdict: 'wrong' }
    yield { label: 'and more', text: `${text}x`, verdict: 'wrong' }
    yield { label: 'at 256 KiB', text: text.padEnd(256 * 1024), verdict: 'fits' }
    yield { label: 'over 256 KiB', text: text.padEnd(256 * 1024 + 1), verdict: 'wrong' }
    yield { label: 'far over', text: text.padEnd(3 * 1024 * 1024), verdict: 'wrong' }
    for (const type of UNSUPPORTED_MEDIA_TYPES)
      yield { label: `content-type ${type}`, headers: { 'content-type': type }, verdict: 'wrong' }
    for (const type of ['APPLICATION/JSON', 'application/json; charset=utf-8'])
      yield { label: `content-type ${type}`, headers: { 'content-type': type }, verdict: 'fits' }
  }
  for (const text of [
    '{',
    '{"a":}',
    "{'a':1}",
    '{"a":NaN}',
    '\uFEFF{}',
    'null',
    '[]',
    '"x"',
    '1',
    'true',
    '[{}]',
    ' ',
  ])
    yield { label: `body ${text}`, text, verdict: 'wrong' }
  yield { label: 'body deep', text: '['.repeat(50_000) + ']'.repeat(50_000), verdict: 'wrong' }
  yield { label: 'body wide', text: `{${'"a":1,'.repeat(20_000)}"a":1}`, verdict: 'wrong' }
  yield {
    label: 'body deep in a field',
    text: `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`,
    verdict: 'wrong',
  }
}

const UNSUPPORTED_MEDIA_TYPES = [
  '',
  'text/plain',
  'application/xml',
  'multipart/form-data',
  'application/jsonx',
  'application/vnd.api+json',
]
