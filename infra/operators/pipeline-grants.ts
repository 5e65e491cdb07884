import { ArnFormat, Aws, type Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { tableFormatKey } from '../../shared/store/keys/operator.ts'
import { stackName } from '../settings/names.ts'

/** The default of `cdk bootstrap`. */
const BOOTSTRAP_QUALIFIER = 'hnb659fds'

/**
 * CloudFormation has a role from `cdk bootstrap`: this role may only ask for a deployment. In all regions of the
 * account, since copies of backups have a stack in another one.
 */
export const deploymentGrant = (stack: Stack): PolicyStatement =>
  new PolicyStatement({
    actions: ['sts:AssumeRole'],
    resources: ['deploy', 'file-publishing', 'lookup'].map((name) =>
      stack.formatArn({
        service: 'iam',
        region: '',
        resource: 'role',
        resourceName: `cdk-${BOOTSTRAP_QUALIFIER}-${name}-role-${Aws.ACCOUNT_ID}-*`,
      }),
    ),
  })

/** The grants of `clinic migrate --check`: it reads the format of the table, and nothing else of it. */
export function formatCheckGrants(stack: Stack, stage: string): PolicyStatement[] {
  const prefix = stackName(stage)
  const { pk } = tableFormatKey
  return [
    new PolicyStatement({
      actions: ['cloudformation:DescribeStacks'],
      resources: [
        stack.formatArn({ service: 'cloudformation', resource: 'stack', resourceName: `${prefix}/*` }),
      ],
    }),
    new PolicyStatement({
      actions: ['dynamodb:GetItem'],
      resources: [stack.formatArn({ service: 'dynamodb', resource: 'table', resourceName: `${prefix}-*` })],
      conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [pk] } },
    }),
    new PolicyStatement({
      actions: ['kms:Decrypt'],
      resources: [stack.formatArn({ service: 'kms', resource: 'key', resourceName: '*' })],
      conditions: {
        StringEquals: { 'kms:ViaService': `dynamodb.${Aws.REGION}.${Aws.URL_SUFFIX}` },
        StringLike: { 'kms:EncryptionContext:aws:dynamodb:tableName': `${prefix}-*` },
      },
    }),
    // The line that each command leaves in the access trail.
    new PolicyStatement({
      actions: ['logs:PutLogEvents'],
      resources: [
        stack.formatArn({
          service: 'logs',
          resource: 'log-group',
          resourceName: `${prefix}-*:log-stream:*`,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ],
    }),
  ]
}

/** The pipeline watches the alarms after a deployment. CloudWatch shows composite alarms only to callers that may describe all alarms. */
export const alarmGrant = (): PolicyStatement =>
  new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] })
