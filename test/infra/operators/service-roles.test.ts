/** The roles of services and of the CDK's own functions: each may do what its work needs, and nothing else. */
import { describe, expect, it } from 'vitest'
import { ACCOUNT_ID } from '../../../infra/local/template/physical-names.ts'
import { COMBINATIONS, type Combination } from '../../support/combinations.ts'
import { deployedRoles, REGION, type ServiceRole } from '../../support/iam/deployed-roles.ts'
import { decide, grantsOf } from '../../support/iam/evaluation.ts'
import { templatesOf } from '../../support/template.ts'

const arn = (service: string, resource: string): string =>
  `arn:aws:${service}:${REGION}:${ACCOUNT_ID}:${resource}`
const stream = (group: string): string => arn('logs', `log-group:${group}:log-stream:1`)

type Call = readonly [action: string, resource: string]
const calls = (actions: readonly string[], resources: readonly string[]): Call[] =>
  actions.flatMap((action) => resources.map((resource) => [action, resource] as const))

/** The calls that each role is for, and its policies of AWS, which allow more. Names end with a hash, which is left out. */
const NEEDED: Record<string, { readonly calls: readonly Call[]; readonly managed?: string }> = {
  // The canary: one destination, of which the connection has the credential.
  MonitoringCanaryDestinationEventsRole: {
    calls: [
      [
        'events:InvokeApiDestination',
        arn('events', 'api-destination/ClinicDeveloperApi-STAGE-Monitoring-Canary/1'),
      ],
    ],
  },
  // SMS receipts: SNS writes into two groups, and two functions of the CDK switch them on and limit their retention.
  SnsLogs: {
    calls: calls(
      ['logs:CreateLogGroup', 'logs:CreateLogStream', 'logs:PutLogEvents'],
      ['', '/Failure'].map((outcome) =>
        stream(`sns/${REGION}/${ACCOUNT_ID}/DirectPublishToPhoneNumber${outcome}`),
      ),
    ),
  },
  AWS679f53fac002430cb0da5b7982bd2287ServiceRole: {
    calls: [
      ['sns:SetSMSAttributes', '*'],
      ['iam:PassRole', `arn:aws:iam::${ACCOUNT_ID}:role/ClinicDeveloperApi-SmsReceipts-SnsLogs`],
    ],
    managed: 'AWSLambdaBasicExecutionRole',
  },
  LogRetentionaae0aa3c5b4d4f87b02d85b201efdd8aServiceRole: {
    calls: calls(['logs:PutRetentionPolicy', 'logs:DeleteRetentionPolicy'], [arn('logs', 'log-group:any')]),
    managed: 'AWSLambdaBasicExecutionRole',
  },
  AccessTrailDeliveryRole: {
    calls: [
      ...calls(
        ['s3:PutObject', 's3:AbortMultipartUpload'],
        ['access', 'operator', 'errors'].map(
          (prefix) => `arn:aws:s3:::ClinicDeveloperApi-STAGE-Data-AccessTrailBucket/${prefix}/1`,
        ),
      ),
      ...calls(
        ['s3:GetBucketLocation', 's3:ListBucket', 's3:ListBucketMultipartUploads'],
        ['arn:aws:s3:::ClinicDeveloperApi-STAGE-Data-AccessTrailBucket'],
      ),
      ...calls(
        ['logs:CreateLogStream', 'logs:PutLogEvents'],
        [stream('ClinicDeveloperApi-STAGE-Data-AccessTrailDeliveryErrors')],
      ),
    ],
  },
  AccessTrailSubscriptionRole: {
    calls: calls(
      ['firehose:PutRecord', 'firehose:PutRecordBatch'],
      ['Delivery', 'OperatorDelivery'].map((id) =>
        arn('firehose', `deliverystream/ClinicDeveloperApi-STAGE-Data-AccessTrail${id}`),
      ),
    ),
  },
  PlanTableRole: { calls: [], managed: 'AWSBackupServiceRolePolicyForBackup' },
  ApiRestCloudWatchRole: { calls: [], managed: 'AmazonAPIGatewayPushToCloudWatchLogs' },
}

