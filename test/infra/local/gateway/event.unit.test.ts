import { describe, expect, it } from 'vitest'
import {
  BadTarget,
  buildEvent,
  OtherApi,
  type ReceivedRequest,
  readTarget,
} from '../../../../infra/local/gateway/event.ts'
import { matchRoute, routesOf } from '../../../../infra/local/gateway/routes.ts'
import { restApi } from './rest-api.ts'

const routes = routesOf(restApi(['ANY /{proxy+}', 'GET /patients/{id}']))
const api = { id: 'api1', stage: 'test', accountId: '000000000000' }

function event(request: Partial<ReceivedRequest>) {
  const received: ReceivedRequest = {
    method: 'GET',
    target: '/patients/7',
    rawHeaders: [],
    body: Buffer.alloc(0),
    protocol: 'HTTP/1.1',
    sourceIp: '127.0.0.1',
    port: 3000,
    receivedAt: Date.UTC(2026, 4, 1, 7, 8, 9),
    requestId: 'request-1',
    extendedRequestId: 'extended-1',
    traceId: 'Root=1-2-3',
    ...request,
  }
  const target = readTarget(received.target)
  const match = matchRoute(routes, received.method, target.path)
  if (!match) throw new Error('no route')
  return buildEvent(received, target, match, api)
}

describe('the query of an event', () => {
  it.each([
    ['/p', null],
    ['/p?', null],
    ['/p?&&', null],
    ['/p?a=1', { a: ['1'] }],
    ['/p?a', { a: [''] }],
    ['/p?a=', { a: [''] }],
    ['/p?a=b=c', { a: ['b=c'] }],
    ['/p?a=1&b=2&a=3', { a: ['1', '3'], b: ['2'] }],
    ['/p?a=1;b=2', { a: ['1'], b: ['2'] }],
    ['/p?email=test%2Balias@x.org', { email: ['test+alias@x.org'] }],
    ['/p?a=one+two%20three', { a: ['one two three'] }],
    ['/p?at=10:05:10+00:00', { at: ['10:05:10 00:00'] }],
    ['/p?a+b=%26', { 'a b': ['&'] }],
    ['/p?url=https://x.org/?y', { url: ['https://x.org/?y'] }],
    ['/p?name=%D0%90%D0%BD%D0%BD%D0%B0', { name: ['Анна'] }],
    [`/p?name=${Buffer.from('Анна').toString('latin1')}`, { name: ['Анна'] }],
    ['/p?a=%FF', { a: ['\uFFFD'] }],
    ['/p?A=1&a=2', { A: ['1'], a: ['2'] }],
    ['/p?__proto__=1', Object.fromEntries([['__proto__', ['1']]])],
  ])('%s', (target, expected) => {
    const { multiValueQueryStringParameters: all, queryStringParameters: last } = event({ target })
    expect(all).toEqual(expected)
    expect(last).toEqual(
      expected && Object.fromEntries(Object.entries(expected).map(([name, values]) => [name, values.at(-1)])),
    )
  })

  it.each(['/p?a=%', '/p?a=%2', '/p?a=%zz', '/p?%=1', '/p?a=|', '/p?a={x}', '/p%', '/%GG/x', '*'])(
    '%s is rejected',
    (target) => {
      expect(() => readTarget(target)).toThrow(BadTarget)
    },
  )
})

it.each([
  ['/patients/7', '/patients/7', '/patients/7', { id: '7' }],
  ['/patients/7/', '/patients/7/', '/patients/7/', { id: '7' }],
  ['//patients/7', '/patients/7', '//patients/7', { id: '7' }],
  ['/patients/a%2Fb', '/patients/a%2Fb', '/patients/a%2Fb', { id: 'a%2Fb' }],
  ['/patients/a+b%2B', '/patients/a+b%2B', '/patients/a+b%2B', { id: 'a+b%2B' }],
  ['/a//b', '/a//b', '/a//b', { proxy: 'a//b' }],
  ['http://x.org:80/patients/7?a=1', '/patients/7', '/patients/7', { id: '7' }],
])('the path of an event is split and decoded for %s', (target, path, contextPath, pathParameters) => {
  const made = event({ target })
  expect(made.path).toBe(path)
  expect(made.requestContext.path).toBe(contextPath)
  expect(made.pathParameters).toEqual(pathParameters)
})

