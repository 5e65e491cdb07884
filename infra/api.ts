import { Size } from 'aws-cdk-lib'
import {
  EndpointType,
  type IResource,
  LambdaIntegration,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway'
import { Construct } from 'constructs'
import { BASE_PATH, isList, type Route } from '../shared/api/route.ts'
import type { AccessTrail } from './access-trail.ts'
import { routeFunction } from './api-function.ts'
import type { FunctionCode } from './bundles.ts'
import { routeReservation } from './concurrency.ts'
import type { Data } from './data.ts'
import { addGatewayResponses } from './gateway-responses.ts'
import { accessLog } from './observability.ts'
import type { Services } from './service-access.ts'
import { ServiceFunction } from './service-function.ts'
import type { StageSettings } from './stages.ts'

/** The file in functions/ that responds to unmatched requests. */
export const FALLBACK = 'fallback'

type Props = {
  readonly stage: StageSettings
  readonly code: FunctionCode
  readonly data: Data
  readonly services: Services
  readonly trail: AccessTrail
  readonly routes: readonly Route[]
}

/** The REST API. Each endpoint has a method and a Lambda; every other request goes to the fallback function. */
export class Api extends Construct {
  readonly rest: RestApi

  constructor(scope: Construct, id: string, { stage, code, data, services, trail, routes }: Props) {
    super(scope, id)
    this.rest = restApi(this, stage, routes)
    addGatewayResponses(this.rest, stage)
    for (const route of routes) {
      const reservedConcurrency = routeReservation(route, routes, stage.accountConcurrency)
      const { lambda, logs } = routeFunction(this, route, {
        stage,
        code,
        data,
        services,
        reservedConcurrency,
      })
      trail.follow(logs)
      const resource = this.rest.root.resourceForPath(`${BASE_PATH}${route.path}`)
      resource.addMethod(route.method, new LambdaIntegration(lambda, { allowTestInvoke: false }))
    }
    const fallback = new ServiceFunction(this, FALLBACK, { stage, code, memory: 256 })
    const integration = new LambdaIntegration(fallback.lambda, { allowTestInvoke: false })
    addFallback(this.rest.root, integration)
  }
}

/** Execution logs would contain requests and responses, including patients' data. */
const LOGGING = { loggingLevel: MethodLoggingLevel.OFF, dataTraceEnabled: false, metricsEnabled: true }

function restApi(scope: Construct, stage: StageSettings, routes: readonly Route[]): RestApi {
  return new RestApi(scope, 'Rest', {
    restApiName: `clinic-developer-api-${stage.name}`,
    endpointTypes: [EndpointType.REGIONAL],
    cloudWatchRole: true,
    // For callers that accept gzip. Smaller responses fit into one or two packets anyway.
    minCompressionSize: Size.kibibytes(2),
    deployOptions: {
      stageName: stage.name,
      throttlingRateLimit: stage.throttle.rate,
      throttlingBurstLimit: stage.throttle.burst,
      ...LOGGING,
      methodOptions: Object.fromEntries(
        routes
          .filter(isList)
          .map(({ method, path }) => [`${BASE_PATH}${path}/${method}`, listOptions(stage)]),
      ),
      ...accessLog(scope, stage),
    },
  })
}

/** Lists get half of the stage's rate, so that programs that copy all records leave room for other requests. */
const listOptions = ({ throttle }: StageSettings): MethodDeploymentOptions => ({
  // A method's settings replace all of the stage's.
  ...LOGGING,
  throttlingRateLimit: throttle.rate / 2,
  throttlingBurstLimit: throttle.burst / 2,
})

/**
 * Sends other methods of every resource, and all other paths, to the fallback function. Without these methods, a REST
 * API parses the Authorization header of an unmatched request as an AWS signature.
 */
function addFallback(root: IResource, integration: LambdaIntegration): void {
  const resources = [root, ...descendants(root)]
  for (const resource of resources) resource.addMethod('ANY', integration)
  root.addProxy({ defaultIntegration: integration, anyMethod: true })
  root.resourceForPath(BASE_PATH).addProxy({ defaultIntegration: integration, anyMethod: true })
}

function descendants(resource: IResource): IResource[] {
  return resource.node.children.flatMap((child) =>
    'addMethod' in child
      ? [child as unknown as IResource, ...descendants(child as unknown as IResource)]
      : [],
  )
}
