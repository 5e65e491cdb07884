// biome-ignore-all lint/suspicious/noTemplateCurlyInString: Fn::Sub writes its placeholders so.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { deployLocally } from '../../../infra/local/deployment.ts'
import { emailEventFactory } from '../../../infra/local/providers/email-events.ts'
import type { FeedbackListener } from '../../../infra/local/providers/feedback.ts'
import { createReceipt } from '../../../infra/local/providers/sms-receipts.ts'
import type { EmailEventType, SmsScenario } from '../../../infra/local/providers/test-recipients.ts'
import type { Template, TemplateResource } from '../../../infra/local/template/template.ts'
import { restApiTemplate } from './gateway/rest-api.ts'

const METHODS = ['GET /patients', 'GET /doctors']

/** A synthesized version whose functions tell their version and how often they were called. */
function version(name: string, methods = METHODS, more: Record<string, TemplateResource> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'version-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const source = `let calls = 0; exports.handler = async () => ({ version: '${name}', calls: ++calls })`
  writeFileSync(join(directory, 'index.js'), source)
  const assembly = {
    stackName: 'Test',
    template: restApiTemplate(methods, more, name),
    otherStacks: [] as { stackName: string; template: Template }[],
    assetDirectory: () => directory,
    disposed: 0,
    dispose: async () => {
      assembly.disposed += 1
    },
  }
  return assembly
}

function deployment(dynamodb = 'http://127.0.0.1:1', tableSuffix = '') {
  const lines: string[] = []
  const listeners: FeedbackListener[] = []
  const deployed = deployLocally({
    region: 'us-east-1',
    stage: 'test',
    baseUrl: 'http://127.0.0.1:3000',
    endpoints: {
      dynamodb,
      sqs: 'http://127.0.0.1:2',
      sns: 'http://127.0.0.1:3',
      sesv2: 'http://127.0.0.1:4',
    },
    providers: {
      inboxUrl: 'http://127.0.0.1:5/',
      sms: () => [],
      emails: async () => [],
      setListener: (listener) => void listeners.push(listener),
    },
    tableSuffix,
    environment: {},
    log: (line) => lines.push(line),
  })
  onTestFinished(() => deployed.close())
  const call = async (serving: Awaited<ReturnType<typeof deployed.deploy>>, resource: string) => {
    const route = serving.api.routes.find((known) => known.resource === resource)
    const outcome = await serving.api.invoke(route?.methods.get('GET')?.functionArn ?? '', '{}', '')
    return outcome.ok ? JSON.parse(outcome.payload) : outcome.error
  }
  return { ...deployed, call, lines, listener: () => listeners.at(-1) as FeedbackListener }
}

it('takes over new code, and leaves functions that have not changed as they are', async () => {
  const { deploy, call } = deployment()
  const first = await deploy(version('v1'))
  await Promise.all([call(first, '/patients'), call(first, '/doctors')])

  const changed = version('v2')
  const doctors = 'GETPathxdoctorsFunction'
  const Resources = { ...changed.template.Resources, [doctors]: version('v1').template.Resources[doctors] }
  const second = await deploy({ ...changed, template: { Resources } as typeof changed.template })
  expect(await call(second, '/patients')).toEqual({ version: 'v2', calls: 1 })
  expect(await call(second, '/doctors')).toEqual({ version: 'v1', calls: 2 })
})

it('keeps the files of the version before, and those of no older one', async () => {
  const { deploy, close } = deployment()
  const versions = ['v1', 'v2', 'v3'].map((name) => version(name))
  for (const each of versions) await deploy(each)
  expect(versions.map(({ disposed }) => disposed)).toEqual([1, 0, 0])
  await close()
  expect(versions.map(({ disposed }) => disposed)).toEqual([1, 1, 1])
})

it.each([
  [
    'an event source it does not have',
    { Odd: { Type: 'AWS::Lambda::EventSourceMapping', Properties: { EventSourceArn: 'arn:aws:kinesis:x' } } },
  ],
  [
    'a gateway response it cannot render',
    {
      Odd: {
        Type: 'AWS::ApiGateway::GatewayResponse',
        Properties: { ResponseParameters: { 'gatewayresponse.header.x': 'odd' } },
      },
    },
  ],
])('leaves the running version alone when the next one has %s', async (_what, more) => {
  const { deploy, call } = deployment()
  const first = await deploy(version('v1'))
  const broken = version('v2', METHODS, more)
  await expect(deploy(broken)).rejects.toThrow(/Odd maps/)
  expect(broken.disposed).toBe(1)
  expect(await call(first, '/patients')).toEqual({ version: 'v1', calls: 1 })
})

