import { Stack } from 'aws-cdk-lib'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { BASE_PATH, type Method } from '../../shared/api/route.ts'
import { unmatchedIntegration } from './unmatched.ts'

/** A method of a resource, and the function that API Gateway invokes for it. */
export type Operation = {
  readonly method: Method | 'HEAD'
  /** The path from the root, with parameters in braces. */
  readonly path: string
  readonly lambda: IFunction
}

type Props = {
  readonly title: string
  readonly operations: readonly Operation[]
  /** API Gateway's extensions of the document. */
  readonly extensions: Readonly<Record<`x-amazon-apigateway-${string}`, unknown>>
}

type PathItem = Record<string, object>

/**
 * The API as an OpenAPI document for API Gateway: paths and the functions behind them. The contracts are in the API's own
 * document. So the API is one resource of the template, however many routes it has, and changes as a whole.
 *
 * A REST API parses the Authorization header of an unmatched request as an AWS signature, so every resource, including the
 * parents of others, has an any-method. No function is invoked for it.
 */
export function gatewayDocument({ title, operations, extensions }: Props): object {
  const paths: Record<string, PathItem> = {}
  const itemOf = (path: string): PathItem => {
    const item = paths[path] ?? {}
    paths[path] = item
    return item
  }
  for (const { method, path, lambda } of operations)
    itemOf(path)[method.toLowerCase()] = {
      parameters: parametersOf(path),
      responses: {},
      'x-amazon-apigateway-integration': invocationOf(lambda),
    }
  const resources = operations.flatMap(({ path }) => withParents(path))
  for (const path of new Set(['/', '/{proxy+}', `${BASE_PATH}/{proxy+}`, ...resources])) {
    const allowed = operations.filter((operation) => operation.path === path).map(({ method }) => method)
    itemOf(path)['x-amazon-apigateway-any-method'] = {
      parameters: parametersOf(path),
      ...unmatchedIntegration(allowed),
    }
  }
  return { openapi: '3.0.1', info: { title, version: '1' }, paths, ...extensions }
}

/** `/a/b` and `/a` for `/a/b`. */
const withParents = (path: string): string[] =>
  path === '' || path === '/' ? [] : [path, ...withParents(path.slice(0, path.lastIndexOf('/')))]

const parametersOf = (path: string): object[] =>
  [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))

const invocationOf = (lambda: IFunction): object => ({
  type: 'aws_proxy',
  // Lambda is always called with POST, whatever the method of the request.
  httpMethod: 'POST',
  uri: invocationUri(lambda),
  passthroughBehavior: 'when_no_match',
})

function invocationUri(lambda: IFunction): string {
  const { partition, region } = Stack.of(lambda)
  return `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${lambda.functionArn}/invocations`
}
