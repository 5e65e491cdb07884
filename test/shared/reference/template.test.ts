import { expect, it } from 'vitest'
import { REFERENCE } from '../../../infra/reference-files.ts'
import { grantsOf, logicalIdAt, resourceOfFunction, resourcesOf, templateOf } from '../../support/template.ts'

const dev = templateOf('dev')

type Method = {
  HttpMethod: string
  ResourceId: { Ref?: string }
  AuthorizationType: string
  ApiKeyRequired?: boolean
  Integration: { Type: string; Uri: { 'Fn::Join': [string, unknown[]] } }
}
type Path = { PathPart: string; ParentId: { Ref?: string } }

function pathOf(ref: string | undefined): string {
  const resource = ref && resourcesOf(dev, 'AWS::ApiGateway::Resource')[ref]
  if (!resource) return ''
  const { PathPart, ParentId } = resource.Properties as unknown as Path
  return `${pathOf(ParentId.Ref)}/${PathPart}`
}

it('serves four public resources outside the base path, with any method', () => {
  const lambda = logicalIdAt(dev, `Reference/${REFERENCE}/Function`)
  const methods = Object.values(resourcesOf(dev, 'AWS::ApiGateway::Method'))
    .map(({ Properties }) => Properties as unknown as Method)
    .filter(({ Integration }) => JSON.stringify(Integration.Uri).includes(lambda))
  expect(
    methods
      .map((method) => [
        `${method.HttpMethod} ${pathOf(method.ResourceId.Ref)}`,
        method.AuthorizationType,
        method.ApiKeyRequired ?? false,
        method.Integration.Type,
      ])
      .sort(),
  ).toEqual(
    ['ANY /docs', 'ANY /docs/{proxy+}', 'ANY /errors.json', 'ANY /openapi.json'].map((path) => [
      path,
      'NONE',
      false,
      'AWS_PROXY',
    ]),
  )
})

it('grants its function only its own logs, and sets no environment', () => {
  expect(grantsOf(dev, REFERENCE)).toEqual([
    {
      Effect: 'Allow',
      Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      Resource: { 'Fn::GetAtt': [logicalIdAt(dev, `Reference/${REFERENCE}/Logs`), 'Arn'] },
    },
  ])
  expect(resourceOfFunction(dev, 'AWS::Lambda::Function', REFERENCE).Properties).not.toHaveProperty(
    'Environment',
  )
})

it('compresses responses, and handles bodies as text', () => {
  const [api] = Object.values(resourcesOf(dev, 'AWS::ApiGateway::RestApi'))
  expect(api?.Properties).toMatchObject({ MinimumCompressionSize: 2048 })
  expect(api?.Properties).not.toHaveProperty('BinaryMediaTypes')
})
