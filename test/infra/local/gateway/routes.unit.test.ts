import { describe, expect, it } from 'vitest'
import { matchRoute, routesOf } from '../../../../infra/local/gateway/routes.ts'
import { calledBy, restApi } from './rest-api.ts'

const routes = routesOf(
  restApi([
    'ANY /',
    'ANY /{proxy+}',
    'GET /v1/patients',
    'ANY /v1/patients',
    'GET /v1/patients/{id}',
    'GET /v1/patients/me',
    'POST /v1/patients/{id}/notes',
    'ANY /v1/{proxy+}',
    'POST /v1/only-post',
  ]),
)
const match = (method: string, path: string) => {
  const found = matchRoute(routes, method, path)
  return found && [calledBy(found.integration), found.pathParameters]
}

describe('a REST API routes', () => {
  it.each([
    ['the root', 'GET', '/', 'ANY /', null],
    ['a literal path', 'GET', '/v1/patients', 'GET /v1/patients', null],
    ['another method to ANY', 'DELETE', '/v1/patients', 'ANY /v1/patients', null],
    ['a literal before a parameter', 'GET', '/v1/patients/me', 'GET /v1/patients/me', null],
    ['a parameter', 'GET', '/v1/patients/7', 'GET /v1/patients/{id}', { id: '7' }],
    ['parameter before literal', 'POST', '/v1/patients/7/notes', 'POST /v1/patients/{id}/notes', { id: '7' }],
    ['the rest to the nearest greedy one', 'GET', '/v1/x/y', 'ANY /v1/{proxy+}', { proxy: 'x/y' }],
    ['the rest to the outer greedy one', 'GET', '/x/y/z', 'ANY /{proxy+}', { proxy: 'x/y/z' }],
    ['what a literal has not', 'GET', '/v1/patients/7/8', 'ANY /v1/{proxy+}', { proxy: 'patients/7/8' }],
    ['a method that is missing', 'GET', '/v1/only-post', 'ANY /v1/{proxy+}', { proxy: 'only-post' }],
    ['one slash at the end as none', 'GET', '/v1/patients/', 'GET /v1/patients', null],
    ['an empty segment as no literal', 'GET', '/v1//patients', 'ANY /v1/{proxy+}', { proxy: '/patients' }],
    ['an empty segment as no parameter', 'GET', '/v1/patients//', 'ANY /v1/{proxy+}', { proxy: 'patients/' }],
    ['an encoded slash as a part', 'GET', '/v1/patients/a%2Fb', 'GET /v1/patients/{id}', { id: 'a%2Fb' }],
    ['case as it is', 'GET', '/V1/patients', 'ANY /{proxy+}', { proxy: 'V1/patients' }],
    ['HEAD like any other method', 'HEAD', '/v1/patients', 'ANY /v1/patients', null],
    ['OPTIONS like any other method', 'OPTIONS', '/v1/patients', 'ANY /v1/patients', null],
    ['TRACE like any other method', 'TRACE', '/v1/patients', 'ANY /v1/patients', null],
  ])('%s', (_what, method, path, called, parameters) => {
    expect(match(method, path)).toEqual([called, parameters])
  })

  it('no unsupported method', () => {
    expect(match('PURGE', '/v1/patients')).toBeNull()
  })

  it('no unmatched path without a greedy resource', () => {
    const few = routesOf(restApi(['GET /v1/patients']))
    expect(matchRoute(few, 'GET', '/v1')).toBeNull()
    expect(matchRoute(few, 'POST', '/v1/patients')).toBeNull()
    expect(matchRoute(few, 'GET', '/')).toBeNull()
  })
})

it('throws an error for a method that is not in the document', () => {
  const template = restApi([], { Odd: { Type: 'AWS::ApiGateway::Method' } })
  expect(() => routesOf(template)).toThrow(/^Odd is not in the document of its API/)
})
