import type { Construct } from 'constructs'
import type { Route } from '../shared/api/route.ts'
import type { FunctionCode } from './bundles.ts'
import type { Data } from './data.ts'
import type { Events } from './events.ts'
import { credentialGrant, keyGrant, pushGrant, smsGrant, tableGrant } from './grants.ts'
import type { Messaging } from './messaging.ts'
import { ServiceFunction } from './service-function.ts'
import type { StageSettings } from './stages.ts'

type Dependencies = {
  readonly stage: StageSettings
  readonly code: FunctionCode
  readonly data: Data
  readonly messaging: Messaging
  readonly events: Events
}

/** A route's Lambda: environment and grants follow from what the route says it uses. */
export function routeFunction(
  scope: Construct,
  route: Route,
  { stage, code, data, messaging, events }: Dependencies,
) {
  const { table, services = [], memory } = route.uses
  const usesSms = services.includes('sms')
  const usesEmailQueue = services.includes('email-queue')
  const usesDeliveryQueue = services.includes('delivery-queue')
  return new ServiceFunction(scope, route.id, {
    stage,
    code,
    memory,
    environment: {
      TABLE_NAME: data.table.tableName,
      CHECK_RESPONSES: stage.checkResponses ? 'on' : 'off',
      REQUESTS_PER_MINUTE: String(stage.requestsPerMinute),
      ...(usesSms && messaging.sendingEnvironment),
      ...(usesEmailQueue && messaging.queueEnvironment),
      ...(usesDeliveryQueue && events.queueEnvironment),
    },
    grants: [
      credentialGrant(data),
      tableGrant(data, table, { delivers: usesSms || usesEmailQueue || usesDeliveryQueue }),
      keyGrant(scope, data),
      ...(usesSms ? [smsGrant(scope)] : []),
      ...(usesEmailQueue ? [pushGrant(messaging.emails)] : []),
      ...(usesDeliveryQueue ? [pushGrant(events.deliveries)] : []),
    ],
  })
}
