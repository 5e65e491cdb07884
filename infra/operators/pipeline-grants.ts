import { Aws, type Stack } from 'aws-cdk-lib'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { tableFormatKey } from '../../shared/store/keys/operator.ts'
import { SMS_RECEIPTS_STACK, stackName, workersStackName } from '../settings/names.ts'
import type { StageSettings } from '../settings/stages.ts'

/** The regions of the stacks of a stage: copies of backups have a stack in another one. */
const regionsOf = (stack: Stack, { recovery: { backups } }: StageSettings): string[] => [
  stack.region,
  ...(backups?.copyRegion ? [backups.copyRegion] : []),
]

/**
 * CloudFormation has a role from `cdk bootstrap`: this role may only ask for a deployment. It has no use of the role for
 * look-ups, which can read everything in the account.
 */
export const deploymentGrant = (stack: Stack, stage: StageSettings): PolicyStatement =>
  new PolicyStatement({
    actions: ['sts:AssumeRole'],
    resources: regionsOf(stack, stage).flatMap((region) =>
      ['deploy', 'file-publishing'].map((name) =>
        stack.formatArn({
          service: 'iam',
          region: '',
          resource: 'role',
          resourceName: `cdk-${stage.bootstrapQualifier}-${name}-role-${stack.account}-${region}`,
        }),
      ),
    ),
  })

/** The pipeline shows what a deployment changes, and reads the version and the table of the deployment before. */
export const stackGrant = (stack: Stack, stage: StageSettings): PolicyStatement =>
  new PolicyStatement({
    actions: ['cloudformation:DescribeStacks', 'cloudformation:GetTemplate'],
    resources: regionsOf(stack, stage).flatMap((region) =>
      [stackName(stage.name), `${stackName(stage.name)}-*`, SMS_RECEIPTS_STACK].map((name) =>
        stack.formatArn({ service: 'cloudformation', region, resource: 'stack', resourceName: `${name}/*` }),
      ),
    ),
  })

/** The pipeline reads the format of the table, and nothing else of it (.github/table-format.sh). */
export function formatGrants(stack: Stack, { name }: StageSettings): PolicyStatement[] {
  const tables = `${stackName(name)}-*`
  return [
    new PolicyStatement({
      actions: ['dynamodb:GetItem'],
      resources: [stack.formatArn({ service: 'dynamodb', resource: 'table', resourceName: tables })],
      conditions: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': [tableFormatKey.pk] } },
    }),
    new PolicyStatement({
      actions: ['kms:Decrypt'],
      resources: [stack.formatArn({ service: 'kms', resource: 'key', resourceName: '*' })],
      conditions: {
        StringEquals: { 'kms:ViaService': `dynamodb.${stack.region}.${Aws.URL_SUFFIX}` },
        StringLike: { 'kms:EncryptionContext:aws:dynamodb:tableName': tables },
      },
    }),
  ]
}

/** The pipeline does not let CloudFormation watch alarms that are on before a deployment. */
export const alarmGrant = (): PolicyStatement =>
  new PolicyStatement({ actions: ['cloudwatch:DescribeAlarms'], resources: ['*'] })

/** The pipeline cancels an update of code while its smoke test fails. The deploy role of the bootstrap stack may not. */
export const cancellationGrant = (stack: Stack, { name }: StageSettings): PolicyStatement =>
  new PolicyStatement({
    actions: ['cloudformation:CancelUpdateStack'],
    resources: [workersStackName(name), stackName(name)].map((updated) =>
      stack.formatArn({ service: 'cloudformation', resource: 'stack', resourceName: `${updated}/*` }),
    ),
  })
