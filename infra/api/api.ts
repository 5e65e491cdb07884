import { RemovalPolicy } from 'aws-cdk-lib'
import {
  ApiDefinition,
  EndpointType,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { BASE_PATH, isList, type Route } from '../../shared/api/route.ts'
import type { ImportedData } from '../data/data-stack.ts'
import { accessLog } from '../data/observability.ts'
import { routeFunction } from '../functions/api-function.ts'
import type { FunctionCode } from '../functions/bundles.ts'
import { pageLimits, publicReservation, routeReservation, servedLimits } from '../functions/concurrency.ts'
import type { Services } from '../functions/service-access.ts'
import { ServiceFunction } from '../functions/service-function.ts'
import { apiName, REFERENCE } from '../settings/names.ts'
import type { StageSettings, Throttle } from '../settings/stages.ts'
import { gatewayDocument, type Operation } from './gateway-document.ts'
import { GATEWAY_RESPONSES } from './gateway-responses.ts'

/**
 * The public resources of the gateway. They are outside the base path, below which every request needs a credential.
 */
export const REFERENCE_RESOURCES = ['/', '/openapi.json', '/errors.json', '/docs', '/docs/{proxy+}'] as const

type Props = {
  readonly stage: StageSettings
  readonly code: FunctionCode
  readonly data: ImportedData
  readonly services: Services
  readonly routes: readonly Route[]
}

const PAGE_METHODS = ['GET', 'HEAD'] as const

/** A method and path for which API Gateway may invoke a function, and the id of the permission. */
type Permitted = Pick<Operation, 'path' | 'lambda'> & { readonly method: string; readonly permission: string }

/**
 * The REST API. Each endpoint has a Lambda, which serves the aliases of its path too; the public pages are outside the base
 * path; API Gateway itself responds to every other request.
 */
export class Api extends Construct {
  readonly rest: SpecRestApi

  constructor(scope: Construct, id: string, { stage, code, data, services, routes }: Props) {
    super(scope, id)
    const logs = data.logGroup('EndpointLogGroup')
    const endpoints = routes.filter(({ aliasOf }) => aliasOf === undefined)
    const operations = endpoints.flatMap((route) => {
      const reservedConcurrency = routeReservation(route, stage.accountConcurrency)
      const dependencies = { stage, code, data, logs, services, reservedConcurrency }
      const { lambda } = routeFunction(this, route, dependencies)
      const aliases = routes.filter(({ aliasOf }) => aliasOf === route.id)
      return [route, ...aliases].map(({ id, method, path }) => {
        const permission = id === route.id ? 'Gateway' : `Gateway-${id}`
        return { method, path: `${BASE_PATH}${path}`, lambda, permission }
      })
    })
    const reservedConcurrency = publicReservation(stage.accountConcurrency)
    // Apart from the log group whose lines of type `access` are the trail: anyone may invoke this function.
    const publicLogs = data.logGroup('PublicLogGroup')
    const reference = new ServiceFunction(this, REFERENCE, {
      stage,
      code,
      logs: publicLogs,
      reservedConcurrency,
    }).lambda
    const pages = REFERENCE_RESOURCES.flatMap((path) =>
      PAGE_METHODS.map((method): Operation => ({ method, path, lambda: reference })),
    )
    this.rest = restApi(this, stage, {
      routes,
      data,
      document: gatewayDocument({
        title: apiName(stage.name),
        operations: [...operations, ...pages],
        extensions: {
          'x-amazon-apigateway-minimum-compression-size': MIN_COMPRESSION_SIZE,
          'x-amazon-apigateway-gateway-responses': GATEWAY_RESPONSES,
          'x-amazon-apigateway-endpoint-configuration': { disableExecuteApiEndpoint: hasDomain(stage) },
        },
      }),
    })
    // The address is an output of the stack, if it is in use.
    this.rest.node.tryRemoveChild('Endpoint')
    for (const operation of operations) this.#allow(operation, stage)
    this.#allow({ method: '*', path: '/*', lambda: reference, permission: 'Gateway' }, stage)
  }

  /** One permission for each path of a function: all that a function has must fit into 20 KB. */
  #allow({ method, path, lambda, permission }: Permitted, stage: StageSettings): void {
    lambda.addPermission(permission, {
      principal: new ServicePrincipal('apigateway.amazonaws.com'),
      // A path parameter is any segment.
      sourceArn: this.rest.arnForExecuteApi(method, path.replace(/\{[^}]+\}/g, '*'), stage.name),
    })
  }
}

