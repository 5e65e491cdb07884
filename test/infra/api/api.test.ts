import { ResponseType } from 'aws-cdk-lib/aws-apigateway'
import { describe, expect, it } from 'vitest'
import { REFERENCE_RESOURCES } from '../../../infra/api/api.ts'
import { SHARED_PARTITION_PREFIXES } from '../../../infra/functions/grants.ts'
import { functionIds } from '../../../infra/stacks/deployment.ts'
import { errorBody } from '../../../shared/api/errors.ts'
import { BASE_PATH } from '../../../shared/api/route.ts'
import { ENDPOINTS, ROUTES } from '../../../shared/api/routes.ts'
import * as calendarKeys from '../../../shared/store/keys/calendar.ts'
import * as dueKeys from '../../../shared/store/keys/due.ts'
import * as eventKeys from '../../../shared/store/keys/events.ts'
import * as messageKeys from '../../../shared/store/keys/messages.ts'
import * as webhookKeys from '../../../shared/store/keys/webhooks.ts'
import {
  logicalIdAt,
  type Resource,
  resourceOfFunction,
  resourcesOf,
  settingsOf,
  templateOf,
} from '../../support/template.ts'
import { dev, environmentOf, queueUrl } from '../stacks/expected-template.ts'

const prod = templateOf('prod')

type OpenApi = {
  paths: Record<string, Record<string, { 'x-amazon-apigateway-integration': { uri: object } }>>
  'x-amazon-apigateway-gateway-responses': Record<
    string,
    { statusCode: string; responseParameters: object; responseTemplates: Record<string, string> }
  >
}

const [api] = Object.values(resourcesOf(dev, 'AWS::ApiGateway::RestApi'))
const { Body: document } = (api as Resource).Properties as unknown as { Body: OpenApi }
const ANY = 'x-amazon-apigateway-any-method'

type Unmatched = {
  responses: Record<string, { headers: object }>
  'x-amazon-apigateway-integration': { requestTemplates: Record<string, string> }
}

/** The function that a method of a path invokes, by its logical id. */
const functionOf = (path: string, method: string): string | undefined =>
  /"Fn::GetAtt":\["(\w+)","Arn"\]/.exec(
    JSON.stringify(document.paths[path]?.[method]?.['x-amazon-apigateway-integration'].uri ?? ''),
  )?.[1]

