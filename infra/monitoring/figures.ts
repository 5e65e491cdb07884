import { Duration } from 'aws-cdk-lib'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { NAMESPACE } from '../../shared/observability/metrics.ts'
import { type QueueId, WORKERS, type Worker } from '../../shared/runtime/workers.ts'
import { canaryName } from '../settings/names.ts'
import type { MonitoringSettings } from '../settings/stages.ts'

/** The physical names of what is watched, and nothing else of it. */
export type Watched = {
  readonly stage: string
  readonly api: string
  readonly table: string
  readonly tableArn: string
  readonly queueName: (queue: QueueId) => string
  readonly functionName: (worker: string) => string
  /** The delivery streams of the access trail. */
  readonly trail: readonly string[]
  /** Log groups of all functions, and of the access log of the gateway. */
  readonly functionLogs: readonly string[]
  readonly gatewayLogs: string
}

type Statistic = 'Sum' | 'Average' | 'Minimum' | 'Maximum' | 'SampleCount' | 'p50' | 'p99'

/** A number that CloudWatch has for each period, as data. */
export type Figure =
  /** A metric that functions record. `sweep` and others are its dimensions besides the stage. */
  | {
      readonly of: 'service'
      readonly metric: string
      readonly statistic: Statistic
      readonly dimensions?: Readonly<Record<string, string>>
    }
  | {
      readonly of: 'queue'
      readonly queue: QueueId
      readonly metric: 'ApproximateNumberOfMessagesVisible' | 'ApproximateAgeOfOldestMessage'
    }
  /** The sum over the functions of a part. CloudWatch adds up at most ten metrics in an alarm. */
  | { readonly of: 'part'; readonly part: Worker['part']; readonly metric: 'Errors' | 'Throttles' }
  | { readonly of: 'worker'; readonly worker: string; readonly metric: 'IteratorAge' }
  | {
      readonly of: 'api'
      readonly metric: 'Count' | 'Latency' | '4XXError' | '5XXError'
      readonly statistic: Statistic
    }
  /** Percent of the requests; 0 for fewer than five errors, which would be many percent of a quiet night's requests. */
  | { readonly of: 'api-error-rate' }
  /** The 5xx responses of the route that has the most. */
  | { readonly of: 'route-errors' }
  /**
   * Percent of the messages of a channel that failed; 0 for fewer than five, or than three if at least half failed. A message counts
   * as failed, and as sent or delivered, when it reaches the status: those that fail after they were sent are compared with the ones that are sent at that time.
   */
  | { readonly of: 'message-failure-rate'; readonly channel: 'sms' | 'email' }
  /** Percent of the attempts that no webhook endpoint accepted; 0 for fewer than twenty, which one endpoint can make. */
  | { readonly of: 'delivery-failure-rate' }
  /** How long the email that waits longest has waited, in its queue or since it was accepted. */
  | { readonly of: 'email-wait' }
  /** The successful requests of the canary. */
  | { readonly of: 'canary' }
  /** The sum of metrics of the table. */
  | { readonly of: 'table'; readonly metrics: readonly TableMetric[] }
  /** The worst of the delivery streams. */
  | { readonly of: 'trail'; readonly metric: 'DeliveryToS3.DataFreshness' | 'DeliveryToS3.Success' }
  /** A metric of the account and region, without dimensions. */
  | {
      readonly of: 'account'
      readonly namespace: 'AWS/Lambda' | 'AWS/SES' | 'AWS/SNS'
      readonly metric: string
      readonly statistic: Statistic
    }

type TableMetric =
  | 'ReadThrottleEvents'
  | 'WriteThrottleEvents'
  | 'TransactionConflict'
  | 'ConsumedReadCapacityUnits'
  | 'ConsumedWriteCapacityUnits'

