import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import { expect, inject, it, onTestFinished } from 'vitest'
import { ENGINE_ACCESS } from '../../support/engine-access.ts'
import { DOCTORS, deployment, loggedEvents, loggingVersion, METHODS, version } from './deployed-versions.ts'

const odd = (Type: string, Properties: Record<string, unknown> = {}, id = 'Odd') => ({
  [id]: { Type, Properties },
})

it('replaces functions that have changed and keeps the others warm', async () => {
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

it('keeps the files of the previous version and removes files of older ones', async () => {
  const { deploy, close } = deployment()
  const versions = ['v1', 'v2', 'v3'].map((name) => version(name))
  for (const each of versions) await deploy(each)
  expect(versions.map(({ disposed }) => disposed)).toEqual([1, 0, 0])
  await close()
  expect(versions.map(({ disposed }) => disposed)).toEqual([1, 1, 1])
})

it.each([
  ['another event source', odd('AWS::Lambda::EventSourceMapping', { EventSourceArn: 'arn:aws:kinesis:x' })],
  ['an unsupported gateway response', odd('AWS::ApiGateway::GatewayResponse')],
])('keeps the running version when the next one has %s', async (_what, more) => {
  const { deploy, call } = deployment()
  const first = await deploy(version('v1'))
  const broken = version('v2', METHODS, more)
  await expect(deploy(broken)).rejects.toThrow(/Odd (maps|is not in the document)/)
  expect(broken.disposed).toBe(1)
  expect(await call(first, '/patients')).toEqual({ version: 'v1', calls: 1 })
})

it('stops functions that the next version does not have', async () => {
  const { deploy, call } = deployment()
  const first = await deploy(version('v1'))
  const second = await deploy(version('v2', ['GET /patients']))
  expect(await call(second, '/patients')).toMatchObject({ version: 'v2' })
  await expect(call(first, '/doctors')).rejects.toThrow(/not a function of the stack/)
})

it('replaces the address of the API in outputs with the local one', async () => {
  const { deploy, outputs } = deployment()
  const assembly = version('v1')
  const parts = ['https://', { Ref: 'Api' }, '.execute-api.us-east-1.amazonaws.com/', { Ref: 'Stage' }, '/']
  const Value = { 'Fn::Join': ['', parts] }
  const Resources = {
    ...assembly.template.Resources,
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'Test-Stage' } },
  }
  await deploy({ ...assembly, template: { Resources, Outputs: { Url: { Value } } } })
  expect(outputs()).toEqual({ Url: 'http://127.0.0.1:3000/Test-Stage/' })
})

it.each([
  ['two APIs', { Other: { Type: 'AWS::ApiGateway::RestApi' } }, /2 REST APIs/],
  [
    'binary media types',
    odd('AWS::ApiGateway::RestApi', { BinaryMediaTypes: ['*/*'] }, 'Api'),
    /Api has BinaryMediaTypes/,
  ],
  ['a method without its function', odd('Custom::Odd', { ServiceToken: DOCTORS }), /GET \/doctors calls/],
  [
    'a rule that calls a function outside the stack',
    odd('AWS::Events::Rule', {
      ScheduleExpression: 'rate(1 minute)',
      Targets: [{ Id: 'a', Arn: 'arn:aws:lambda:x:0:function:f' }],
    }),
    /Odd calls arn:aws:lambda:x:0:function:f, which is not a function of the stack/,
  ],
])('rejects a template with %s', async (_what, more, message) => {
  const { deploy } = deployment()
  await expect(deploy(version('v1', METHODS, more))).rejects.toThrow(message)
})

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

it('starts a stream after the seed, and continues it over deployments', async () => {
  const endpoint = inject('dynamodb')
  const client = new DynamoDBClient({ ...ENGINE_ACCESS, endpoint })
  onTestFinished(() => client.destroy())
  const put = (pk: string) => client.send(new PutItemCommand({ TableName: TABLE, Item: { pk: { S: pk } } }))
  const { deploy, lines, close } = deployment(endpoint)
  const seen = () =>
    loggedEvents(lines).flatMap(({ Records }) =>
      Records.map(({ dynamodb }: DynamoDBRecord) => dynamodb?.Keys?.pk?.S),
    )

  await deploy(loggingVersion(streamed()), () => put('seed'))
  await put('1')
  await expect.poll(seen).toEqual(['1'])
  await deploy(loggingVersion(streamed()))
  await put('2')
  await deploy(loggingVersion(streamed({ BatchSize: 5 })))
  await put('3')
  await expect.poll(seen).toEqual(['1', '2', '3'])
  await close()
  expect(seen()).toEqual(['1', '2', '3'])
})
