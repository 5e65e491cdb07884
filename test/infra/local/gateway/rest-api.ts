import type { Integration } from '../../../../infra/local/gateway/routes.ts'
import {
  resolveTemplate,
  type Template,
  type TemplateResource,
} from '../../../../infra/local/template/template.ts'

type Resources = Record<string, TemplateResource>

/** An opened template with a REST API of the given methods (`GET /patients/{id}`). */
export function restApi(methods: readonly string[], more: Resources = {}) {
  const context = { region: 'us-east-1', stackName: 'Test', queueUrl: (name: string) => name }
  return resolveTemplate(restApiTemplate(methods, more), context)
}

/** Each method has a function of its own, named after it; `version` goes into the name of its bundle. */
export function restApiTemplate(methods: readonly string[], more: Resources = {}, version = 'v1'): Template {
  const paths: Record<string, Record<string, unknown>> = {}
  const resources: Resources = {
    Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { Body: { paths } } },
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'test' } },
  }
  for (const line of methods) {
    const [method = '', path = ''] = line.split(' ')
    const functionId = `${method}${logicalId(path)}Function`
    resources[functionId] = {
      Type: 'AWS::Lambda::Function',
      Properties: {
        FunctionName: encodeURIComponent(line),
        Handler: 'index.handler',
        Code: { S3Key: `${functionId}-${version}.zip` },
      },
    }
    const uri = `arn:aws:apigateway:x:lambda:path/2015-03-31/functions/\${${functionId}.Arn}/invocations`
    paths[path] = {
      ...paths[path],
      [method === 'ANY' ? 'x-amazon-apigateway-any-method' : method.toLowerCase()]: {
        'x-amazon-apigateway-integration': { type: 'aws_proxy', uri: { 'Fn::Sub': uri } },
      },
    }
  }
  return { Resources: { ...resources, ...more } }
}

const logicalId = (path: string): string => `Path${path.replace(/[^a-z]/gi, 'x')}`

/** Which of the given methods an integration is of. */
export const calledBy = (integration: Integration | undefined): string | undefined =>
  integration && 'functionArn' in integration
    ? decodeURIComponent(integration.functionArn.split(':').at(-1) ?? '')
    : undefined
