import { expect, it } from 'vitest'
import { domainsOf } from '../../../infra/local/plan.ts'
import { restApi } from './gateway/rest-api.ts'

const NAME = { Type: 'AWS::ApiGateway::DomainName', Properties: { DomainName: 'api.clinic.example' } }
const mapping = (properties: object = {}) => ({
  Type: 'AWS::ApiGateway::BasePathMapping',
  Properties: { DomainName: { Ref: 'Name' }, ...properties },
})

it('reads the domains that are mapped to the API', () => {
  expect(domainsOf(restApi([]))).toEqual([])
  expect(domainsOf(restApi([], { Name: NAME }))).toEqual([])
  expect(domainsOf(restApi([], { Name: NAME, Mapping: mapping() }))).toEqual(['api.clinic.example'])
})

it('rejects a base path', () => {
  expect(() => domainsOf(restApi([], { Name: NAME, Mapping: mapping({ BasePath: 'v1' }) }))).toThrow(
    /Mapping has the BasePath v1/,
  )
})
