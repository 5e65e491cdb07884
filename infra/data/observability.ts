import {
  AccessLogFormat,
  type IAccessLogDestination,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigateway'
import { type ILogGroup, LogGroup } from 'aws-cdk-lib/aws-logs'
import type { Construct } from 'constructs'
import type { StageSettings } from '../settings/stages.ts'

/** A log group that is kept as long as the stage says. */
export const logGroup = (scope: Construct, id: string, stage: StageSettings): LogGroup =>
  new LogGroup(scope, id, { retention: stage.logRetention, removalPolicy: stage.removalPolicy })

/** The gateway's access log: its log group, and the fields of a line. */
export const accessLog = (
  logs: ILogGroup,
): { accessLogDestination: IAccessLogDestination; accessLogFormat: AccessLogFormat } => ({
  accessLogDestination: new LogGroupLogDestination(logs),
  accessLogFormat: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
})

/** Excludes what can identify a patient: path, query and error messages, and `requestId`, which a client can set. */
const ACCESS_LOG_FIELDS = {
  request_id: '$context.extendedRequestId',
  time: '$context.requestTime',
  stage: '$context.stage',
  method: '$context.httpMethod',
  route: '$context.resourcePath',
  status: '$context.status',
  latency_ms: '$context.responseLatency',
  integration_ms: '$context.integrationLatency',
  // Requests that are rejected before a function runs have no other line.
  ip: '$context.identity.sourceIp',
  gateway_error: '$context.error.responseType',
}
