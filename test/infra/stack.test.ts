import { ResponseType } from 'aws-cdk-lib/aws-apigateway'
import { describe, expect, it } from 'vitest'
import { functionIds } from '../../infra/clinic-stack.ts'
import { stageSettings } from '../../infra/stages.ts'
import { BASE_PATH } from '../../shared/api/route.ts'
import { ROUTES } from '../../shared/api/routes.ts'
import { grantsOf, ofFunction, type Resource, resourcesOf, templateOf } from '../support/template.ts'

const dev = templateOf('dev')
const prod = templateOf('prod')

type Method = { HttpMethod: string; ResourceId: { Ref?: string }; AuthorizationType: string }

const methods = Object.values(resourcesOf(dev, 'AWS::ApiGateway::Method')).map(
  ({ Properties }) => Properties as unknown as Method,
)

/** `/api/developer/v1/patients` of a resource, from its chain of parents. */
function pathOf(ref: string | undefined): string {
  const resource = ref ? resourcesOf(dev, 'AWS::ApiGateway::Resource')[ref] : undefined
  if (!resource) return ''
  const { PathPart, ParentId } = resource.Properties as unknown as {
    PathPart: string
    ParentId: { Ref?: string }
  }
  return `${pathOf(ParentId.Ref)}/${PathPart}`
}

describe('the API', () => {
  it('has a method for every route, and any other method of every resource goes to the fallback', () => {
    const served = methods.map(({ HttpMethod, ResourceId }) => `${HttpMethod} ${pathOf(ResourceId.Ref)}`)
    const paths = Object.keys(resourcesOf(dev, 'AWS::ApiGateway::Resource')).map(pathOf)
    const routes = ROUTES.map(({ method, path }) => `${method} ${BASE_PATH}${path}`)
    expect(served.sort()).toEqual([...routes, 'ANY ', ...paths.map((path) => `ANY ${path}`)].sort())
    expect(paths).toContain(`${BASE_PATH}/{proxy+}`)
  })

  it('renders every type of gateway error in our shape, with our status, and without the gateway’s words', () => {
    const types = Object.values(ResponseType).filter(
      (type): type is ResponseType => type instanceof ResponseType,
    )
    const responses = Object.values(resourcesOf(dev, 'AWS::ApiGateway::GatewayResponse')).map(
      ({ Properties }) => Properties as unknown as Record<string, unknown>,
    )
    expect(responses.map(({ ResponseType }) => ResponseType).sort()).toEqual(
      types.map(({ responseType }) => responseType).sort(),
    )
    for (const response of responses) {
      expect(response.StatusCode).toMatch(/^[45]\d\d$/)
      expect(response.ResponseParameters).toMatchObject({
        'gatewayresponse.header.x-request-id': 'context.requestId',
      })
      const templates = response.ResponseTemplates as Record<string, string>
      expect(Object.keys(templates)).toEqual(['application/json'])
      expect(JSON.parse(templates['application/json'] ?? '')).toEqual({
        error: expect.stringMatching(/^[A-Z_]+$/),
        message: expect.stringMatching(/^errors\.developer_api\.[a-z_]+$/),
      })
      expect(JSON.stringify(response)).not.toContain('context.error')
    }
  })

  it('logs neither path nor query nor error texts, and no requests', () => {
    const [stage] = Object.values(resourcesOf(dev, 'AWS::ApiGateway::Stage'))
    const { AccessLogSetting, MethodSettings } = (stage as Resource).Properties as unknown as {
      AccessLogSetting: { Format: string }
      MethodSettings: unknown[]
    }
    const used = Object.values(JSON.parse(AccessLogSetting.Format) as Record<string, string>)
    expect(used.sort()).toEqual([
      '$context.error.responseType',
      '$context.httpMethod',
      '$context.integrationLatency',
      '$context.requestId',
      '$context.requestTime',
      '$context.resourcePath',
      '$context.responseLatency',
      '$context.status',
    ])
    const { throttle } = stageSettings('dev')
    expect(MethodSettings).toEqual([
      expect.objectContaining({
        HttpMethod: '*',
        ResourcePath: '/*',
        LoggingLevel: 'OFF',
        DataTraceEnabled: false,
        ThrottlingRateLimit: throttle.rate,
        ThrottlingBurstLimit: throttle.burst,
      }),
    ])
  })
})

describe('the functions', () => {
  it.each(functionIds())('%s runs on Node 24 and arm64', (id) => {
    expect(ofFunction(dev, 'AWS::Lambda::Function', id).Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
    })
  })

  it.each(ROUTES.map((route) => [route.id, route] as const))(
    '%s may do what its route says, and nothing else',
    (id, route) => {
      const table = { 'Fn::GetAtt': [expect.stringMatching(/^DataTable/), 'Arn'] }
      const actions = (names: string[]) => (names.length === 1 ? names[0] : names)
      expect(grantsOf(dev, id)).toEqual([
        {
          Effect: 'Allow',
          Action: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          Resource: { 'Fn::GetAtt': [expect.stringMatching(/Logs/), 'Arn'] },
        },
        {
          Effect: 'Allow',
          Action: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
          Resource: table,
          Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['credential#*'] } },
        },
        {
          Effect: 'Allow',
          Action: actions(route.uses.table.map((call) => `dynamodb:${call}`)),
          Resource: table,
          Condition: {
            'ForAllValues:StringNotLike': { 'dynamodb:LeadingKeys': ['credential#*', 'clinics'] },
          },
        },
        expect.objectContaining({
          Effect: 'Allow',
          Action: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
          Resource: { 'Fn::GetAtt': [expect.stringMatching(/^DataTableKey/), 'Arn'] },
          Condition: { StringEquals: { 'kms:ViaService': expect.anything() } },
        }),
      ])
      const { ManagedPolicyArns } = ofFunction(dev, 'AWS::IAM::Role', id).Properties as {
        ManagedPolicyArns?: unknown
      }
      expect(ManagedPolicyArns).toBeUndefined()
    },
  )

  it('lets the fallback write its log, and nothing else', () => {
    expect(grantsOf(dev, 'fallback').map(({ Action }) => Action)).toEqual([
      ['logs:CreateLogStream', 'logs:PutLogEvents'],
    ])
  })

  it('checks answers and is generous in development only', () => {
    const variables = (template: typeof dev) =>
      (
        ofFunction(template, 'AWS::Lambda::Function', 'get-patient').Properties as unknown as {
          Environment: { Variables: object }
        }
      ).Environment.Variables
    expect(variables(dev)).toMatchObject({ CHECK_RESPONSES: 'on' })
    expect(variables(prod)).toMatchObject({ CHECK_RESPONSES: 'off', REQUESTS_PER_MINUTE: '300' })
  })
})

describe('the table', () => {
  const properties = {
    BillingMode: 'PAY_PER_REQUEST',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    StreamSpecification: { StreamViewType: 'NEW_AND_OLD_IMAGES' },
    TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
  }

  it('keeps its data in production, also when the stack goes', () => {
    prod.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Retain',
      Properties: { ...properties, DeletionProtectionEnabled: true },
    })
  })

  it('goes with the stack in development', () => {
    dev.hasResource('AWS::DynamoDB::Table', {
      DeletionPolicy: 'Delete',
      Properties: { ...properties, DeletionProtectionEnabled: false },
    })
  })
})

it('names the stages there are when asked for another', () => {
  expect(() => stageSettings('staging')).toThrow(
    'There is no stage "staging". Choose one with -c stage=dev|prod.',
  )
})
