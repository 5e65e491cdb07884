import { describe, expect, it } from 'vitest'
import { gatewayErrors } from '../../../../infra/local/gateway/errors.ts'
import { restApi } from './rest-api.ts'

const context = { requestId: 'request-1', httpMethod: 'GET' }
const withResponse = (type: string, response: object) => {
  const Body = { paths: {}, 'x-amazon-apigateway-gateway-responses': { [type]: response } }
  return restApi([], { Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Body } } })
}

describe('a gateway error', () => {
  it.each([
    ['MISSING_AUTHENTICATION_TOKEN', 403, 'Missing Authentication Token'],
    ['THROTTLED', 429, 'Too Many Requests'],
    ['INTEGRATION_TIMEOUT', 504, 'Endpoint request timed out'],
    ['DEFAULT_5XX', 502, 'Internal server error'],
    ['REQUEST_TOO_LARGE', 413, 'Request Too Long'],
  ] as const)('%s is AWS’s own unless the template says otherwise', (type, status, message) => {
    const rendered = gatewayErrors(restApi([]))(type, context)
    expect([rendered.status, JSON.parse(rendered.body)]).toEqual([status, { message }])
  })

  it('is rendered with its gateway response', () => {
    const render = gatewayErrors(
      withResponse('THROTTLED', {
        statusCode: '503',
        responseParameters: {
          'gatewayresponse.header.x-request-id': 'context.requestId',
          'gatewayresponse.header.retry-after': "'1'",
        },
        responseTemplates: {
          'application/json':
            '{"id":"$context.requestId","type":"$context.error.responseType","text":$context.error.messageString}',
        },
      }),
    )
    const rendered = render('THROTTLED', context)
    expect(rendered.status).toBe(503)
    expect(rendered.headers).toEqual([
      ['Content-Type', 'application/json'],
      ['x-amzn-ErrorType', 'TooManyRequestsException'],
      ['x-request-id', 'request-1'],
      ['retry-after', '1'],
    ])
    expect(JSON.parse(rendered.body)).toEqual({
      id: 'request-1',
      type: 'THROTTLED',
      text: 'Too Many Requests',
    })
  })

  it('falls back to the default response of its class and keeps its own status', () => {
    const templates = { 'application/json': '{"error":"X"}' }
    const render = gatewayErrors(withResponse('DEFAULT_4XX', { responseTemplates: templates }))
    expect(render('REQUEST_TOO_LARGE', context)).toMatchObject({ status: 413, body: '{"error":"X"}' })
    expect(render('INTEGRATION_TIMEOUT', context).body).toContain('timed out')
  })

  it('with an unsupported gateway response prevents the start', () => {
    const responseParameters = { 'gatewayresponse.header.x': 'method.request.header.y' }
    const odd = withResponse('THROTTLED', { responseParameters })
    expect(() => gatewayErrors(odd)).toThrow(/Api: THROTTLED maps gatewayresponse.header.x/)
    const outside = restApi([], { Odd: { Type: 'AWS::ApiGateway::GatewayResponse' } })
    expect(() => gatewayErrors(outside)).toThrow(/^Odd is not in the document/)
  })
})
