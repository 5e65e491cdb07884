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
    ['null headers', { statusCode: 200, headers: null }, 200],
  ])('may have %s', (_what, result, status) => {
    expect(read(result)?.status).toBe(status)
  })
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
  ['a header that the gateway renames', { statusCode: 200, headers: { Server: 'x' } }],
  ['a header that the gateway drops', { statusCode: 200, headers: { via: 'x' } }],
  ['an unknown field', { statusCode: 200, cookies: [] }],
  ['a header with a line break', { statusCode: 200, headers: { a: 'x\r\nb: y' } }],
  ['a header name with a space', { statusCode: 200, headers: { 'a b': 'x' } }],
])('a malformed result is %s', (_what, result) => {
  expect(read(result)).toBeNull()
})
