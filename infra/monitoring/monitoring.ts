import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import { EventField, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events'
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets'
import { CfnMetricFilter, CfnQueryDefinition } from 'aws-cdk-lib/aws-logs'
import type { Topic } from 'aws-cdk-lib/aws-sns'
import { Construct } from 'constructs'
import { NAMESPACE } from '../../shared/observability/metrics.ts'
import type { Severity } from './alarm.ts'
import { Alarms } from './alarms.ts'
import { addCanary } from './canary.ts'
import { Dashboard } from './dashboard.ts'
import { type MonitoringProps, ROUTE_ERRORS, type Watched } from './figures.ts'
import { NOTICES } from './notices.ts'
import { QUERIES, type Query, queryText } from './queries.ts'

/** Alarms, a dashboard and saved queries for operators. They refer to the watched resources by name only. */
export class Monitoring extends Construct {
  constructor(scope: Construct, id: string, props: MonitoringProps) {
    super(scope, id)
    const { settings, watched } = props
    const { composites, alarms, topics } = new Alarms(this, 'Alarms', props)
    new Dashboard(this, 'Dashboard', { watched, composites, alarms })
    addQueries(this, watched)
    addRouteErrors(this, watched)
    addNotices(this, topics, watched)
    if (settings.canary) addCanary(this, watched.stage, settings.canary)
    const urgent = topics.get('patients-affected')
    if (settings.monthlyBudget !== undefined && urgent)
      addBudget(this, settings.monthlyBudget, urgent.topicArn)
  }
}

function logGroups({ logs }: Query, { functionLogs, gatewayLogs }: Watched): string[] {
  return [...(logs === 'gateway' ? [] : functionLogs), ...(logs === 'functions' ? [] : [gatewayLogs])]
}

function addQueries(scope: Construct, watched: Watched): void {
  for (const [name, query] of Object.entries(QUERIES))
    new CfnQueryDefinition(scope, `Query-${name}`, {
      name: `clinic-developer-api-${watched.stage}/${name}`,
      queryString: queryText(query),
      logGroupNames: logGroups(query, watched),
    })
}

/**
 * Counts the 5xx responses of each route, from the gateway's access log. Only routes that had errors have a series, so it costs far less than
 * the gateway's own metrics of methods.
 */
function addRouteErrors(scope: Construct, { gatewayLogs }: Watched): void {
  new CfnMetricFilter(scope, 'RouteErrors', {
    logGroupName: gatewayLogs,
    filterPattern: '{ $.status = "5*" }',
    metricTransformations: [
      {
        metricNamespace: NAMESPACE,
        metricName: ROUTE_ERRORS.metric,
        metricValue: '1',
        dimensions: ROUTE_ERRORS.dimensions.map((key) => ({ key, value: `$.${key}` })),
      },
    ],
  })
}

/** Sends the events of the table of notices to the topics of their severities. */
function addNotices(scope: Construct, topics: ReadonlyMap<Severity, Topic>, watched: Watched): void {
  for (const { id, severity, why, page, pattern } of NOTICES) {
    const text = `${why} At ${EventField.time}, event ${EventField.eventId} (${EventField.detailType}). Runbook: docs/operate/${page}.md`
    new Rule(scope, id, {
      description: why,
      eventPattern: pattern(watched),
      targets: [new SnsTopic(topics.get(severity) as Topic, { message: RuleTargetInput.fromText(text) })],
    })
  }
}

/** Notifies when four fifths of the budget are spent, and when the forecast of the month exceeds it. */
function addBudget(scope: Construct, amount: number, topic: string): void {
  const notify = (notificationType: string, threshold: number) => ({
    notification: {
      notificationType,
      comparisonOperator: 'GREATER_THAN',
      threshold,
      thresholdType: 'PERCENTAGE',
    },
    subscribers: [{ subscriptionType: 'SNS', address: topic }],
  })
  new CfnBudget(scope, 'Budget', {
    budget: {
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount, unit: 'USD' },
    },
    notificationsWithSubscribers: [notify('ACTUAL', 80), notify('FORECASTED', 100)],
  })
}