/** Callers who use the domain cannot be left behind by the address of API Gateway, and a firewall has one address to watch. */
const hasDomain = ({ domain }: StageSettings): boolean => domain !== undefined

/** Bytes. For callers that accept gzip; smaller responses fit into one or two packets anyway. */
const MIN_COMPRESSION_SIZE = 2048

/**
 * Execution logs would contain requests and responses, including patients' data. CloudWatch has the metrics of the stage,
 * but not the metrics of each method, which are charged.
 */
const LOGGING = { loggingLevel: MethodLoggingLevel.OFF, dataTraceEnabled: false, metricsEnabled: false }

function restApi(
  scope: Construct,
  stage: StageSettings,
  { routes, data, document }: Pick<Props, 'routes' | 'data'> & { document: object },
): SpecRestApi {
  return new SpecRestApi(scope, 'Rest', {
    restApiName: apiName(stage.name),
    apiDefinition: ApiDefinition.fromInline(document),
    endpointTypes: [EndpointType.REGIONAL],
    disableExecuteApiEndpoint: hasDomain(stage),
    cloudWatchRole: true,
    // The role is retained even after a failed creation: from then on, all stages of the account and region log with it.
    cloudWatchRoleRemovalPolicy: RemovalPolicy.RETAIN,
    deployOptions: {
      stageName: stage.name,
      ...limits(stage, UNMATCHED_SHARE),
      ...LOGGING,
      tracingEnabled: stage.monitoring.tracing,
      methodOptions: {
        ...Object.fromEntries(
          routes.map((route) => [
            `${BASE_PATH}${route.path}/${route.method}`,
            throttled(stage, isList(route) ? LIST_SHARE : 1, (concurrency) =>
              servedLimits(route, concurrency),
            ),
          ]),
        ),
        ...Object.fromEntries(
          REFERENCE_RESOURCES.flatMap((path) =>
            PAGE_METHODS.map((method) => [
              `${path}/${method}`,
              throttled(stage, PAGE_SHARE, (concurrency) => pageLimits(pagePart(path, method), concurrency)),
            ]),
          ),
        ),
      },
      ...accessLog(data.logGroup('GatewayLogGroup')),
    },
  })
}

/** Lists get half of the stage's rate, so that programs that copy all records leave room for other requests. */
const LIST_SHARE = 0.5

/** The public pages need no credential, so the rate of a credential does not limit their callers. */
const PAGE_SHARE = 0.05

/** Most requests load the files of a page. */
const FILES_WEIGHT = 4

/** The part of a page's method in what the public pages may take. */
function pagePart(path: string, method: string): number {
  const weight = path === '/docs/{proxy+}' && method === 'GET' ? FILES_WEIGHT : 1
  return weight / (REFERENCE_RESOURCES.length * PAGE_METHODS.length - 1 + FILES_WEIGHT)
}

/**
 * The default of the stage: what no route matches, which needs no credential and no function. Each route has a limit of its own,
 * since a setting for `ANY` does not apply to the methods that it stands for.
 */
const UNMATCHED_SHARE = 0.005

type Served = (concurrency: number) => Throttle

const throttled = (stage: StageSettings, share: number, served: Served): MethodDeploymentOptions => ({
  // A method's settings replace all of the stage's.
  ...LOGGING,
  ...limits(stage, share, served),
})

/** A share of the stage's rate, at most what the function can serve. */
function limits({ throttle, servedConcurrency }: StageSettings, share: number, served?: Served) {
  const bound = served && servedConcurrency !== undefined ? served(servedConcurrency) : throttle
  const limit = (name: keyof Throttle) => Math.min(throttle[name] * share, bound[name])
  return { throttlingRateLimit: limit('rate'), throttlingBurstLimit: Math.ceil(limit('burst')) }
}