describe('the headers of an event', () => {
  it('keep their case, with the last value and the list of all values', () => {
    const { headers, multiValueHeaders } = event({
      rawHeaders: [
        'hOST',
        'api.x.org',
        'X-One',
        'a',
        'X-One',
        'b',
        'x-one',
        'c',
        'Authorization',
        'Developer k:s',
      ],
    })
    expect(multiValueHeaders).toMatchObject({ hOST: ['api.x.org'], 'X-One': ['a', 'b'], 'x-one': ['c'] })
    expect(headers).toMatchObject({ 'X-One': 'b', 'x-one': 'c', Authorization: 'Developer k:s' })
  })

  it('include those that the gateway adds', () => {
    const { headers } = event({ rawHeaders: ['x-forwarded-for', '192.0.2.1', 'X-Forwarded-Proto', 'gopher'] })
    expect(headers).toEqual({
      'X-Amzn-Trace-Id': 'Root=1-2-3',
      'X-Forwarded-For': '192.0.2.1, 127.0.0.1',
      'X-Forwarded-Port': '3000',
      'X-Forwarded-Proto': 'http',
    })
  })

  it.each([
    'Connection',
    'Content-Length',
    'content-md5',
    'Expect',
    'Server',
    'TE',
    'Upgrade',
    'WWW-Authenticate',
  ])('exclude %s', (name) => {
    expect(Object.keys(event({ rawHeaders: [name, 'x'] }).headers)).not.toContain(name)
  })

  it('exclude an Authorization header with an AWS signature, but no other', () => {
    const signed = event({ rawHeaders: ['Authorization', 'AWS4-HMAC-SHA256 Credential=x'] })
    expect(signed.headers).not.toHaveProperty('Authorization')
  })
})

it('the request context has the caller, the time and the resource', () => {
  const { requestContext } = event({ rawHeaders: ['Host', 'api.x.org', 'User-Agent', 'curl/8'] })
  expect(requestContext).toMatchObject({
    accountId: '000000000000',
    apiId: 'api1',
    domainName: 'api.x.org',
    domainPrefix: 'api',
    extendedRequestId: 'extended-1',
    httpMethod: 'GET',
    identity: { sourceIp: '127.0.0.1', userAgent: 'curl/8', user: null },
    protocol: 'HTTP/1.1',
    requestId: 'request-1',
    requestTime: '01/May/2026:07:08:09 +0000',
    requestTimeEpoch: Date.UTC(2026, 4, 1, 7, 8, 9),
    resourcePath: '/patients/{id}',
    stage: 'test',
  })
})

describe('the path of a request at the address of API Gateway', () => {
  it.each([
    ['/test/patients/7?a=1', '/patients/7'],
    ['/test', '/'],
    ['/test/', '/'],
    ['//test/patients', '/patients'],
    ['/test/test/x', '/test/x'],
  ])('%s has the stage, unlike the path of the API', (target, path) => {
    expect(readTarget(target, '/test').path).toBe(path)
  })

  it('is passed on with the stage in the context only', () => {
    const { path, sentPath } = readTarget('/test/patients/7', '/test')
    expect([path, sentPath]).toEqual(['/patients/7', '/test/patients/7'])
  })

  it.each(['/', '/patients/7', '/testing/patients', '/prod/patients'])(
    '%s is of no API without the stage',
    (target) => {
      expect(() => readTarget(target, '/test')).toThrow(OtherApi)
    },
  )
})