describe('the API', () => {
  it('has a method for every route and public page', () => {
    const served = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item)
        .filter((method) => method !== ANY)
        .map((method) => [path, method, functionOf(path, method)]),
    )
    const routes = ROUTES.map(({ id, aliasOf = id, method, path }) => [
      `${BASE_PATH}${path}`,
      method.toLowerCase(),
      logicalIdAt(dev, `Api/${aliasOf}/Function`),
    ])
    const reference = logicalIdAt(dev, 'Api/reference/Function')
    const pages = REFERENCE_RESOURCES.flatMap((path) => [
      [path, 'get', reference],
      [path, 'head', reference],
    ])
    expect(served.map(String).sort()).toEqual([...routes, ...pages].map(String).sort())
  })

  it('responds to all other methods and paths itself, with 405 and the allowed methods or with 404', () => {
    const paths = Object.keys(document.paths)
    expect(paths).toEqual(expect.arrayContaining(['/', '/api', `${BASE_PATH}/{proxy+}`, '/{proxy+}']))
    for (const path of paths) {
      const { [ANY]: any, ...methods } = document.paths[path] ?? {}
      const allow = Object.keys(methods).join(', ').toUpperCase()
      const status = allow === '' ? 404 : 405
      const { 'x-amazon-apigateway-integration': mock, responses } = any as unknown as Unmatched
      const { requestTemplates, ...integration } = mock
      expect([path, new Set(Object.values(requestTemplates))]).toEqual([
        path,
        new Set([`{"statusCode":${status}}`]),
      ])
      const headers = {
        'x-request-id': 'context.extendedRequestId',
        'cache-control': "'no-store'",
        'strict-transport-security': "'max-age=63072000; includeSubDomains'",
        'x-content-type-options': "'nosniff'",
        ...(allow !== '' && { allow: `'${allow}'` }),
      }
      expect([path, integration]).toEqual([
        path,
        {
          type: 'mock',
          passthroughBehavior: 'never',
          responses: {
            default: {
              statusCode: String(status),
              responseParameters: Object.fromEntries(
                Object.entries(headers).map(([name, value]) => [`method.response.header.${name}`, value]),
              ),
              responseTemplates: {
                'application/json': JSON.stringify(
                  errorBody(status === 404 ? 'route_not_found' : 'method_not_allowed'),
                ),
              },
            },
          },
        },
      ])
      // API Gateway rejects the document if a response maps a header that it does not declare.
      expect(Object.keys(responses[status]?.headers ?? {})).toEqual(Object.keys(headers))
    }
  })

  it('declares the parameters of its paths', () => {
    for (const [path, item] of Object.entries(document.paths))
      for (const operation of Object.values(item))
        expect(operation).toMatchObject({
          parameters: [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({ name, in: 'path' })),
        })
  })

  it('may invoke each function by one permission for each of its paths', () => {
    const permissions = Object.values(resourcesOf(dev, 'AWS::Lambda::Permission'))
      .map(({ Properties }) => Properties as unknown as Record<string, unknown>)
      .filter(({ Principal }) => Principal === 'apigateway.amazonaws.com')
    const allowed = permissions.map(({ FunctionName, SourceArn }) => [
      (FunctionName as { 'Fn::GetAtt': string[] })['Fn::GetAtt'][0],
      (SourceArn as { 'Fn::Join': [string, string[]] })['Fn::Join'][1].at(-1),
    ])
    const expected = ROUTES.map(({ id, aliasOf = id, method, path }) => [
      logicalIdAt(dev, `Api/${aliasOf}/Function`),
      `/dev/${method}${BASE_PATH}${path.replace(/\{\w+\}/g, '*')}`,
    ])
    const reference = [logicalIdAt(dev, 'Api/reference/Function'), '/dev/*/*']
    expect(allowed.sort()).toEqual([...expected, reference].sort())
  })

  it('renders every gateway error in the API’s shape, without the gateway’s message', () => {
    const types = Object.values(ResponseType).filter(
      (type): type is ResponseType => type instanceof ResponseType,
    )
    const responses = document['x-amazon-apigateway-gateway-responses']
    expect(Object.keys(responses).sort()).toEqual(types.map(({ responseType }) => responseType).sort())
    for (const response of Object.values(responses)) {
      expect(response.statusCode).toMatch(/^[45]\d\d$/)
      expect(response.responseParameters).toMatchObject({
        'gatewayresponse.header.x-request-id': 'context.extendedRequestId',
        'gatewayresponse.header.strict-transport-security': "'max-age=63072000; includeSubDomains'",
        'gatewayresponse.header.x-content-type-options': "'nosniff'",
      })
      const templates = response.responseTemplates
      expect(Object.keys(templates)).toEqual(['application/json'])
      const { error, message, details } = JSON.parse(templates['application/json'] ?? '')
      expect(error).toMatch(/^[A-Z_]+$/)
      expect(message).toMatch(/^errors\.developer_api\.[a-z_]+$/)
      // Of a request such as `?search=%`, which no function sees.
      expect(details !== undefined).toBe(message.endsWith('.invalid_params'))
      expect(JSON.stringify(response)).not.toContain('context.error')
      // One response serves all endpoints, whose limits differ.
      expect(JSON.stringify(response)).not.toContain('ratelimit-policy')
    }
  })

  it('logs neither paths, queries, error texts nor requests', () => {
    const [stage] = Object.values(resourcesOf(dev, 'AWS::ApiGateway::Stage'))
    const { AccessLogSetting, MethodSettings } = (stage as Resource).Properties as unknown as {
      AccessLogSetting: { Format: string }
      MethodSettings: unknown[]
    }
    const used = Object.values(JSON.parse(AccessLogSetting.Format) as Record<string, string>)
    expect(used.sort()).toEqual([
      '$context.error.responseType',
      '$context.extendedRequestId',
      '$context.httpMethod',
      '$context.identity.sourceIp',
      '$context.integrationLatency',
      '$context.requestTime',
      '$context.resourcePath',
      '$context.responseLatency',
      '$context.stage',
      '$context.status',
    ])
    for (const settings of MethodSettings)
      expect(settings).toMatchObject({ LoggingLevel: 'OFF', DataTraceEnabled: false, MetricsEnabled: false })
  })

  it('limits each route, lists to half of the rate, public pages to a twentieth, and all else to a two-hundredth', () => {
    const [stage] = Object.values(resourcesOf(dev, 'AWS::ApiGateway::Stage'))
    const { MethodSettings } = (stage as Resource).Properties as unknown as { MethodSettings: object[] }
    const { rate, burst } = settingsOf('dev').throttle
    const limited = (HttpMethod: string, path: string, share: number) => ({
      HttpMethod,
      // The root's own path is a slash that is not encoded.
      ResourcePath: path === '/' ? path : `/${path.replaceAll('/', '~1')}`,
      ThrottlingRateLimit: rate * share,
      ThrottlingBurstLimit: burst * share,
    })
    const settings = [
      { ...limited('*', '', 0.005), ResourcePath: '/*' },
      ...ROUTES.map(({ id, method, path }) =>
        limited(method, `${BASE_PATH}${path}`, id.startsWith('list-') ? 0.5 : 1),
      ),
      ...REFERENCE_RESOURCES.flatMap((path) => ['GET', 'HEAD'].map((method) => limited(method, path, 0.05))),
    ]
    expect(MethodSettings).toEqual(settings.map((setting) => expect.objectContaining(setting)))
  })
})

