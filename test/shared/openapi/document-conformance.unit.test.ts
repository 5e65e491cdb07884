/** The conformance check finds every deviation of a response from the document. */
import { expect, it } from 'vitest'
import { BASE_PATH } from '../../../shared/api/route.ts'
import { assertConforms, document, type Operation, resolveRef } from '../../support/document-conformance.ts'

const HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  'strict-transport-security': 'max-age=63072000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-request-id': '5fa8e1d0-5f91-4ae9-bab4-e363cd85fe3d',
  date: 'Fri, 20 Nov 2026 10:28:53 GMT',
  connection: 'close',
}

/** The example of a successful response in the document. */
const shown = (operation: Operation | undefined, status: number): any => {
  const response = resolveRef(operation?.responses[status] ?? {})
  return structuredClone(response.content?.['application/json']?.examples?.default?.value)
}
const PAGE = shown(document.paths['/patients']?.get, 200)
const REJECTED = { error: 'VALIDATION', message: 'errors.developer_api.validation', details: [] }

type Answer = { method?: string; path?: string; status?: number; headers?: object; body?: unknown }
const answered = ({
  method = 'GET',
  path = '/patients?limit=2',
  status = 200,
  headers,
  body = PAGE,
}: Answer) => assertConforms(method, `${BASE_PATH}${path}`, status, { ...HEADERS, ...headers }, body)

it('accepts documented responses', () => {
  answered({})
  answered({ headers: { ratelimit: '"default";r=1;t=2', 'ratelimit-policy': '"default";q=300;w=60' } })
  answered({ method: 'POST', path: '/patients', status: 422, body: REJECTED })
  answered({ method: 'DELETE', path: '/webhooks/x', status: 204, body: null })
  answered({ path: '/no-such-path', status: 404, body: notFound('route') })
  answered({ method: 'HEAD', status: 405, headers: { allow: 'GET, POST' }, body: null })
  assertConforms('GET', '/docs', 200, {}, 'not covered by the document')
})

const notFound = (what: string) => ({ error: 'NOT_FOUND', message: `errors.developer_api.${what}_not_found` })
const missing = (list: string, body: object): Answer => ({ path: `/${list}/x`, status: 404, body })
const pageWith = (fields: object) => ({ ...PAGE, data: [{ ...PAGE.data[0], ...fields }] })

it.each<[string, Answer, RegExp]>([
  ['an undocumented status', { status: 418 }, /GET .*\/patients answers 418: .* no such status there/],
  ['an undocumented path', { path: '/no-such-path' }, /no such status/],
  ['an undocumented method', { method: 'PUT' }, /no such status/],
  ['an undocumented header', { headers: { 'x-powered-by': 'us' } }, /no header x-powered-by there/],
  ['another header', { headers: { location: `${BASE_PATH}/patients/x` } }, /no header location there/],
  ['a missing header', { headers: { 'x-request-id': undefined } }, /the header x-request-id is missing/],
  ['an invalid header value', { headers: { ratelimit: 'many' } }, /the header ratelimit: "many" .* pattern/],
  ['a repeated header', { headers: { 'cache-control': ['no-store', 'no-store'] } }, /more than once/],
  ['a wrong content type', { headers: { 'content-type': 'text/html' } }, /the content-type is text\/html/],
  ['an undocumented field', { body: { ...PAGE, next: 1 } }, /"additionalProperty":"next"/],
  ['a missing field', { body: { data: [] } }, /must have required property 'meta'/],
  ['a field of the wrong type', { body: pageWith({ gender: 1 }) }, /\/data\/0\/gender/],
  ['a field of the wrong format', { body: pageWith({ id: 'x' }) }, /\/data\/0\/id .*uuid/],
  ['a missing body', { body: null }, /must be object/],
  ['an extra body', { method: 'DELETE', path: '/webhooks/x', status: 204, body: {} }, /no body there/],
  [
    'an undeclared error',
    missing('patients', notFound('invoice')),
    /invoice_not_found there, only .*\.patient_not_found/,
  ],
  ['the code of another error', missing('patients', { ...notFound('patient'), error: 'GONE' }), /\/error/],
  [
    'undocumented details',
    missing('messages', { ...notFound('message'), details: [] }),
    /additional properties/,
  ],
])('rejects %s', (_, answer, message) => {
  expect(() => answered(answer)).toThrow(message)
})