export function metricOf(figure: Figure, watched: Watched, minutes: number, label?: string): IMetric {
  const period = Duration.minutes(minutes)
  const metric = (
    namespace: string,
    metricName: string,
    statistic: string,
    dimensionsMap: Record<string, string> = {},
  ) => new Metric({ namespace, metricName, statistic, dimensionsMap, period, ...(label && { label }) })
  const ofApi = (name: string, statistic: Statistic) =>
    metric('AWS/ApiGateway', name, statistic, { ApiName: watched.api, Stage: watched.stage })
  const math = (expression: string, usingMetrics: Record<string, IMetric>, ownLabel?: string) => {
    const shown = label ?? ownLabel
    return new MathExpression({ expression, usingMetrics, period, ...(shown && { label: shown }) })
  }
  // The metrics of a graph share one space of ids.
  const sum = (name: string, parts: readonly Metric[]) => {
    const [first] = parts
    if (first && parts.length === 1) return first
    const usingMetrics = Object.fromEntries(parts.map((part, at) => [`${name}${at}`, part]))
    // A series that has no value in the period counts as 0.
    const expression = Object.keys(usingMetrics)
      .map((id) => `FILL(${id}, 0)`)
      .join(' + ')
    return math(expression, usingMetrics)
  }
  const worstOf = (
    streams: readonly string[],
    name: 'DeliveryToS3.DataFreshness' | 'DeliveryToS3.Success',
  ) => {
    const [worst, statistic, idle] =
      name === 'DeliveryToS3.Success' ? ['MIN', 'Average', 1] : ['MAX', 'Maximum', 0]
    const usingMetrics = Object.fromEntries(
      streams.map((stream, at) => [
        `trail${worst}${at}`,
        metric('AWS/Firehose', name, `${statistic}`, { DeliveryStreamName: stream }),
      ]),
    )
    // Nothing is late or failing in a stream that had no lines in the period.
    const filled = Object.keys(usingMetrics).map((id) => `FILL(${id}, ${idle})`)
    const expression = `${worst}([${filled.join(', ')}])`
    return math(expression, usingMetrics)
  }
  switch (figure.of) {
    case 'service':
      return metric(NAMESPACE, figure.metric, figure.statistic, {
        stage: watched.stage,
        ...figure.dimensions,
      })
    case 'queue':
      return metric('AWS/SQS', figure.metric, 'Maximum', { QueueName: watched.queueName(figure.queue) })
    case 'part':
      return sum(
        `${figure.part}${figure.metric}`,
        WORKERS.filter(({ part }) => part === figure.part).map(({ id }) =>
          metric('AWS/Lambda', figure.metric, 'Sum', { FunctionName: watched.functionName(id) }),
        ),
      )
    case 'worker':
      return metric('AWS/Lambda', figure.metric, 'Maximum', {
        FunctionName: watched.functionName(figure.worker),
      })
    case 'api':
      return ofApi(figure.metric, figure.statistic)
    case 'api-error-rate':
      return math(
        'IF(errors >= 5, 100 * errors / requests, 0)',
        { errors: ofApi('5XXError', 'Sum'), requests: ofApi('Count', 'Sum') },
        '% of requests',
      )
    case 'route-errors':
      return math(routeErrorsQuery(watched.stage), {}, '5xx')
    case 'message-failure-rate': {
      const { channel } = figure
      const of = (status: string) =>
        metric(NAMESPACE, 'message_status', 'Sum', { stage: watched.stage, channel, status })
      const others = 'MAX([FILL(sent, 0), FILL(delivered, 0)])'
      const isEnough = `failed >= 5 || (failed >= 3 && failed >= ${others})`
      return math(
        `IF(${isEnough}, 100 * failed / (failed + ${others}), 0)`,
        { failed: of('failed'), sent: of('sent'), delivered: of('delivered') },
        '% of messages',
      )
    }
    case 'delivery-failure-rate': {
      const attempts = (dimensions: Record<string, string> = {}) =>
        metric(NAMESPACE, 'delivery_attempt', 'Sum', { stage: watched.stage, ...dimensions })
      return math(
        'IF(attempts >= 20, 100 * (1 - FILL(delivered, 0) / attempts), 0)',
        { attempts: attempts(), delivered: attempts({ outcome: 'delivered' }) },
        '% of attempts',
      )
    }
    case 'email-wait': {
      // Seconds in the queue; milliseconds since it was accepted for an email that is queued again.
      const [queued, retried] = [
        metric('AWS/SQS', 'ApproximateAgeOfOldestMessage', 'Maximum', {
          QueueName: watched.queueName('emails'),
        }),
        metric(NAMESPACE, 'email_wait_ms', 'Maximum', { stage: watched.stage }),
      ]
      return math('MAX([FILL(queued, 0), FILL(retried, 0) / 1000])', { queued, retried })
    }
    case 'canary': {
      const invocations = (name: string) =>
        metric('AWS/Events', name, 'Sum', { RuleName: canaryName(watched.stage) })
      return math(
        // EventBridge records no zeros.
        'FILL(sent, 0) - FILL(failed, 0)',
        { sent: invocations('Invocations'), failed: invocations('FailedInvocations') },
        'successful requests',
      )
    }
    case 'table':
      return sum(
        'table',
        figure.metrics.map((name) => metric('AWS/DynamoDB', name, 'Sum', { TableName: watched.table })),
      )
    case 'trail':
      return worstOf(watched.trail, figure.metric)
    case 'account':
      return metric(figure.namespace, figure.metric, figure.statistic)
  }
}

/** The metric of 5xx responses by route. Its dimensions are fields of the gateway's access log. */
export const ROUTE_ERRORS = { metric: 'route_errors', dimensions: ['stage', 'method', 'route'] } as const

/** A query of CloudWatch Metrics Insights, which finds the routes by itself. An alarm reads one series: the route with the most errors. */
const routeErrorsQuery = (stage: string): string =>
  `SELECT SUM(${ROUTE_ERRORS.metric}) FROM SCHEMA(${NAMESPACE}, ${ROUTE_ERRORS.dimensions.join(', ')}) ` +
  `WHERE stage = '${stage}' GROUP BY method, route ORDER BY SUM() DESC LIMIT 1`

/** The properties of each part of the monitoring. */
export type MonitoringProps = {
  readonly settings: MonitoringSettings
  readonly watched: Watched
}
