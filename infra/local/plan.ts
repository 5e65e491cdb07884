import { createQueues, queueUrl } from './engines/queues.ts'
import { createTables } from './engines/tables.ts'
import { eventRules } from './events/event-rules.ts'
import { eventSourceMappings } from './events/event-source-mappings.ts'
import { type FunctionSpec, functionSpecs } from './functions/spec.ts'
import { gatewayErrors } from './gateway/errors.ts'
import { routesOf } from './gateway/routes.ts'
import { throttleOf } from './gateway/throttle.ts'
import { logFilters } from './logs/log-delivery.ts'
import { publishedEventFilter } from './providers/email-events.ts'
import { logSubscriptions } from './providers/sms-receipts.ts'
import { ACCOUNT_ID } from './template/physical-names.ts'
import { resolveStacks } from './template/stacks.ts'
import type { Assembly } from './template/synthesize.ts'
import type { ResolvedTemplate } from './template/template.ts'

/** The endpoint of each service. */
export type Endpoints = {
  readonly dynamodb: string
  readonly sqs: string
  readonly sns: string
  readonly sesv2: string
  /** Takes PutLogEvents only. */
  readonly logs: string
}

/** The environment that a version is deployed to. */
export type DeploymentTarget = {
  readonly region: string
  readonly stage: string
  readonly baseUrl: string
  readonly endpoints: Endpoints
  /** See StackContext. */
  readonly tableSuffix: string
  /** Added to the environment of every function. */
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Reads the app's stacks and creates their tables and queues.
 * @throws Error that names the resource the runner does not support
 */
export async function plan(
  assembly: Assembly,
  { region, stage, baseUrl, endpoints, tableSuffix, environment }: DeploymentTarget,
) {
  const { stackName, assetDirectory, otherStacks } = assembly
  const localQueueUrl = (name: string) => queueUrl(endpoints.sqs, name)
  const template = resolveStacks([assembly, ...otherStacks], {
    region,
    tableSuffix,
    queueUrl: localQueueUrl,
  })
  await createTables(template, endpoints.dynamodb, region)
  await createQueues(template, endpoints.sqs)

  const api = apiOf(template)
  const routes = routesOf(template)
  const endpointVariables = {
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_SQS: endpoints.sqs,
    AWS_ENDPOINT_URL_SNS: endpoints.sns,
    AWS_ENDPOINT_URL_SESV2: endpoints.sesv2,
  }
  const specs = functionSpecs({
    template,
    assetDirectory,
    region,
    environment: { ...endpointVariables, ...environment },
    localAddress: (value) => value.replaceAll(queueUrlOnAws(region), localQueueUrl('')),
  })
  const { queues, streams, tableStreams } = eventSourceMappings(template, region)
  const rules = eventRules(template)
  const subscriptions = logSubscriptions(template)
  checkFunctions(specs, [
    ...routes.flatMap(({ resource, methods }) =>
      [...methods].flatMap(([method, integration]) =>
        'functionArn' in integration ? [[`${method} ${resource}`, integration.functionArn] as const] : [],
      ),
    ),
    ...rules.flatMap(({ id, targets }) =>
      targets.filter(({ kind }) => kind === 'function').map(({ arn }) => [id, arn] as const),
    ),
    ...[...subscriptions, ...queues, ...streams].map(({ id, functionArn }) => [id, functionArn] as const),
  ])
  const addresses = [...api.domains, `${api.id}.execute-api.${region}.amazonaws.com`]
  const outputs = localOutputs(template, {
    ...Object.fromEntries(addresses.map((address) => [`https://${address}`, baseUrl])),
    [queueUrlOnAws(region)]: localQueueUrl(''),
  })
  return {
    specs,
    queues,
    streams,
    tableStreams,
    rules,
    subscriptions,
    logFilters: logFilters(template),
    isPublished: publishedEventFilter(template),
    api: { api, routes, throttle: throttleOf(template), renderError: gatewayErrors(template) },
    outputs,
    about: { stack: stackName, stage, region, outputs, endpoints },
  }
}

function apiOf(template: ResolvedTemplate) {
  const apis = template.resourcesOf<{ readonly BinaryMediaTypes?: unknown }>('AWS::ApiGateway::RestApi')
  const stages = template.resourcesOf<{ readonly StageName: string }>('AWS::ApiGateway::Stage')
  const [api] = apis
  const [stage] = stages
  if (!api || !stage || apis.length + stages.length > 2)
    throw new Error(
      `The template has ${apis.length} REST APIs with ${stages.length} stages; one of each is served here.`,
    )
  if (api.properties.BinaryMediaTypes)
    throw new Error(`${api.id} has BinaryMediaTypes, which the local gateway does not support.`)
  const { StageName } = stage.properties
  const domains = domainsOf(template)
  const pathPrefix = domains.length > 0 ? '' : `/${StageName}`
  return { id: template.ref(api.id), stage: StageName, accountId: ACCOUNT_ID, pathPrefix, domains }
}

type Mapping = { readonly DomainName: string; readonly BasePath?: string }

/** The custom domains of the API. @throws Error that names a mapping with a base path */
export const domainsOf = (template: ResolvedTemplate): string[] =>
  template.resourcesOf<Mapping>('AWS::ApiGateway::BasePathMapping').map(({ id, properties }) => {
    if (properties.BasePath)
      throw new Error(
        `${id} has the BasePath ${properties.BasePath}; the local gateway serves domains at their root.`,
      )
    return properties.DomainName
  })

function checkFunctions(
  specs: readonly FunctionSpec[],
  calls: readonly (readonly [caller: string, arn: string])[],
): void {
  const known = new Set(specs.map(({ arn }) => arn))
  for (const [caller, arn] of calls)
    if (!known.has(arn)) throw new Error(`${caller} calls ${arn}, which is not a function of the stack.`)
}

/** The prefix of the URL of every queue on AWS. A template may write it out for a queue of another stack. */
const queueUrlOnAws = (region: string): string => `https://sqs.${region}.amazonaws.com/${ACCOUNT_ID}/`

/** The outputs of the template, with local addresses in place of those on AWS. */
const localOutputs = (template: ResolvedTemplate, addresses: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(template.outputs()).map(([name, value]) => [
      name,
      Object.entries(addresses).reduce((text, [onAws, local]) => text.replaceAll(onAws, local), value),
    ]),
  )
