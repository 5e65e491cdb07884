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
  const resources: Resources = {
    Api: { Type: 'AWS::ApiGateway::RestApi' },
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'test' } },
  }
  const resourceFor = (path: string): unknown => {
    if (path === '') return { 'Fn::GetAtt': ['Api', 'RootResourceId'] }
    const id = logicalId(path)
    const cut = path.lastIndexOf('/')
    resources[id] = {
      Type: 'AWS::ApiGateway::Resource',
      Properties: { ParentId: resourceFor(path.slice(0, cut)), PathPart: path.slice(cut + 1) },
    }
    return { Ref: id }
  }
  for (const line of methods) {
    const [method = '', path = ''] = line.split(' ')
    const id = `${method}${logicalId(path)}`
    const functionId = `${id}Function`
    resources[functionId] = {
      Type: 'AWS::Lambda::Function',
      Properties: {
        FunctionName: encodeURIComponent(line),
        Handler: 'index.handler',
        Code: { S3Key: `${functionId}-${version}.zip` },
      },
    }
    resources[id] = {
      Type: 'AWS::ApiGateway::Method',
      Properties: {
        HttpMethod: method,
        ResourceId: resourceFor(path === '/' ? '' : path),
        Integration: {
          Type: 'AWS_PROXY',
          Uri: {
            'Fn::Sub': `arn:aws:apigateway:x:lambda:path/2015-03-31/functions/\${${functionId}.Arn}/invocations`,
          },
        },
      },
    }
  }
  return { Resources: { ...resources, ...more } }
}

const logicalId = (path: string): string => `Path${path.replace(/[^a-z]/gi, 'x')}`

/** Which of the given methods a function's ARN stands for. */
export const calledBy = (arn: string | undefined): string | undefined =>
  arn && decodeURIComponent(arn.split(':').at(-1) ?? '')