it('ends a function that the next version does not have', async () => {
  const { deploy, call } = deployment()
  const first = await deploy(version('v1'))
  const second = await deploy(version('v2', ['GET /patients']))
  expect(await call(second, '/patients')).toMatchObject({ version: 'v2' })
  await expect(call(first, '/doctors')).rejects.toThrow(/no function of the stack/)
})

it('gives outputs the address that the API has here', async () => {
  const { deploy, outputs } = deployment()
  const assembly = version('v1')
  const parts = ['https://', { Ref: 'Api' }, '.execute-api.us-east-1.amazonaws.com/', { Ref: 'Stage' }, '/']
  const Value = { 'Fn::Join': ['', parts] }
  const Resources = {
    ...assembly.template.Resources,
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'Test-Stage' } },
  }
  await deploy({ ...assembly, template: { Resources, Outputs: { Url: { Value } } } })
  expect(outputs()).toEqual({ Url: 'http://127.0.0.1:3000/' })
})

it.each([
  ['two APIs', { Other: { Type: 'AWS::ApiGateway::RestApi' } }, /2 REST APIs/],
  [
    'binary media types',
    { Api: { Type: 'AWS::ApiGateway::RestApi', Properties: { BinaryMediaTypes: ['*/*'] } } },
    /Api has BinaryMediaTypes/,
  ],
  [
    'a method without its function',
    { GETPathxdoctorsFunction: { Type: 'AWS::Lambda::Function', Condition: 'Never' } },
    /GET \/doctors calls/,
  ],
])('refuses a template with %s', async (_what, more, message) => {
  const { deploy } = deployment()
  const odd = version('v1', METHODS, more)
  const Conditions = { Never: { 'Fn::Equals': [1, 2] } }
  await expect(deploy({ ...odd, template: { ...odd.template, Conditions } })).rejects.toThrow(message)
})

it('points functions at the providers', async () => {
  const { deploy, call } = deployment()
  const assembly = version('v1')
  const source = `exports.handler = async () =>
    [process.env.AWS_ENDPOINT_URL_SNS, process.env.AWS_ENDPOINT_URL_SESV2]`
  writeFileSync(join(assembly.assetDirectory(), 'index.js'), source)
  const serving = await deploy(assembly)
  expect(await call(serving, '/patients')).toEqual(['http://127.0.0.1:3', 'http://127.0.0.1:4'])
})

/** A function that says what it is called with: its lines go to the log. */
const TELLING = `exports.handler = async (event) => {
  const { data } = event.awslogs ?? {}
  const logs = data && JSON.parse(require('node:zlib').gunzipSync(Buffer.from(data, 'base64')))
  console.log('called with ' + JSON.stringify(logs ?? event))
}`

function telling(
  more: Record<string, TemplateResource>,
  otherStacks: Template[] = [],
  rest: Partial<Template> = {},
) {
  const assembly = version('v1', METHODS, more)
  writeFileSync(join(assembly.assetDirectory(), 'index.js'), TELLING)
  assembly.template = { ...assembly.template, ...rest }
  assembly.otherStacks = otherStacks.map((template, at) => ({ stackName: `Other-${at}`, template }))
  return assembly
}

const calls = (lines: readonly string[]) =>
  lines.map((line) => JSON.parse(/called with (.*)$/.exec(line)?.[1] ?? JSON.stringify(line)))

const DOCTORS = { 'Fn::GetAtt': ['GETPathxdoctorsFunction', 'Arn'] }
const DEFAULT_BUS = { 'Fn::Sub': 'arn:aws:events:us-east-1:${AWS::AccountId}:event-bus/default' }

