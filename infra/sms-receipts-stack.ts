import { RemovalPolicy, Stack } from 'aws-cdk-lib'
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { FilterPattern, LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { LambdaDestination } from 'aws-cdk-lib/aws-logs-destinations'
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources'
import type { Construct } from 'constructs'
import { stackName } from './clinic-stack.ts'

/**
 * Opt-in (`-c smsReceipts=on`): delivery receipts of SMS. SNS has one setting for the whole account and region, and
 * writes phone numbers into two log groups. These are kept for a day, and one function reads them.
 */
export class SmsReceiptsStack extends Stack {
  constructor(scope: Construct, stage: string, receipts: IFunction) {
    super(scope, `${stackName(stage)}-SmsReceipts`, {
      description: 'Clinic Developer API: delivery receipts of SMS, for the whole account',
    })
    const role = new Role(this, 'SnsLogs', { assumedBy: new ServicePrincipal('sns.amazonaws.com') })
    for (const [id, outcome] of [
      ['Delivered', ''],
      ['Failed', '/Failure'],
    ] as const) {
      const group = new LogGroup(this, id, {
        logGroupName: `sns/${this.region}/${this.account}/DirectPublishToPhoneNumber${outcome}`,
        retention: RetentionDays.ONE_DAY,
        removalPolicy: RemovalPolicy.DESTROY,
      })
      group.addSubscriptionFilter('Receipts', {
        destination: new LambdaDestination(receipts),
        filterPattern: FilterPattern.allEvents(),
      })
      role.addToPolicy(
        new PolicyStatement({
          actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
          resources: [group.logGroupArn],
        }),
      )
    }
    this.enableDeliveryStatus(role)
  }

  enableDeliveryStatus(role: Role): void {
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
  }
}