describe('the functions', () => {
  it('have names that other stacks and people can derive', () => {
    for (const id of functionIds())
      expect(resourceOfFunction(dev, 'AWS::Lambda::Function', id).Properties.FunctionName).toBe(
        `clinic-dev-${id}`,
      )
  })

  it('use services besides the table in three endpoints only', () => {
    const services = ENDPOINTS.flatMap(({ id, uses }) => (uses?.services ? [[id, ...uses.services]] : []))
    expect(services).toEqual([
      ['send-message', 'sms', 'email-queue'],
      ['ping-webhook', 'delivery-queue'],
      ['redeliver', 'delivery-queue'],
    ])
  })

  it('name every partition that clinics share before they may touch it', () => {
    const keys = { ...calendarKeys, ...dueKeys, ...eventKeys, ...messageKeys, ...webhookKeys }
    const partitions = Object.entries(keys)
      .flatMap(([name, value]): unknown => (name === 'DUE_PARTITION_PREFIX' ? [] : value))
      .filter((value): value is string => typeof value === 'string' && /^(due|provider)#/.test(value))
    expect(partitions.length).toBeGreaterThan(15)
    const prefixes = Object.values(SHARED_PARTITION_PREFIXES)
    expect(partitions.filter((pk) => !prefixes.some((prefix) => pk.startsWith(prefix)))).toEqual([])
  })

  it('have only the environment that they need', () => {
    const { messaging } = settingsOf('dev')
    expect(environmentOf(dev, 'send-message')).toEqual({
      ...environmentOf(dev, 'get-patient'),
      SMS_SENDER_ID: messaging.smsSenderId,
      SMS_MAX_PRICE: messaging.smsMaxPrice,
      SMS_PER_DAY: String(messaging.smsPerDay),
      EMAILS_PER_DAY: String(messaging.emailsPerDay),
      MESSAGES_PER_RECIPIENT: String(messaging.messagesPerRecipient),
      SMS_COUNTRIES: messaging.smsCountries.join(','),
      EMAIL_QUEUE_URL: queueUrl('emails'),
    })
    expect(Object.keys(environmentOf(dev, 'get-patient')).sort()).toEqual([
      'CHECK_RESPONSES',
      'REQUESTS_PER_MINUTE',
      'STAGE',
      'TABLE_NAME',
    ])
    for (const id of ['ping-webhook', 'redeliver'])
      expect(environmentOf(dev, id)).toEqual({
        ...environmentOf(dev, 'get-patient'),
        DELIVERY_QUEUE_URL: queueUrl('deliveries'),
        SLOW_DELIVERY_QUEUE_URL: queueUrl('slow-deliveries'),
      })
    // Only the local runner sets the host on its machine that webhooks may go to.
    for (const id of ['create-webhook', 'update-webhook', 'fan-out-events', 'deliver-event'])
      expect(environmentOf(dev, id)).not.toHaveProperty('ALLOWED_WEBHOOK_HOST')
  })

  it.each(functionIds())('%s has no managed policy', (id) => {
    expect(resourceOfFunction(dev, 'AWS::IAM::Role', id).Properties).not.toHaveProperty('ManagedPolicyArns')
  })

  it('check responses and have a high rate limit in development only', () => {
    expect(environmentOf(dev, 'get-patient')).toMatchObject({ CHECK_RESPONSES: 'on' })
    expect(environmentOf(prod, 'get-patient')).toMatchObject({
      CHECK_RESPONSES: 'off',
      REQUESTS_PER_MINUTE: '300',
    })
  })
})

it.each(['dev', 'prod'])('the template of %s refers to nothing of the local runner', (stage) => {
  const text = JSON.stringify(stage === 'dev' ? dev.toJSON() : prod.toJSON())
  expect(text).not.toMatch(
    /AWS_ENDPOINT|127\.0\.0\.1|localhost|elasticmq|fauxqs|dynoxide|NODE_OPTIONS|ALLOWED_WEBHOOK_HOST|000000000000/i,
  )
})
