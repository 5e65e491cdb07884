import { describe, expect, it } from 'vitest'
import { readResult } from '../../../../infra/local/gateway/response.ts'

const read = (result: unknown) => readResult(JSON.stringify(result))

describe('a well-formed result', () => {
  it('becomes the response', () => {
    expect(read({ statusCode: 201, headers: { 'content-type': 'text/plain' }, body: 'made' })).toEqual({
      status: 201,
      headers: [['content-type', 'text/plain']],
      body: 'made',
    })
  })

  it('has the content type JSON by default', () => {
    expect(read({ statusCode: 200, body: '{}' })?.headers).toEqual([['Content-Type', 'application/json']])
  })

  it.each([
    ['no body', { statusCode: 204 }, 204],
    ['a null body', { statusCode: 200, body: null }, 200],
    ['a status in digits', { statusCode: '404', body: '' }, 404],
    ['no status', { body: 'x' }, 200],
    ['null headers', { statusCode: 200, headers: null, multiValueHeaders: null }, 200],
    ['isBase64Encoded', { statusCode: 200, isBase64Encoded: false }, 200],
  ])('may have %s', (_what, result, status) => {
    expect(read(result)?.status).toBe(status)
  })

  it('has its two header lists merged without duplicate pairs', () => {
    const response = read({
      statusCode: 200,
      headers: { 'Content-Type': 'a/b', 'X-One': '1', 'X-Two': '2', 'X-Number': 3, 'X-Flag': true },
      multiValueHeaders: { 'x-one': ['1', '11'], 'Set-Cookie': ['a=1', 'b=2'] },
    })
    expect(response?.headers).toEqual([
      ['Content-Type', 'a/b'],
      ['x-one', '1'],
      ['X-Two', '2'],
      ['X-Number', '3'],
      ['X-Flag', 'true'],
      ['x-one', '11'],
      ['Set-Cookie', 'a=1'],
      ['Set-Cookie', 'b=2'],
    ])
  })

  it.each([
    'www-authenticate',
    'Authorization',
    'Connection',
    'Content-Length',
    'Content-MD5',
    'Date',
    'Max-Forwards',
    'Server',
    'User-Agent',
  ])('has the header %s renamed', (name) => {
    const headers = read({ statusCode: 401, headers: { [name]: 'x' } })?.headers
    expect(headers).toContainEqual([`x-amzn-Remapped-${name}`, 'x'])
    expect(headers?.map(([sent]) => sent)).not.toContain(name)
  })

  it.each(['Host', 'expect', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade', 'Via', 'Proxy-Authenticate'])(
    'has %s dropped',
    (name) => {
      expect(read({ statusCode: 200, headers: { [name]: 'x' } })?.headers).toHaveLength(1)
    },
  )
})

it.each([
  ['null', null],
  ['a string', 'hello'],
  ['a list', []],
  ['a status that is not a number', { statusCode: 'fine' }],
  ['a status with a fraction', { statusCode: 200.5 }],
  ['an impossible status', { statusCode: 99 }],
  ['a body that is an object', { statusCode: 200, body: {} }],
  ['a body that is a number', { statusCode: 200, body: 7 }],
  ['headers that are a list', { statusCode: 200, headers: ['a'] }],
  ['a header that is an object', { statusCode: 200, headers: { a: {} } }],
  ['multi-value headers without a list', { statusCode: 200, multiValueHeaders: { a: 'x' } }],
  ['an unknown field', { statusCode: 200, cookies: [] }],
  ['a header with a line break', { statusCode: 200, headers: { a: 'x\r\nb: y' } }],
  ['a header name with a space', { statusCode: 200, headers: { 'a b': 'x' } }],
])('a malformed result is %s', (_what, result) => {
  expect(read(result)).toBeNull()
})
