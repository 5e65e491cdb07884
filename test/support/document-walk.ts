/** Requests made from the document alone: every operation, with everything wrong with it that one can think of. */
import { type Random, seeded } from '../../bin/demo/random.ts'
import { document, misfit, type Operation, type Parameter, resolved } from './conformance.ts'
import { fieldValues, isAtLimit, parameterValues, type ValueSchema, type Verdict } from './walk-values.ts'

/** One request, as far as the document goes; ids that must exist are for the walker to put in. */
export type Step = {
  readonly label: string
  readonly method: string
  /** The template, such as `/patients/{id}`. */
  readonly path: string
  /** In place of an id that exists, encoded. */
  readonly ids: Readonly<Record<string, string>>
  /** Encoded. */
  readonly query: readonly string[]
  readonly headers: Readonly<Record<string, string | string[]>>
  /** A JSON value, unless there is text. */
  readonly body?: unknown
  readonly text?: string
  readonly verdict: Verdict
  /** What must not be named as wrong. */
  readonly field?: string
}

type Change = Partial<Omit<Step, 'method' | 'path'>>
type Subject = {
  readonly method: string
  readonly path: string
  readonly operation: Operation
  readonly parameters: readonly Parameter[]
  /** What must be asked. */
  readonly query: readonly string[]
  /** Bodies as the document shows them, with what exists in place of what did. */
  readonly bodies: readonly Readonly<Record<string, unknown>>[]
}

const encoded = encodeURIComponent
const JSON_HEADERS = { 'content-type': 'application/json' }

const subjectsOf = (known: Known): Subject[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const parameters = operation.parameters.map(resolved)
      return {
        method: method.toUpperCase(),
        path,
        operation,
        parameters,
        query: requiredQuery(parameters, known),
        bodies: rightBodies(operation, known),
      }
    }),
  )

/** What exists: ids by the names of parameters and fields, and an address that webhooks may go to. */
export type Known = Readonly<Record<string, string>> & { readonly url: string }

/** `count` requests: all single changes in a random order, then several changes at a time. */
export function walk(seed: number, count: number, known: Known): Step[] {
  const random = seeded(seed)
  const subjects = subjectsOf(known)
  const all = subjects.map((subject) => ({ subject, changes: [...changesOf(subject)] }))
  const plain = all.map(({ subject }) => stepOf(subject, [{ label: 'as it should be', verdict: 'fits' }]))
  const single = shuffled(
    random,
    all.flatMap(({ subject, changes }) => changes.map((change) => stepOf(subject, [change]))),
  )
  const steps = [...plain, ...single].slice(0, Math.max(count, plain.length))
  while (steps.length < count) {
    const { subject, changes } = random.pick(all as [(typeof all)[number], ...typeof all])
    const some = Array.from({ length: random.integer(2, 4) }, () =>
      random.pick(changes as [Change, ...Change[]]),
    )
    steps.push(stepOf(subject, some))
  }
  return steps
}

function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items]
  return items.map(() => left.splice(random.integer(0, left.length - 1), 1)[0] as T)
}

/** The request as it should be, with some changes; of two that touch the same thing the later one stays. */
function stepOf({ method, path, operation, query, bodies }: Subject, changes: readonly Change[]): Step {
  const right: Step = {
    label: '',
    method,
    path,
    ids: {},
    query,
    headers: operation.requestBody ? JSON_HEADERS : {},
    ...(operation.requestBody && { body: bodies[0] }),
    verdict: 'fits',
  }
  let step = right
  for (const change of changes) step = { ...step, ...merged(step, change) }
  const verdicts = changes.map(({ verdict }) => verdict)
  const isMixed = changes.length > 1
  return {
    ...step,
    label: `${method} ${path}: ${changes.map(({ label }) => label).join(' + ')}`,
    verdict: judged(step, operation, verdicts, isMixed),
  }
}

const merged = (before: Step, change: Change): Change => ({
  ...change,
  ids: { ...before.ids, ...change.ids },
  headers: { ...before.headers, ...change.headers },
})

/** Several changes are wrong if what remains of them is: that is told for bodies alone. */
function judged(
  { body, text }: Step,
  operation: Operation,
  verdicts: readonly (Verdict | undefined)[],
  isMixed: boolean,
): Verdict {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (text === undefined && schema && misfit(schema, body) !== null) return 'wrong'
  return isMixed ? 'open' : (verdicts[0] ?? 'open')
}

const requiredQuery = (parameters: readonly Parameter[], known: Known): string[] =>
  parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name, example }) => `${name}=${encoded(known[name] ?? String(example))}`)

