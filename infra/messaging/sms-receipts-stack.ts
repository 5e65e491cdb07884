import { Stack } from 'aws-cdk-lib'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { Function as Lambda } from 'aws-cdk-lib/aws-lambda'
import { FilterPattern, LogGroup, LogRetention, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { LambdaDestination } from 'aws-cdk-lib/aws-logs-destinations'
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources'
import type { Construct } from 'constructs'
import { SMS_RECEIPTS_STACK } from '../settings/names.ts'
import type { StageSettings } from '../settings/stages.ts'

/** The log groups that SNS writes delivery receipts to. It chooses their names. */
const LOG_GROUPS = { Delivered: '', Failed: '/Failure' }

const logGroupNames = ({ region, account }: Stack) =>
  Object.entries(LOG_GROUPS).map(
    ([id, suffix]) => [id, `sns/${region}/${account}/DirectPublishToPhoneNumber${suffix}`] as const,
  )

/**
 * Delivery receipts of SMS (`smsReceipts`). Beyond the account's spending limit, SNS accepts SMS and drops them: only a receipt
 * reports it. SNS has one setting for the whole account and region, so this is one stack for all stages there. It writes phone
 * numbers into two log groups, which are kept for a day.
 */
export class SmsReceiptsStack extends Stack {
  constructor(scope: Construct, { env }: Pick<StageSettings, 'env'>) {
    super(scope, SMS_RECEIPTS_STACK, {
      description: 'Clinic Developer API: delivery receipts of SMS, for the whole account and region',
      env,
    })
    const groups = logGroupNames(this).map(([id, logGroupName]) => {
      // SNS may have created the group before. Unlike a log group of the template, this adopts it.
      new LogRetention(this, id, { logGroupName, retention: RetentionDays.ONE_DAY })
      return LogGroup.fromLogGroupName(this, `${id}Group`, logGroupName)
    })
    const writeLogs = new PolicyStatement({
      actions: ['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: groups.map(({ logGroupArn }) => logGroupArn),
    })
    const role = new Role(this, 'SnsLogs', {
      assumedBy: new ServicePrincipal('sns.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': this.account } },
      }),
      inlinePolicies: { Logs: new PolicyDocument({ statements: [writeLogs] }) },
    })
    this.#enableDeliveryStatus(role)
  }

  #enableDeliveryStatus(role: Role): void {
    const samplingRateCall = (rate: string) => ({
      service: 'SNS',
      action: 'setSMSAttributes',
      parameters: {
        attributes: { DeliveryStatusIAMRole: role.roleArn, DeliveryStatusSuccessSamplingRate: rate },
      },
      physicalResourceId: PhysicalResourceId.of('sms-receipts'),
    })
    new AwsCustomResource(this, 'Switch', {
      onUpdate: samplingRateCall('100'),
      onDelete: samplingRateCall('0'),
      installLatestAwsSdk: false,
      policy: AwsCustomResourcePolicy.fromStatements([
        new PolicyStatement({ actions: ['sns:SetSMSAttributes'], resources: ['*'] }),
        new PolicyStatement({ actions: ['iam:PassRole'], resources: [role.roleArn] }),
      ]),
    })
    // With a log group of the template it would be another function, which CloudFormation refuses.
    const uuid = AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll('-', '')
    const { functionName } = this.node.findChild(`AWS${uuid}`) as Lambda
    new LogRetention(this, 'SwitchLogs', {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: RetentionDays.ONE_DAY,
    })
  }
}

/** Invokes a function with the receipts of all SMS of the account. The groups must exist: see {@link SmsReceiptsStack}. */
export function subscribeToSmsReceipts(scope: Construct, lambda: Lambda): void {
  for (const [id, logGroupName] of logGroupNames(Stack.of(scope)))
    LogGroup.fromLogGroupName(scope, id, logGroupName).addSubscriptionFilter('Receipts', {
      destination: new LambdaDestination(lambda),
      filterPattern: FilterPattern.allEvents(),
    })
}
