import { DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { DynamoDBRecord } from 'aws-lambda'
import { expect, inject, it, onTestFinished } from 'vitest'
import { ENGINE_ACCESS } from '../../support/engine-access.ts'
import { DOCTORS, deployed, loggedEvents, loggingVersion, METHODS, version } from './deployed-versions.ts'

const odd = (Type: string, Properties: Record<string, unknown> = {}, id = 'Odd') => ({
  [id]: { Type, Properties },
})

it('replaces the address of the API in outputs with the local one', async () => {
  const assembly = version('v1')
  const parts = ['https://', { Ref: 'Api' }, '.execute-api.us-east-1.amazonaws.com/', { Ref: 'Stage' }, '/']
  const Value = { 'Fn::Join': ['', parts] }
  const Resources = {
    ...assembly.template.Resources,
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'Test-Stage' } },
  }
  const { outputs } = await deployed({ ...assembly, template: { Resources, Outputs: { Url: { Value } } } })
  expect(outputs).toEqual({ Url: 'http://127.0.0.1:3000/Test-Stage/' })
})

it.each([
  [
    'another event source',
    odd('AWS::Lambda::EventSourceMapping', { EventSourceArn: 'arn:aws:kinesis:x' }),
    /Odd maps/,
  ],
  ['an unsupported gateway response', odd('AWS::ApiGateway::GatewayResponse'), /Odd is not in the document/],
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
  await expect(deployed(version('v1', METHODS, more))).rejects.toThrow(message)
})

const TABLE = 'deployed-stream'
const STREAMED = {
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
    },
  },
}

it('starts a stream after the seed', async () => {
  const dynamodb = inject('dynamodb')
  const client = new DynamoDBClient({ ...ENGINE_ACCESS, endpoint: dynamodb })
  onTestFinished(() => client.destroy())
  const put = (pk: string) => client.send(new PutItemCommand({ TableName: TABLE, Item: { pk: { S: pk } } }))
  const { lines, close } = await deployed(loggingVersion(STREAMED), { dynamodb, seed: () => put('seed') })
  const seen = () =>
    loggedEvents(lines).flatMap(({ Records }) =>
      Records.map(({ dynamodb }: DynamoDBRecord) => dynamodb?.Keys?.pk?.S),
    )
  await put('1')
  await expect.poll(seen).toEqual(['1'])
  await close()
  await put('2')
  expect(seen()).toEqual(['1'])
})