/** What none of them may do, besides what they are for. */
const DENIED: readonly Call[] = [
  ['dynamodb:GetItem', arn('dynamodb', 'table/ClinicDeveloperApi-STAGE-Data-Table1')],
  ['dynamodb:PutItem', arn('dynamodb', 'table/ClinicDeveloperApi-STAGE-Data-Table1')],
  ['s3:GetObject', 'arn:aws:s3:::ClinicDeveloperApi-STAGE-Data-AccessTrailBucket/access/1'],
  ['s3:DeleteObject', 'arn:aws:s3:::ClinicDeveloperApi-STAGE-Data-AccessTrailBucket/access/1'],
  ['sqs:SendMessage', arn('sqs', 'clinic-STAGE-emails')],
  ['lambda:InvokeFunction', arn('lambda', 'function:clinic-STAGE-get-patient')],
  ['secretsmanager:GetSecretValue', arn('secretsmanager', 'secret:clinic-STAGE-canary')],
  ['sns:Publish', arn('sns', 'topic')],
  ['iam:PassRole', `arn:aws:iam::${ACCOUNT_ID}:role/cdk-hnb659fds-cfn-exec-role-${ACCOUNT_ID}-${REGION}`],
  ['sts:AssumeRole', `arn:aws:iam::${ACCOUNT_ID}:role/cdk-hnb659fds-deploy-role-${ACCOUNT_ID}-${REGION}`],
  ['events:InvokeApiDestination', arn('events', 'api-destination/other/1')],
  ['logs:GetLogEvents', stream('ClinicDeveloperApi-STAGE-Data-EndpointLogs')],
]

/** Without the hashes of logical ids and the id of a destination, in the account and region of these tests. */
const withoutHashes = (text: string): string =>
  text
    .replace(/MonitoringCanaryDestinationApiDestination.*$/, 'Canary/1')
    .replaceAll(/(?<=[a-z])[0-9A-F]{8}(?![0-9a-zA-Z-])/g, '')
    .replaceAll('111122223333', ACCOUNT_ID)
    .replaceAll('eu-central-1', REGION)

/** All options: every role exists. */
const allOptions = (stage: string): Combination =>
  COMBINATIONS.filter((combination) => combination.stage === stage).at(-1) as Combination

describe.each(['dev', 'prod'])('the roles of services in %s', (stage) => {
  const stacks = Object.entries(templatesOf(stage, allOptions(stage).settings)).map(
    ([stackName, template]) => ({ stackName, template: template as never }),
  )
  const { services } = deployedRoles(stacks)
  const roles = new Map<string, ServiceRole>(services.map((role) => [withoutHashes(role.id), role]))
  const ofStage = (text: string): string => text.replaceAll('STAGE', stage)
  /** The statements with the names that the table has. */
  const named = ({ statements, ...role }: ServiceRole): ServiceRole => ({
    ...role,
    statements: statements.map((statement) => ({
      ...statement,
      Resource: [statement.Resource ?? []].flat().map(withoutHashes),
    })),
  })

  it('are those of the table, each with the policies of AWS that it names', () => {
    expect(Object.fromEntries([...roles].map(([id, { managed }]) => [id, managed]))).toEqual(
      Object.fromEntries(Object.entries(NEEDED).map(([id, { managed }]) => [id, managed ? [managed] : []])),
    )
  })

  it.each(Object.keys(NEEDED))('%s has exactly the grants that it needs', async (id) => {
    const role = named(roles.get(id) as ServiceRole)
    const used = new Set<string>()
    for (const [action, resource] of NEEDED[id]?.calls ?? []) {
      const request = { action, resource: ofStage(resource), context: {} }
      const { allowed, grants } = await decide(role, request, { keyPolicies: new Map() })
      expect([action, resource, allowed]).toEqual([action, resource, true])
      for (const grant of grants) used.add(grant)
    }
    const unused = grantsOf(role).filter((grant) => !used.has(grant.id))
    expect(unused.map(({ statement }) => statement)).toEqual([])
    for (const [action, resource] of DENIED) {
      const request = { action, resource: ofStage(resource), context: {} }
      const { allowed } = await decide(role, request, { keyPolicies: new Map() })
      expect([action, resource, allowed]).toEqual([action, resource, false])
    }
  })
})
