import {
  AccessLogFormat,
  type IAccessLogDestination,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigateway'
import { Alarm, ComparisonOperator, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import type { StageSettings } from './stages.ts'

/** A log group that is kept as long as the stage says. */
export const logGroup = (scope: Construct, id: string, stage: StageSettings): LogGroup =>
  new LogGroup(scope, id, { retention: stage.logRetention, removalPolicy: stage.removalPolicy })

/** An alarm while the queue has a message. It has no action: whom to notify is the account's choice. */
export const alarmOnMessages = (
  scope: Construct,
  id: string,
  queue: Queue,
  alarmDescription: string,
): Alarm =>
  new Alarm(scope, id, {
    alarmDescription,
    metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: 'max' }),
    threshold: 0,
    comparisonOperator: ComparisonOperator.GREATER_THAN_THRESHOLD,
    evaluationPeriods: 1,
    // SQS publishes no metrics of a queue that has been empty for hours.
    treatMissingData: TreatMissingData.NOT_BREACHING,
  })

/** The gateway's access log: its log group, and the fields of a line. */
export const accessLog = (
  logs: ILogGroup,
): { accessLogDestination: IAccessLogDestination; accessLogFormat: AccessLogFormat } => ({
  accessLogDestination: new LogGroupLogDestination(logs),
  accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
})

/** Excludes the path, the query and error messages of a request, since those can identify a patient. */
const ACCESS_LOG_FIELDS = {
  request_id: '$context.requestId',
  time: '$context.requestTime',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  status: '$context.status',
  latency_ms: '$context.responseLatency',
  integration_ms: '$context.integrationLatency',
  gateway_error: '$context.error.responseType',
}
