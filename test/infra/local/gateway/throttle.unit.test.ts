import { expect, it } from 'vitest'
import { routesOf } from '../../../../infra/local/gateway/routes.ts'
import { throttleOf } from '../../../../infra/local/gateway/throttle.ts'
import { restApi } from './rest-api.ts'

const setting = (path: string, method: string, rate: number, burst: number) => ({
  ResourcePath: path,
  HttpMethod: method,
  ThrottlingRateLimit: rate,
  ThrottlingBurstLimit: burst,
})

function stage(...MethodSettings: object[]) {
  const template = restApi(['GET /patients', 'ANY /doctors/{id}'], {
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'test', MethodSettings } },
  })
  let now = 0
  const throttle = throttleOf(template, () => now)
  const routes = routesOf(template)
  return {
    advance: (ms: number) => {
      now += ms
    },
    call: (resource: string, method: string) => {
      const route = routes.find((known) => known.resource === resource)
      return route ? throttle(route, method) : undefined
    },
  }
}

it('allows a burst, and then the rate', () => {
  const { advance, call } = stage(setting('/*', '*', 10, 2))
  const calls = () => [call('/patients', 'GET'), call('/patients', 'GET'), call('/patients', 'GET')]
  expect(calls()).toEqual([true, true, false])
  advance(100)
  expect(calls()).toEqual([true, false, false])
  advance(60_000)
  expect(calls()).toEqual([true, true, false])
})

it('limits each method separately, also those of ANY, to which a setting for ANY does not apply', () => {
  const { call } = stage(setting('/*', '*', 1, 1), setting('/~1doctors~1{id}', 'ANY', 1, 2))
  expect(call('/patients', 'GET')).toBe(true)
  expect(call('/doctors/{id}', 'GET')).toBe(true)
  expect(call('/doctors/{id}', 'DELETE')).toBe(true)
  expect(call('/doctors/{id}', 'GET')).toBe(false)
})

it('prefers the setting of a method to the stage’s', () => {
  const { call } = stage(setting('/*', '*', 1, 1), setting('/~1doctors~1{id}', '*', 1, 2))
  expect([call('/doctors/{id}', 'GET'), call('/doctors/{id}', 'GET'), call('/doctors/{id}', 'GET')]).toEqual([
    true,
    true,
    false,
  ])
})

it('limits one method of a resource as the template of the stack does', () => {
  const { call } = stage(setting('/*', '*', 1, 2), setting('/~1patients', 'GET', 1, 1))
  expect([call('/patients', 'GET'), call('/patients', 'GET')]).toEqual([true, false])
  expect([call('/doctors/{id}', 'GET'), call('/doctors/{id}', 'GET')]).toEqual([true, true])
})

it('allows everything without a setting', () => {
  const { call } = stage()
  expect(Array.from({ length: 50 }, () => call('/patients', 'GET'))).not.toContain(false)
})
