import { ArnFormat, type Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import { apiName, dataStackName, functionName, stackName } from '../settings/names.ts'

/** Calls of the account that know no narrower resource. None of them shows data of a clinic. */
const ACCOUNT_CALLS = [
  ...['backup:ListBackupJobs', 'backup:ListCopyJobs', 'cloudtrail:LookupEvents'],
  ...['cloudwatch:DescribeAlarmHistory', 'cloudwatch:DescribeAlarms', 'cloudwatch:GetMetricData'],
  ...['cloudwatch:GetMetricStatistics', 'cloudwatch:ListDashboards', 'cloudwatch:ListMetrics'],
  ...['events:ListRules', 'lambda:GetAccountSettings', 'lambda:ListEventSourceMappings'],
  ...['logs:DescribeLogGroups', 'logs:DescribeQueryDefinitions', 'logs:GetQueryResults', 'logs:StopQuery'],
  ...['ses:GetAccount', 'ses:ListEmailIdentities'],
  ...['sns:GetSMSAttributes', 'sns:GetSMSSandboxAccountStatus'],
]

/**
 * What the person on call reads: metrics, saved queries, and the settings and states of the stage's queues and functions, of SES and
 * of SNS. Log lines have ids of records, but nothing else of a patient; the table and the messages of queues are not readable.
 * @param logs the log groups that the saved queries read
 */
export function onCallStatements(stack: Stack, stage: string, logs: readonly ILogGroup[]): PolicyStatement[] {
  const arn = (service: string, resource: string, resourceName: string) =>
    stack.formatArn({ service, resource, resourceName })
  const named = (service: string, resource: string, resourceName: string) =>
    stack.formatArn({ service, resource, resourceName, arnFormat: ArnFormat.COLON_RESOURCE_NAME })
  const allow = (actions: string[], resources: string[]) => new PolicyStatement({ actions, resources })
  const groups = logs.map(({ logGroupArn }) => logGroupArn)
  // The errors of Firehose, which writes the access trail.
  const trailErrors = named('logs', 'log-group', `${dataStackName(stage)}-AccessTrailDeliveryErrors*`)
  return [
    allow(ACCOUNT_CALLS, ['*']),
    allow(
      ['cloudformation:DescribeStackEvents', 'cloudformation:DescribeStacks'],
      [...['', '-*'].map((others) => arn('cloudformation', 'stack', `${stackName(stage)}${others}/*`))],
    ),
    allow(
      ['cloudwatch:GetDashboard'],
      [
        stack.formatArn({
          service: 'cloudwatch',
          region: '',
          resource: 'dashboard',
          resourceName: apiName(stage),
        }),
      ],
    ),
    allow(['logs:FilterLogEvents', 'logs:StartQuery'], [...groups, trailErrors]),
    // Queues have names like functions.
    allow(
      ['sqs:GetQueueAttributes', 'sqs:GetQueueUrl'],
      [stack.formatArn({ service: 'sqs', resource: functionName(stage, '*') })],
    ),
    allow(
      ['lambda:GetFunctionConcurrency', 'lambda:GetFunctionConfiguration'],
      [named('lambda', 'function', functionName(stage, '*'))],
    ),
    allow(['ses:GetEmailIdentity'], [arn('ses', 'identity', '*')]),
    allow(['events:DescribeRule'], [arn('events', 'rule', '*')]),
    allow(['kms:DescribeKey'], [arn('kms', 'key', '*')]),
  ]
}
