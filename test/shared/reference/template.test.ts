import { expect, it } from 'vitest'
import { REFERENCE } from '../../../infra/settings/names.ts'
import {
  logicalIdAt,
  type Resource,
  resourceOfFunction,
  resourcesOf,
  templateOf,
} from '../../support/template.ts'

const dev = templateOf('dev')

const [api] = Object.values(resourcesOf(dev, 'AWS::ApiGateway::RestApi'))
const { Body: document } = (api as Resource).Properties as unknown as {
  Body: { security?: unknown; paths: Record<string, Record<string, object>> }
}

it('serves five public resources outside the base path, to GET and HEAD', () => {
  const lambda = logicalIdAt(dev, 'Api/reference/Function')
  const served = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => JSON.stringify(operation).includes(lambda))
      .map(([method, operation]) => [path, method, 'security' in operation]),
  )
  expect(served.sort()).toEqual(
    ['/', '/docs', '/docs/{proxy+}', '/errors.json', '/openapi.json'].flatMap((path) =>
      ['get', 'head'].map((method) => [path, method, false]),
    ),
  )
  expect(document).not.toHaveProperty('security')
})

it('sets no environment of its function', () => {
  expect(resourceOfFunction(dev, 'AWS::Lambda::Function', REFERENCE).Properties).not.toHaveProperty(
    'Environment',
  )
})

it('compresses responses, and handles bodies as text', () => {
  expect(document).toMatchObject({ 'x-amazon-apigateway-minimum-compression-size': 2048 })
  expect(document).not.toHaveProperty('x-amazon-apigateway-binary-media-types')
})
