/** A REST API that is defined by an OpenAPI document. */
import { describe, expect, it } from 'vitest'
import { matchRoute, routesOf } from '../../../../infra/local/gateway/routes.ts'
import { resolveTemplate } from '../../../../infra/local/template/template.ts'
import { calledBy } from './rest-api.ts'

const invoking = (name: string, more: object = {}) => ({
  'x-amazon-apigateway-integration': {
    type: 'aws_proxy',
    uri: {
      'Fn::Sub': `arn:aws:apigateway:x:lambda:path/2015-03-31/functions/arn:aws:lambda:::function:${name}/invocations`,
    },
    ...more,
  },
})

const mock = (more: object = {}, response: object = {}) => ({
  'x-amazon-apigateway-integration': {
    type: 'mock',
    passthroughBehavior: 'never',
    requestTemplates: { 'application/json': '{"statusCode":404}' },
    responses: {
      default: { statusCode: '404', responseTemplates: { 'application/json': '{}' }, ...response },
    },
    ...more,
  },
})

const getting = (get: object) => ({ paths: { '/a': { get } } })
const MOCK = /Api: GET \/a has a mock that depends on the request/
const ANY = 'x-amazon-apigateway-any-method'

const template = (Body: object) =>
  resolveTemplate(
    { Resources: { Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Body } } } },
    { region: 'us-east-1', stackName: 'Test', queueUrl: (name) => name },
  )

describe('a REST API of a document', () => {
  const routes = routesOf(
    template({
      'x-amazon-apigateway-minimum-compression-size': 100,
      paths: {
        '/{proxy+}': { [ANY]: invoking('any') },
        '/patients/{id}': { get: invoking('get', { timeoutInMillis: 5000 }), [ANY]: invoking('other') },
      },
    }),
  )

  it.each([
    ['GET', '/patients/7', 'get', 5000, { id: '7' }],
    ['DELETE', '/patients/7', 'other', 29_000, { id: '7' }],
    ['GET', '/else', 'any', 29_000, { proxy: 'else' }],
  ])('sends %s %s to its function', (method, path, name, timeoutMs, pathParameters) => {
    const match = matchRoute(routes, method, path)
    expect(calledBy(match?.integration)).toBe(name)
    expect(match?.integration).toMatchObject({ timeoutMs })
    expect(match?.pathParameters).toEqual(pathParameters)
  })

  it.each([
    ['an API key', { security: [{ key: [] }], paths: {} }, /Api has an authorizer, an API key/],
    ['an authorizer', getting({ ...invoking('a'), security: [{}] }), /Api has an authorizer/],
    [
      'a request validator',
      getting({ ...invoking('a'), 'x-amazon-apigateway-request-validator': 'all' }),
      /Api has an authorizer/,
    ],
    [
      'binary media types',
      { paths: {}, 'x-amazon-apigateway-binary-media-types': ['*/*'] },
      /Api has binary media types/,
    ],
    [
      'another integration',
      getting(invoking('a', { type: 'http_proxy' })),
      /Api: GET \/a has neither a Lambda proxy integration nor a mock/,
    ],
    ['a mock that passes other bodies on', getting(mock({ passthroughBehavior: 'when_no_match' })), MOCK],
    [
      'a mock with a template that is evaluated',
      getting(mock({}, { responseTemplates: { 'application/json': '$context.path' } })),
      MOCK,
    ],
    [
      'a mock with a header of the request',
      getting(mock({}, { responseParameters: { 'method.response.header.x': 'a.b' } })),
      /Api: GET \/a maps method.response.header.x to a.b/,
    ],
  ])('rejects %s', (_what, body, message) => {
    expect(() => routesOf(template(body))).toThrow(message)
  })
})
