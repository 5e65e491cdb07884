/** docs/errors.json contains exactly the errors that the API can return. */
import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { GATEWAY_RESPONSES } from '../../../infra/api/gateway-responses.ts'
import { unmatchedIntegration } from '../../../infra/api/unmatched.ts'
import { ERROR_KEYS } from '../../../shared/api/error-catalogue.ts'
import { errorBody } from '../../../shared/api/errors.ts'
import { errorsOf } from '../../../shared/api/route.ts'
import { ROUTES } from '../../../shared/api/routes.ts'
import { publishedErrors } from '../../../shared/openapi/published-errors.ts'

/** The first argument of `new ApiError(` in the sources: a key, or a choice of two. */
const THROWN = /new ApiError\(([^,{]*?)[,)]/g

/** Keys that `reply` assigns to other errors. */
const RENDERED = /\bkey: [^,]*/g

const keysIn = (text: string): string[] => [...text.matchAll(/'(\w+)'/g)].map(([, key]) => key ?? '')

function sentBySources(): string[] {
  return globSync('{functions,shared/{api,http,requests,runtime}}/**/*.ts').flatMap((file) => {
    const source = readFileSync(file, 'utf8')
    const thrown = [...source.matchAll(THROWN)].map(([, argument = '']) => argument)
    const rendered = file === 'shared/http/reply.ts' ? [...source.matchAll(RENDERED)].map(([all]) => all) : []
    // An argument without a literal is the error of a path parameter, which the route declares.
    return [...thrown, ...rendered].flatMap((argument) => keysIn(argument.replace(/^.*\?/s, '')))
  })
}

const sentByGateway = (): string[] =>
  [...Object.values(GATEWAY_RESPONSES), ...unmatchedResponses()].flatMap((response) =>
    Object.values((response as { responseTemplates: Record<string, string> }).responseTemplates).map(
      (template) => JSON.parse(template).message.replace('errors.developer_api.', ''),
    ),
  )

const unmatchedResponses = (): object[] =>
  [[], ['GET']].map((allowed) => {
    const { 'x-amazon-apigateway-integration': mock } = unmatchedIntegration(allowed) as {
      'x-amazon-apigateway-integration': { responses: { default: object } }
    }
    return mock.responses.default
  })

it('contains exactly the keys that endpoints throw, routes declare and the gateway returns', () => {
  const [sources, gateway] = [sentBySources(), sentByGateway()]
  expect(sources.length).toBeGreaterThan(20)
  expect(gateway.length).toBeGreaterThan(10)
  const named = ROUTES.flatMap((route) => [...errorsOf(route), ...Object.values(route.params ?? {})])
  const sent = new Set<string>([...sources, ...gateway, ...named])
  expect([...sent].sort()).toEqual([...ERROR_KEYS].sort())
  expect(Object.keys(publishedErrors().errors).sort()).toEqual(
    [...ERROR_KEYS].map((key) => errorBody(key).message).sort(),
  )
})

it('every route declares the errors of its path parameters', () => {
  for (const { params = {}, errors } of ROUTES)
    expect(errors).toEqual(expect.arrayContaining(Object.values(params)))
})