describe('email events', () => {
  const resources = (EventDestination: object) => ({
    Mail: { Type: 'AWS::SES::ConfigurationSet', Properties: { Name: 'clinic-mail' } },
    Events: {
      Type: 'AWS::SES::ConfigurationSetEventDestination',
      Properties: { ConfigurationSetName: { Ref: 'Mail' }, EventDestination: { ...EventDestination } },
    },
    Rule: {
      Type: 'AWS::Events::Rule',
      Properties: {
        EventPattern: { source: ['aws.ses'] },
        Targets: [{ Id: 'a', Arn: DOCTORS, InputPath: '$.detail.eventType' }],
      },
    },
  })
  const BUS = { EventBusArn: DEFAULT_BUS }

  async function publish(EventDestination: object, ConfigurationSetName?: string) {
    const { deploy, listener, lines } = deployment()
    await deploy(telling(resources(EventDestination)))
    const fate = { eventTypes: [] }
    const eventOf = emailEventFactory(
      { ...(ConfigurationSetName && { ConfigurationSetName }) },
      'ses-1',
      fate,
      'x',
    )
    for (const occurrence of ['Send', 'Delivery', 'Bounce', 'Complaint'] as EmailEventType[])
      await listener().email(eventOf(occurrence))
    return calls(lines)
  }

  it.each([
    ['of the types it publishes', { MatchingEventTypes: ['SEND', 'BOUNCE'] }, ['Send', 'Bounce']],
    ['in the words of the CDK', { MatchingEventTypes: ['delivery', 'complaint'] }, ['Delivery', 'Complaint']],
    ['unless it is switched off', { MatchingEventTypes: ['SEND'], Enabled: false }, []],
  ])('go where the configuration set sends them, %s', async (_what, destination, expected) => {
    expect(await publish({ ...destination, EventBridgeDestination: BUS }, 'clinic-mail')).toEqual(expected)
  })

  it('go nowhere without a configuration set, with another one, or from one with another destination', async () => {
    const destination = { MatchingEventTypes: ['SEND'], EventBridgeDestination: BUS }
    expect(await publish(destination)).toEqual([])
    expect(await publish(destination, 'other')).toEqual([])
    expect(await publish({ MatchingEventTypes: ['SEND'], SnsDestination: {} }, 'clinic-mail')).toEqual([])
  })

  it('cannot go to another bus', async () => {
    const EventBridgeDestination = { EventBusArn: 'arn:aws:events:x:0:event-bus/mine' }
    await expect(publish({ MatchingEventTypes: ['SEND'], EventBridgeDestination })).rejects.toThrow(
      /Events publishes to .*event-bus\/mine; SES takes the default bus only/,
    )
  })

  it('can be put on the bus by hand', async () => {
    const { deploy, lines } = deployment()
    const { page } = await deploy(telling(resources({ MatchingEventTypes: [] })))
    const body = JSON.stringify({ source: 'aws.ses', 'detail-type': 'x', detail: { eventType: 'Open' } })
    const answer = await page({
      method: 'POST',
      target: '/_local/events',
      rawHeaders: [],
      body: Buffer.from(body),
    })
    expect(JSON.parse(answer?.body ?? '')).toEqual({ matched: ['Rule'] })
    expect(calls(lines)).toEqual(['Open'])
  })
})

describe('delivery receipts', () => {
  const GROUP = 'sns/us-east-1/000000000000/DirectPublishToPhoneNumber'
  const filter = (LogGroupName: unknown, more: object = {}): TemplateResource => ({
    Type: 'AWS::Logs::SubscriptionFilter',
    Properties: {
      LogGroupName,
      FilterPattern: '',
      DestinationArn: { 'Fn::ImportValue': 'Test:Doctors' },
      ...more,
    },
  })
  const Outputs = { Doctors: { Value: DOCTORS, Export: { Name: 'Test:Doctors' } } }
  const Sub = 'sns/${AWS::Region}/${AWS::AccountId}/DirectPublishToPhoneNumber/Failure'
  const RECEIPTS: Template = {
    Resources: {
      Success: filter(GROUP, { FilterName: 'success' }),
      Failure: filter({ 'Fn::Sub': Sub }),
      Settings: { Type: 'Custom::AWS', Properties: { anything: { 'Fn::Transform': 1 } } },
      Provider: { Type: 'AWS::Lambda::Function', Properties: { Code: { ZipFile: 'x' } } },
    },
  }
  const sms = {
    message_id: 'sms-1',
    to: '+12015550199',
    message: 'x',
    sender_id: null,
    max_price: null,
    type: 'Transactional',
    at: '2026-01-02T03:04:05.678Z',
  }

  async function write(receipt: SmsScenario['receipt'], otherStacks: Template[]) {
    const { deploy, listener, lines } = deployment()
    await deploy(telling({}, otherStacks, { Outputs }))
    await listener().sms(createReceipt(sms, { receipt }))
    return calls(lines)
  }

  it.each([
    ['SUCCESS', GROUP, 'success'],
    ['FAILURE', `${GROUP}/Failure`, 'Failure'],
  ] as const)('of %s go to whoever reads %s', async (status, logGroup, filterName) => {
    const written = await write(status, [RECEIPTS])
    expect(written).toEqual([
      {
        messageType: 'DATA_MESSAGE',
        owner: '000000000000',
        logGroup,
        logStream: expect.any(String),
        subscriptionFilters: [filterName],
        logEvents: [
          {
            id: expect.stringMatching(/^\d{56}$/),
            timestamp: expect.any(Number),
            message: expect.stringContaining(`"status":"${status}"`),
          },
        ],
      },
    ])
    expect(JSON.parse(written[0].logEvents[0].message)).toMatchObject({
      notification: { messageId: 'sms-1', timestamp: '2026-01-02 03:04:05.678' },
      delivery: { destination: '+12015550199', smsType: 'Transactional' },
    })
  })

  it('go nowhere when nobody reads them', async () => {
    expect(await write('SUCCESS', [])).toEqual([])
    expect(await write('FAILURE', [{ Resources: { Success: filter(GROUP) } }])).toEqual([])
  })

  it.each([
    ['filters', { FilterPattern: '{ $.status = "FAILURE" }' }, /Odd has a FilterPattern/],
    [
      'has no function',
      { DestinationArn: 'arn:aws:lambda:x:0:function:f' },
      /Odd calls .*no function of the stack/,
    ],
    ['imports nothing', { DestinationArn: { 'Fn::ImportValue': 'x' } }, /Odd imports x/],
  ])('are refused a reader that %s', async (_what, more, message) => {
    await expect(write('SUCCESS', [{ Resources: { Odd: filter(GROUP, more) } }])).rejects.toThrow(message)
  })
})

