import { CfnOutput, Fn, Stack, Tags } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import type { Route } from '../shared/api/route.ts'
import { ROUTES } from '../shared/api/routes.ts'
import { WORKERS } from '../shared/runtime/workers.ts'
import { AccessTrail } from './access-trail.ts'
import { Api, FALLBACK } from './api.ts'
import type { FunctionCode } from './bundles.ts'
import { checkConcurrency } from './concurrency.ts'
import { Data } from './data.ts'
import { Events } from './events.ts'
import { Maintenance } from './maintenance.ts'
import { Messaging } from './messaging.ts'
import { Reference } from './reference.ts'
import { REFERENCE } from './reference-files.ts'
import type { StageSettings } from './stages.ts'

/** The ids of all functions. */
export const functionIds = (routes: readonly Route[] = ROUTES): string[] => [
  ...routes.map(({ id }) => id),
  FALLBACK,
  REFERENCE,
  ...WORKERS.map(({ id }) => id),
]

export const stackName = (stage: string): string => `ClinicDeveloperApi-${stage}`

/**
 * The whole service.
 * @throws Error if the account's concurrency is too low for what the workers can take
 */
export class ClinicStack extends Stack {
  readonly messaging: Messaging

  constructor(scope: Construct, stage: StageSettings, code: FunctionCode, routes: readonly Route[] = ROUTES) {
    super(scope, stackName(stage.name), {
      description: 'Clinic Developer API',
      terminationProtection: stage.deletionProtection,
    })
    checkConcurrency(stage.accountConcurrency)
    Tags.of(this).add('service', 'clinic-developer-api')
    const data = new Data(this, 'Data', stage)
    this.messaging = new Messaging(this, 'Messaging', { stage, code, data })
    const events = new Events(this, 'Events', { stage, code, data })
    new Maintenance(this, 'Maintenance', { stage, code, data })
    const { messaging } = this
    const services = { ...messaging.services, ...events.services }
    const trail = new AccessTrail(this, 'AccessTrail', stage)
    const { rest } = new Api(this, 'Api', { stage, code, data, services, trail, routes })
    new Reference(this, 'Reference', { stage, code, rest })
    // Read by the operator tool, and by people after a deployment.
    new CfnOutput(this, 'BaseUrl', {
      value: Fn.join('', [
        'https://',
        rest.restApiId,
        '.execute-api.',
        this.region,
        '.',
        this.urlSuffix,
        '/',
        stage.name,
      ]),
    })
    new CfnOutput(this, 'Cell', { value: stage.cell })
    new CfnOutput(this, 'TableName', { value: data.table.tableName })
    new CfnOutput(this, 'AccessTrailBucket', { value: trail.bucket.bucketName })
    // The operator tool writes what it does there.
    new CfnOutput(this, 'OperatorLogGroup', { value: trail.operatorLog.logGroupName })
    // The operator tool lists dead letters and moves them back, except those of the fan-out, which are for a person.
    const { emails, deadEmails, feedback, deadFeedback } = messaging
    const {
      deliveries,
      deadDeliveries,
      slowDeliveries,
      deadSlowDeliveries,
      fanOuts,
      deadFanOuts,
      failedFanOuts,
    } = events
    const queues = {
      Email: emails,
      DeadEmail: deadEmails,
      Feedback: feedback,
      DeadFeedback: deadFeedback,
      Delivery: deliveries,
      DeadDelivery: deadDeliveries,
      SlowDelivery: slowDeliveries,
      DeadSlowDelivery: deadSlowDeliveries,
      FanOut: fanOuts,
      DeadFanOut: deadFanOuts,
      FailedFanOut: failedFanOuts,
    }
    for (const [name, queue] of Object.entries(queues))
      new CfnOutput(this, `${name}QueueUrl`, { value: queue.queueUrl })
  }
}
