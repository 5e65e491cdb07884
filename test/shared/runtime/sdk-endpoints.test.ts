import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import { RegionInfo } from 'aws-cdk-lib/region-info'
import { expect, it } from 'vitest'
import { SERVICES } from '../../../infra/functions/left-out.ts'
import { endpointResolver } from '../../../shared/runtime/sdk-environment.ts'

const regions = RegionInfo.regions.map(({ name }) => name)

it.each([
  ['dynamodb', DynamoDBClient],
  ['sqs', SQSClient],
  ['sns', SNSClient],
  ['sesv2', SESv2Client],
] as const)('resolves the endpoint of %s as its client does, in every region', (name, Client) => {
  const resolve = endpointResolver(SERVICES[name])
  const own = new Client({ region: 'us-east-1' }).config.endpointProvider
  const usual = { UseFIPS: false, UseDualStack: false }
  expect(regions.length).toBeGreaterThan(30)
  for (const Region of regions)
    expect(resolve({ Region, ...usual }).url, Region).toEqual(own({ Region, ...usual }).url)
  const Endpoint = 'http://127.0.0.1:8000'
  const custom = { Region: 'eu-central-1', Endpoint, ...usual }
  expect(resolve(custom).url).toEqual(own(custom).url)
})

it.each(['UseFIPS', 'UseDualStack'])('rejects %s', (setting) => {
  expect(() => endpointResolver('dynamodb')({ Region: 'us-east-1', [setting]: true })).toThrow('left out')
})