it('refuses a rule that calls no function of the stack', async () => {
  const Targets = [{ Id: 'a', Arn: 'arn:aws:lambda:x:0:function:f' }]
  const Rule = {
    Type: 'AWS::Events::Rule',
    Properties: { ScheduleExpression: 'rate(1 minute)', Targets },
  }
  const { deploy } = deployment()
  await expect(deploy(version('v1', METHODS, { Rule }))).rejects.toThrow(
    /Rule calls arn:aws:lambda:x:0:function:f, which is no function of the stack/,
  )
})

describe('a stream', () => {
  const TABLE = 'deployed-stream'
  const streamed = (mapping: object = {}) => ({
    Table: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        TableName: TABLE,
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        BillingMode: 'PAY_PER_REQUEST',
        StreamSpecification: { StreamViewType: 'KEYS_ONLY' },
      },
    },
    Mapping: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        EventSourceArn: { 'Fn::GetAtt': ['Table', 'StreamArn'] },
        FunctionName: DOCTORS,
        ...mapping,
      },
    },
  })

  it('is read from a table whose name ends with the suffix of the stack', async () => {
    const { deploy, outputs } = deployment(inject('dynamodb'), '-stack-1')
    const assembly = version('v1', METHODS, streamed())
    const Outputs = { Table: { Value: { Ref: 'Table' } } }
    await deploy({ ...assembly, template: { ...assembly.template, Outputs } })
    expect(outputs()).toEqual({ Table: `${TABLE}-stack-1` })
  })

  it('begins after the seed, with functions and tables at hand, and goes on over deployments', async () => {
    const endpoint = inject('dynamodb')
    const credentials = { accessKeyId: 'test', secretAccessKey: 'test' }
    const client = new DynamoDBClient({ endpoint, region: 'us-east-1', credentials })
    onTestFinished(() => client.destroy())
    const put = (pk: string) => client.send(new PutItemCommand({ TableName: TABLE, Item: { pk: { S: pk } } }))
    const { deploy, lines, close } = deployment(endpoint)
    const seen = () =>
      calls(lines).flatMap(({ Records }) =>
        Records.map(({ dynamodb }: DynamoDBRecord) => dynamodb?.Keys?.pk?.S),
      )

    await deploy(telling(streamed()), async () => void (await put('seed')))
    await put('1')
    await expect.poll(seen).toEqual(['1'])
    await deploy(telling(streamed()))
    await put('2')
    await deploy(telling(streamed({ BatchSize: 5 })))
    await put('3')
    await expect.poll(seen).toEqual(['1', '2', '3'])
    await close()
    expect(seen()).toEqual(['1', '2', '3'])
  })

  it('cannot call a function that is not there', async () => {
    const FunctionName = 'arn:aws:lambda:x:0:function:f'
    const { deploy } = deployment(inject('dynamodb'))
    await expect(deploy(telling(streamed({ FunctionName })))).rejects.toThrow(
      /Mapping calls .*function:f, which is no function of the stack/,
    )
  })
})
