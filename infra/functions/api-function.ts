import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import type { Route } from '../../shared/api/route.ts'
import type { Data } from '../data/data.ts'
import type { StageSettings } from '../settings/stages.ts'
import type { FunctionCode } from './bundles.ts'
import { credentialGrants, keyGrant, tableGrants } from './grants.ts'
import { accessTo, type Services } from './service-access.ts'
import { ServiceFunction } from './service-function.ts'

type Dependencies = {
  readonly stage: StageSettings
  readonly code: FunctionCode
  readonly logs: ILogGroup
  readonly data: Data
  readonly services: Services
  readonly reservedConcurrency?: number | undefined
}

/** The Lambda of a route. Its environment and grants follow from what the route uses. */
export function routeFunction(
  scope: Construct,
  route: Route,
  { stage, code, logs, data, services, reservedConcurrency }: Dependencies,
): ServiceFunction {
  const { services: used = [], memory } = route.uses ?? {}
  const { environment, grants } = accessTo(used, services)
  return new ServiceFunction(scope, route.id, {
    stage,
    code,
    logs,
    memory,
    reservedConcurrency,
    environment: {
      TABLE_NAME: data.table.tableName,
      STAGE: stage.name,
      CHECK_RESPONSES: stage.checkResponses ? 'on' : 'off',
      REQUESTS_PER_MINUTE: String(stage.requestsPerMinute),
      ...environment,
    },
    grants: [...credentialGrants(data), ...tableGrants(data, route), keyGrant(scope, data), ...grants],
  })
}
