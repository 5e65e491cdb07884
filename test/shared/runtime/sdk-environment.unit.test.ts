import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SESv2Client } from '@aws-sdk/client-sesv2'
import { SNSClient } from '@aws-sdk/client-sns'
import { SQSClient } from '@aws-sdk/client-sqs'
import { RegionInfo } from 'aws-cdk-lib/region-info'
import { describe, expect, it, vi } from 'vitest'
import { REPLACED_FILES } from '../../../infra/functions/left-out.ts'
import { defaultProvider, endpointResolver, loadConfig } from '../../../shared/runtime/sdk-environment.ts'

const given = (values: Record<string, string | undefined>) => {
  const all = {
    AWS_ACCESS_KEY_ID: 'AKIA',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_SESSION_TOKEN: 'token',
    ...values,
  }
  for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value)
  return defaultProvider()()
}

it('returns the credentials of the environment', async () => {
  expect(await given({})).toEqual({ accessKeyId: 'AKIA', secretAccessKey: 'secret', sessionToken: 'token' })
  expect(await given({ AWS_SESSION_TOKEN: undefined })).toEqual({
    accessKeyId: 'AKIA',
    secretAccessKey: 'secret',
  })
})

it.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])('throws an error without %s', async (name) => {
  await expect(given({ [name]: undefined })).rejects.toThrow(`${name} is not set`)
})

it('returns a setting of the environment, or else its default', async () => {
  vi.stubEnv('AWS_REGION', 'eu-central-1')
  const setting = (name: string, fallback: string | (() => Promise<string>)) =>
    loadConfig({ environmentVariableSelector: (environment) => environment[name], default: fallback })()
  expect(await setting('AWS_REGION', 'us-east-1')).toBe('eu-central-1')
  expect(await setting('AWS_RETRY_MODE', 'standard')).toBe('standard')
  expect(await setting('AWS_RETRY_MODE', async () => 'legacy')).toBe('legacy')
})

describe('the endpoint of a service', () => {
  const regions = RegionInfo.regions.map(({ name }) => name)

  it.each([
    ['dynamodb', DynamoDBClient],
    ['sqs', SQSClient],
    ['sns', SNSClient],
    ['sesv2', SESv2Client],
  ] as const)('of %s is the client’s own in every region', (name, Client) => {
    const [, service = ''] =
      REPLACED_FILES[`@aws-sdk/client-${name}/dist-es/endpoint/endpointResolver.js`]?.match(
        /endpointResolver\('(\w+)'\)/,
      ) ?? []
    const resolve = endpointResolver(service)
    const own = new Client({ region: 'us-east-1' }).config.endpointProvider
    const usual = { UseFIPS: false, UseDualStack: false }
    expect(regions.length).toBeGreaterThan(30)
    for (const Region of regions)
      expect(resolve({ Region, ...usual }).url, Region).toEqual(own({ Region, ...usual }).url)
    const Endpoint = 'http://127.0.0.1:8000'
    const custom = { Region: 'eu-central-1', Endpoint, ...usual }
    expect(resolve(custom).url).toEqual(own(custom).url)
  })

  it.each(['UseFIPS', 'UseDualStack'])('is not resolved with %s', (setting) => {
    expect(() => endpointResolver('dynamodb')({ Region: 'us-east-1', [setting]: true })).toThrow('left out')
  })
})
