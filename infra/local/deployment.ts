import { type EventSources, eventSourceMappings, startEventSources } from './event-sources.ts'
import { createFunctionPool, type FunctionPool } from './function-pool.ts'
import { type FunctionSpec, functionSpecs } from './function-spec.ts'
import type { Serving } from './gateway.ts'
import { gatewayErrors } from './gateway-errors.ts'
import { type Route, routesOf } from './gateway-routes.ts'
import { ACCOUNT_ID } from './physical-names.ts'
import { createQueues, queueUrl } from './queues.ts'
import type { Assembly } from './synthesize.ts'
import { createTables } from './tables.ts'
import { type OpenTemplate, openTemplate } from './template.ts'
import { throttleOf } from './throttle.ts'

type Options = {
  readonly region: string
  readonly stage: string
  readonly baseUrl: string
  readonly endpoints: { readonly dynamodb: string; readonly sqs: string }
  readonly environment: Readonly<Record<string, string>>
  readonly log: (line: string) => void
}

/** The stack as it runs now: what a deployment has made so far, taken over by the next. */
export type Deployment = {
  /** Nothing of the running version is touched when the new one cannot be deployed. */
  readonly deploy: (assembly: Assembly) => Promise<Serving>
  readonly outputs: () => Record<string, string>
  readonly close: () => Promise<void>
}

export function deployLocally(options: Options): Deployment {
  const { region, endpoints, log } = options
  const pools = new Map<string, FunctionPool>()
  const assemblies: Assembly[] = []
  let sources: EventSources | undefined
  let outputs: Record<string, string> = {}

  const poolOf = (arn: string): FunctionPool => {
    const pool = pools.get(arn)
    if (!pool) throw new Error(`${arn} is no function of the stack.`)
    return pool
  }

  const takeOver = async (specs: readonly FunctionSpec[]): Promise<void> => {
    for (const spec of specs) {
      const pool = pools.get(spec.arn)
      if (pool) pool.update(spec)
      else pools.set(spec.arn, createFunctionPool(spec, log))
    }
    const arns = new Set(specs.map(({ arn }) => arn))
    for (const [arn, pool] of pools)
      if (!arns.has(arn)) {
        pools.delete(arn)
        await pool.close()
      }
  }

  const deploy = async (assembly: Assembly): Promise<Serving> => {
    const planned = await plan(assembly, options).catch(async (error) => {
      await assembly.dispose()
      throw error
    })
    await takeOver(planned.specs)
    const { mappings } = planned
    sources = await startEventSources(
      { mappings, endpoint: endpoints.sqs, region, functionOf: poolOf, log },
      sources,
    )
    outputs = planned.outputs
    // The version before keeps its files: a function may be loading them now.
    assemblies.push(assembly)
    if (assemblies.length > 2) await assemblies.shift()?.dispose()
    return {
      api: { ...planned.api, invoke: (arn, event, traceId) => poolOf(arn).invoke(event, traceId) },
      page: (path) => (Object.hasOwn(planned.pages, path) ? planned.pages[path] : undefined),
    }
  }

  return {
    deploy,
    outputs: () => outputs,
    close: async () => {
      // Together: a poller waits for the invocation that only the end of its function ends.
      await Promise.all([sources?.stop(), ...[...pools.values()].map(({ close }) => close())])
      await Promise.all(assemblies.map(({ dispose }) => dispose()))
    },
  }
}

/** All that can go wrong with a version, before it replaces the running one. */
async function plan(assembly: Assembly, { region, stage, baseUrl, endpoints, environment }: Options) {
  const { stackName, assetDirectory } = assembly
  const place = { region, stackName, queueUrl: (name: string) => queueUrl(endpoints.sqs, name) }
  const template = openTemplate(assembly.template, place)
  await createTables(template, endpoints.dynamodb, region)
  await createQueues(template, endpoints.sqs)

  const api = apiOf(template)
  const routes = routesOf(template)
  const engines = {
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
  }
  const specs = functionSpecs({
    template,
    assetDirectory,
    region,
    environment: { ...engines, ...environment },
  })
  checkFunctions(routes, specs)
  const outputs = localOutputs(template, api, region, baseUrl)
  const pages: Record<string, unknown> = {
    '/_local': { stack: stackName, stage, region, outputs, endpoints },
    '/_local/sms': [],
    '/_local/emails': [],
  }
  return {
    specs,
    mappings: eventSourceMappings(template),
    api: { api, routes, throttle: throttleOf(template), renderError: gatewayErrors(template) },
    outputs,
    pages,
  }
}

function apiOf(template: OpenTemplate) {
  const apis = template.of<{ readonly BinaryMediaTypes?: unknown }>('AWS::ApiGateway::RestApi')
  const stages = template.of<{ readonly StageName: string }>('AWS::ApiGateway::Stage')
  const [api] = apis
  const [stage] = stages
  if (!api || !stage || apis.length + stages.length > 2)
    throw new Error(
      `The template has ${apis.length} REST APIs with ${stages.length} stages; one of each is served here.`,
    )
  if (api.properties.BinaryMediaTypes)
    throw new Error(`${api.id} has BinaryMediaTypes, which the local gateway does not serve.`)
  return { id: template.ref(api.id), stage: stage.properties.StageName, accountId: ACCOUNT_ID }
}

function checkFunctions(routes: readonly Route[], specs: readonly FunctionSpec[]): void {
  const known = new Set(specs.map(({ arn }) => arn))
  for (const { resource, methods } of routes)
    for (const [method, { functionArn }] of methods)
      if (!known.has(functionArn))
        throw new Error(`${method} ${resource} calls ${functionArn}, which is no function of the stack.`)
}

/** The API's address in AWS becomes the one it has here. */
function localOutputs(
  template: OpenTemplate,
  api: ReturnType<typeof apiOf>,
  region: string,
  baseUrl: string,
) {
  const address = `https://${api.id}.execute-api.${region}.amazonaws.com/${api.stage}`
  return Object.fromEntries(
    Object.entries(template.outputs()).map(([name, value]) => [name, value.replaceAll(address, baseUrl)]),
  )
}
