import { gunzipSync, inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { compress, minCompressionSizeOf } from '../../../../infra/local/gateway/compression.ts'
import type { HttpResponse } from '../../../../infra/local/gateway/response.ts'
import { restApi } from './rest-api.ts'

const LONG = 'x'.repeat(100)
const plain: HttpResponse = { status: 200, headers: [['etag', '"1"']], body: LONG }
const accepting = (...codings: string[]) => ({
  rawHeaders: codings.flatMap((coding) => ['Accept-Encoding', coding]),
})

it.each([
  ['gzip', gunzipSync],
  ['gzip, deflate, br, zstd', gunzipSync],
  ['br;q=0.5, GZIP', gunzipSync],
  ['gzip;q=0.1, deflate;q=0.9', inflateSync],
])('a response is compressed for a caller that accepts %s', (accepted, decode) => {
  const { status, headers, body } = compress(plain, accepting(accepted), 100)
  expect([status, decode(body).toString()]).toEqual([200, LONG])
  expect(headers).toEqual([
    ['etag', '"1"'],
    ['Content-Encoding', decode === gunzipSync ? 'gzip' : 'deflate'],
  ])
})

describe('a response is not compressed', () => {
  it.each([
    ['without the header', [], 1],
    ['for any coding', ['*'], 1],
    ['for a first choice that a REST API does not have', ['br, gzip'], 1],
    ['for identity', ['identity'], 1],
    ['when it is small', ['gzip'], 101],
    ['when the API does not compress', ['gzip'], undefined],
  ])('%s', (_why, accepted, from) => {
    expect(compress(plain, accepting(...accepted), from)).toBe(plain)
  })

  it('when the function has compressed it, or it is empty', () => {
    const encoded: HttpResponse = { ...plain, headers: [['content-encoding', 'br']] }
    expect(compress(encoded, accepting('gzip'), 1)).toBe(encoded)
    const empty = { ...plain, body: '' }
    expect(compress(empty, accepting('gzip'), 0)).toBe(empty)
  })
})

it('the minimum size for compression is read from the template', () => {
  const Body = { paths: {}, 'x-amazon-apigateway-minimum-compression-size': 7 }
  const Api = { Type: 'AWS::ApiGateway::RestApi', Properties: { Body } }
  expect([
    minCompressionSizeOf(restApi(['ANY /'])),
    minCompressionSizeOf(restApi(['ANY /'], { Api })),
  ]).toEqual([undefined, 7])
})
