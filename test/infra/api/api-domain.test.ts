import { describe, expect, it } from 'vitest'
import { stackName } from '../../../infra/settings/names.ts'
import { type StackTemplate, settingsOf, templatesOf } from '../../support/template.ts'

const DOMAIN = {
  domain: 'api.praxis-nord.de',
  certificateArn: 'arn:aws:acm:eu-central-1:111122223333:certificate/0-1',
}
const ZONE = { hostedZoneId: 'Z0', hostedZoneName: 'praxis-nord.de' }

const apiStack = (stage: string, settings = {}): StackTemplate =>
  templatesOf(stage, settings)[stackName(stage)] as StackTemplate
const propertiesOf = ({ Resources }: StackTemplate, type: string) =>
  Object.values(Resources)
    .filter(({ Type }) => Type === type)
    .map(({ Properties }) => Properties as Record<string, unknown>)

describe('with a domain, the API', () => {
  const template = apiStack('prod', { ...DOMAIN, ...ZONE })

  it('responds there, at the root, over TLS 1.2 or later', () => {
    expect(propertiesOf(template, 'AWS::ApiGateway::DomainName')).toEqual([
      expect.objectContaining({
        DomainName: DOMAIN.domain,
        RegionalCertificateArn: DOMAIN.certificateArn,
        SecurityPolicy: 'TLS_1_2',
        EndpointConfiguration: { Types: ['REGIONAL'] },
      }),
    ])
    const [mapping] = propertiesOf(template, 'AWS::ApiGateway::BasePathMapping')
    expect(mapping).toMatchObject({ Stage: expect.anything() })
    expect(mapping).not.toHaveProperty('BasePath')
  })

  it('does not respond at the address of API Gateway', () => {
    const [rest] = propertiesOf(template, 'AWS::ApiGateway::RestApi')
    expect(rest).toMatchObject({
      DisableExecuteApiEndpoint: true,
      // An import of the document would reset the property.
      Body: { 'x-amazon-apigateway-endpoint-configuration': { disableExecuteApiEndpoint: true } },
    })
    expect(JSON.stringify(template.Outputs)).not.toContain('execute-api')
  })

  it('has its address and the target of its record in the outputs', () => {
    expect(template.Outputs?.BaseUrl?.Value).toBe('https://api.praxis-nord.de')
    expect(template.Outputs?.DomainTarget?.Value).toEqual({
      'Fn::GetAtt': [expect.any(String), 'RegionalDomainName'],
    })
  })

  it('has a record if the zone is in Route 53', () => {
    expect(propertiesOf(template, 'AWS::Route53::RecordSet')).toEqual([
      expect.objectContaining({ Name: 'api.praxis-nord.de.', Type: 'A', HostedZoneId: 'Z0' }),
    ])
    expect(propertiesOf(apiStack('prod', DOMAIN), 'AWS::Route53::RecordSet')).toEqual([])
  })
})

it('without a domain, the API responds at the address of API Gateway, which is for trials in production', () => {
  const [dev, prod] = [apiStack('dev'), apiStack('prod')]
  for (const template of [dev, prod]) {
    expect(propertiesOf(template, 'AWS::ApiGateway::RestApi')[0]).toMatchObject({
      DisableExecuteApiEndpoint: false,
      Body: { 'x-amazon-apigateway-endpoint-configuration': { disableExecuteApiEndpoint: false } },
    })
    expect(JSON.stringify(template.Outputs?.BaseUrl)).toContain('.execute-api.')
  }
  expect(dev.Outputs).not.toHaveProperty('BaseUrlNotice')
  expect(prod.Outputs?.BaseUrlNotice?.Value).toContain('For trials only')
})

it.each([
  [{ domain: 'api.praxis-nord.de' }, /- domain and certificateArn must be set together/],
  [{ certificateArn: DOMAIN.certificateArn }, /- domain and certificateArn must be set together/],
  [{ ...DOMAIN, domain: 'localhost' }, /- domain is not a domain name/],
  [{ ...DOMAIN, domain: 'https://api.praxis-nord.de' }, /- domain is not a domain name/],
  [{ ...DOMAIN, certificateArn: 'arn:aws:iam::1:x' }, /- certificateArn is not the ARN/],
  [{ ...DOMAIN, hostedZoneId: 'Z0' }, /- hostedZoneId and hostedZoneName must be set together/],
  [{ ...DOMAIN, ...ZONE, hostedZoneName: 'other.de' }, /- domain must be in the hosted zone/],
  [ZONE, /- hostedZoneId and hostedZoneName need a domain/],
])('the domain is not %j', (settings, message) => {
  expect(() => settingsOf('prod', settings)).toThrow(message)
})