function rightBodies(operation: Operation, known: Known): Record<string, unknown>[] {
  const { examples = {} } = operation.requestBody?.content['application/json'] ?? {}
  return Object.values(examples).map(({ value }) =>
    Object.fromEntries(Object.entries(value as object).map(([name, shown]) => [name, known[name] ?? shown])),
  )
}

function* changesOf(subject: Subject): Generator<Change> {
  const { operation, parameters, query } = subject
  for (const parameter of parameters) {
    if (parameter.in === 'path') yield* idChanges(parameter)
    if (parameter.in === 'query') yield* queryChanges(subject, parameter)
    if (parameter.in === 'header') yield* keyChanges(parameter)
  }
  for (const unknown of ['colour=blue', 'colour', '__proto__=1', 'constructor', '%00=1', encoded('🙂')])
    yield { label: `query ${unknown}`, query: [...query, unknown], verdict: 'wrong' }
  for (const broken of ['limit=%', 'limit=%zz', '&&&', '=', 'a=b=c', 'x={}', '%FF=%FE'])
    yield { label: `query ${broken}`, query: [...query, broken], verdict: 'open' }
  yield { label: 'a query of 12 KB', query: [`search=${'a'.repeat(12_000)}`], verdict: 'wrong' }
  yield* credentialChanges()
  if (operation.requestBody) yield* bodyChanges(subject)
}

function* idChanges({ name, schema }: Parameter): Generator<Change> {
  const values = parameterValues(schema).map(({ value }) => value)
  for (const value of [...values, '..', '.', '%', '/', 'a/b', '\u0000', '👍', 'a'.repeat(3000), '*', '{id}'])
    yield {
      label: `${name} ${value.slice(0, 60)}`,
      ids: { [name]: encoded(value) },
      verdict: value ? 'wrong' : 'open',
    }
  for (const raw of ['%', '%zz', '%FF', '%2e%2e', '..;', '%C0%AF'])
    yield { label: `${name} ${raw}`, ids: { [name]: raw }, verdict: 'wrong' }
}

function* queryChanges({ query }: Subject, { name, schema, required }: Parameter): Generator<Change> {
  const others = query.filter((pair) => !pair.startsWith(`${name}=`))
  const with_ = (...values: string[]) => [...others, ...values.map((value) => `${name}=${encoded(value)}`)]
  for (const { value, verdict } of parameterValues(schema))
    yield { label: `${name}=${value.slice(0, 60)}`, query: with_(value), verdict, field: name }
  const [{ value: right = '' } = {}] = parameterValues(schema)
  yield { label: `${name} twice`, query: with_(right, right), verdict: 'wrong' }
  yield { label: `${name} as a list`, query: [...others, `${name}[]=${right}`], verdict: 'wrong' }
  yield { label: `${name} capital`, query: [...others, `${name.toUpperCase()}=${right}`], verdict: 'wrong' }
  yield { label: `${name} without a value`, query: [...others, name], verdict: 'open' }
  yield { label: `${name} of broken UTF-8`, query: [...others, `${name}=%ED%A0%80%FF`], verdict: 'open' }
  if (required) yield { label: `${name} missing`, query: others, verdict: 'wrong' }
}

function* keyChanges({ name, schema }: Parameter): Generator<Change> {
  const most = schema.maxLength ?? 0
  yield { label: `${name} at its limit`, headers: { [name]: 'k'.repeat(most) }, verdict: 'open' }
  for (const value of ['k'.repeat(most + 1), 'k'.repeat(most * 10), 'a b', 'é', '\t'])
    yield { label: `${name} ${value.slice(0, 20)}`, headers: { [name]: value }, verdict: 'wrong' }
  yield { label: `${name} empty`, headers: { [name]: '' }, verdict: 'open' }
  yield { label: `${name} twice`, headers: { [name]: ['one', 'two'] }, verdict: 'open' }
}

function* credentialChanges(): Generator<Change> {
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

function* bodyChanges({ operation, bodies }: Subject): Generator<Change> {
  const schema = operation.requestBody?.content['application/json']?.schema ?? {}
  const { properties = {} } = resolved(schema) as { properties?: Record<string, ValueSchema> }
  for (const right of bodies) {
    yield { label: 'another body', body: right, verdict: 'fits' }
    for (const field of Object.keys(properties)) {
      const fieldSchema = properties[field] ?? {}
      for (const value of fieldValues(fieldSchema, right[field])) {
        const body = { ...right, [field]: value }
        const isLimit = isAtLimit(fieldSchema, value) && misfit(schema, body) === null
        // The longest text is an email's: what an SMS holds is said in words.
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
    for (const type of TYPES)
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

const TYPES = [
  '',
  'text/plain',
  'application/xml',
  'multipart/form-data',
  'application/jsonx',
  'application/vnd.api+json',
]
