import { argument, clientMethod } from '../clients/python/generator.ts'
import type { Endpoint } from '../openapi/read-document.ts'
import { exampleOf } from '../openapi/read-document.ts'

/** Placeholders that the page replaces with its own address and the credential that was entered. */
export const BASE_URL = 'BASE_URL'
export const CREDENTIAL = 'KEY:SECRET'

/** What a sample sends: the required parameters, and those that have an example. */
export type Sent = {
  readonly ids: readonly string[]
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
}

function sentBy({ operation }: Endpoint): Sent {
  const { parameters = [], requestBody } = operation
  const body = exampleOf(requestBody?.content)
  return {
    ids: parameters.filter((one) => one.in === 'path').map(({ example }) => String(example)),
    query: Object.fromEntries(
      parameters
        .filter((one) => one.in === 'query' && one.example !== undefined)
        .map(({ name, example }) => [name, example]),
    ),
    body: Object.keys(body ?? {}).length > 0 ? body : undefined,
  }
}

/** The request that a command of a guide sends. Undefined for a command that does anything else. */
export function requestOf(command: string, endpoints: readonly Endpoint[]) {
  const [, address] = /^curl -sS [^|]*?"\$API(\/[^"]*)"[^|]*$/.exec(command) ?? []
  if (address === undefined || / -[oD] /.test(command)) return undefined
  const [, json] = /-d '([^']*)'/.exec(command) ?? []
  const [path = '', search] = address.split('?')
  const method = json === undefined ? 'GET' : 'POST'
  const endpoint = endpoints.find((one) => one.method === method && one.path === path)
  if (!endpoint) return undefined
  const value = (text: string) => (/^(\d+|true|false)$/.test(text) ? JSON.parse(text) : text)
  const query = Object.fromEntries(
    [...new URLSearchParams(search)].map(([name, text]) => [name, value(text)]),
  )
  const sent: Sent = { ids: [], query, body: json && JSON.parse(json) }
  return { endpoint, sent }
}

/** A request as a command line. */
export function curlSample(endpoint: Endpoint, { ids, query, body } = sentBy(endpoint)): string {
  const remaining = [...ids]
  const path = endpoint.path.replace(/\{\w+\}/g, () => remaining.shift() ?? '')
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  )
  const url = `${BASE_URL}${path}${search.size > 0 ? `?${search}` : ''}`
  const isRepeatable = endpoint.method === 'POST' || endpoint.method === 'PATCH'
  const lines = [
    `curl ${endpoint.method === 'GET' ? '' : `-X ${endpoint.method} `}'${url}'`,
    `-H 'Authorization: Developer ${CREDENTIAL}'`,
    ...(isRepeatable ? [`-H "idempotency-key: $(uuidgen)"`] : []),
    ...(body === undefined
      ? []
      : [
          "-H 'content-type: application/json'",
          `-d '${JSON.stringify(body, null, 2).replaceAll("'", "'\\''")}'`,
        ]),
  ]
  return lines.join(' \\\n  ')
}

/** The call of a client's method. The ids are arguments of the method, or of the list that it belongs to. */
function callOf(
  endpoint: Endpoint,
  ids: string[],
  values: string[],
  spelling = (name: string) => name,
): string {
  const [resource = '', name, list] = clientMethod(endpoint).map(spelling)
  if (list !== undefined) return `clinic.${resource}.${name}(${ids.join(', ')}).${list}(${values.join(', ')})`
  return `clinic.${[resource, name].filter(Boolean).join('.')}(${[...ids, ...values].join(', ')})`
}

/** A request with the TypeScript client. */
export function typescriptSample(endpoint: Endpoint, { ids, query, body } = sentBy(endpoint)): string {
  const values = [body, Object.keys(query).length > 0 ? query : undefined]
    .filter((one) => one !== undefined)
    .map((one) => literal(one, 'ts'))
  const quoted = ids.map((id) => `'${id}'`)
  const call = callOf(endpoint, quoted, values, camel)
  return [
    "import { createClient } from 'clinic-developer-client'",
    '',
    `const clinic = createClient({ baseUrl: '${BASE_URL}', credential: '${CREDENTIAL}' })`,
    endpoint.method === 'DELETE' ? `await ${call}` : `const response = await ${call}\nconsole.log(response)`,
  ].join('\n')
}

/** A request with the Python client. */
export function pythonSample(endpoint: Endpoint, { ids, query, body } = sentBy(endpoint)): string {
  const values = [
    ...(body === undefined ? [] : [literal(body, 'python')]),
    ...Object.entries(query).map(([name, value]) => `${argument(name)}=${literal(value, 'python')}`),
  ]
  const quoted = ids.map((id) => `"${id}"`)
  const call = callOf(endpoint, quoted, values)
  return [
    'from clinic_developer import Client',
    '',
    `clinic = Client(base_url="${BASE_URL}", credential="${CREDENTIAL}")`,
    endpoint.method === 'DELETE' ? call : `response = ${call}\nprint(response.data)`,
  ].join('\n')
}

const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A value as source text, an object with one field a line. */
function literal(value: unknown, language: 'ts' | 'python', depth = 0): string {
  const [open, close] = ['  '.repeat(depth + 1), '  '.repeat(depth)]
  const quote = (text: string) =>
    language === 'ts' ? `'${text.replace(/['\\]/g, '\\$&')}'` : JSON.stringify(text)
  if (typeof value === 'string') return quote(value)
  if (language === 'python' && (value === null || typeof value === 'boolean'))
    return value === null ? 'None' : value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map((one) => literal(one, language, depth)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const nameOf = (name: string) => (language === 'ts' && /^\w+$/.test(name) ? name : quote(name))
  const fields = Object.entries(value).map(
    ([name, one]) => `${open}${nameOf(name)}: ${literal(one, language, depth + 1)},\n`,
  )
  return `{\n${fields.join('')}${close}}`
}
