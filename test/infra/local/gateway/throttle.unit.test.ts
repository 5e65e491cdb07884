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

it('prefers the setting of a method, or of all methods of a resource, to the stage’s', () => {
  const doctors = setting('/~1doctors~1{id}', '*', 1, 2)
  const { call } = stage(setting('/*', '*', 1, 1), setting('/~1patients', 'GET', 1, 2), doctors)
  const calls = (path: string) => [call(path, 'GET'), call(path, 'GET'), call(path, 'GET')]
  expect([calls('/patients'), calls('/doctors/{id}')]).toEqual(Array(2).fill([true, true, false]))
})

it('allows everything without a setting', () => {
  const { call } = stage()
  expect(Array.from({ length: 50 }, () => call('/patients', 'GET'))).not.toContain(false)
})
