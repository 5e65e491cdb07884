import { describe, expect, it } from 'vitest'
import { functionIds } from '../../../infra/stacks/deployment.ts'
import { ENDPOINTS } from '../../../shared/api/routes.ts'
import {
  logicalIdAt,
  type Resource,
  resourceOfFunction,
  resourcesOf,
  type Statement,
  settingsOf,
  templateOf,
} from '../../support/template.ts'
import { arnOf, dev, imported, refTo } from '../stacks/expected-template.ts'

const prod = templateOf('prod')

const [stream = ''] = Object.keys(resourcesOf(dev, 'AWS::KinesisFirehose::DeliveryStream'))
const streamArn = { 'Fn::GetAtt': [stream, 'Arn'] }

const bucketOf = (template: typeof dev) =>
  (resourcesOf(template, 'AWS::S3::Bucket') as Record<string, Resource & { DeletionPolicy: string }>)[
    logicalIdAt(template, 'AccessTrail/Bucket')
  ]

const statementsOf = (path: string): Statement[] => {
  const { Properties } = resourcesOf(dev, 'AWS::IAM::Role')[logicalIdAt(dev, path)] as Resource
  const { Policies } = Properties as unknown as { Policies: { PolicyDocument: { Statement: Statement[] } }[] }
  return Policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
}

const OBJECTS = (prefix: string) => ({ 'Fn::Join': ['', [arnOf('AccessTrail/Bucket'), `/${prefix}/*`]] })

describe('the access trail', () => {
  it('follows the log group of the endpoints and of the operator tool, and no other, each once', () => {
    const filters = Object.values(resourcesOf(dev, 'AWS::Logs::SubscriptionFilter')).map(
      ({ Properties }) => Properties as unknown as Record<string, unknown>,
    )
    expect(filters).toEqual(
      [refTo('AccessTrail/OperatorLog'), refTo('EndpointLogs')]
        .map((LogGroupName) => ({
          LogGroupName,
          FilterPattern: '{ $.type = "access" }',
          DestinationArn: streamArn,
          RoleArn: arnOf('AccessTrail/SubscriptionRole'),
        }))
        .map((filter) => expect.objectContaining(filter)),
    )
    for (const { id } of ENDPOINTS)
      expect(resourceOfFunction(dev, 'AWS::Lambda::Function', id).Properties).toMatchObject({
        LoggingConfig: { LogGroup: imported('EndpointLogGroup') },
      })
  })

  it('is delivered as lines, compressed and encrypted with a key of its own, by day', () => {
    dev.hasResourceProperties('AWS::KinesisFirehose::DeliveryStream', {
      DeliveryStreamEncryptionConfigurationInput: { KeyType: 'AWS_OWNED_CMK' },
      ExtendedS3DestinationConfiguration: {
        Prefix: 'access/day=!{timestamp:yyyy-MM-dd}/',
        CompressionFormat: 'GZIP',
        EncryptionConfiguration: { KMSEncryptionConfig: { AWSKMSKeyARN: arnOf('AccessTrail/Key') } },
        ProcessingConfiguration: {
          Processors: [
            { Type: 'Decompression' },
            { Type: 'CloudWatchLogProcessing' },
            { Type: 'AppendDelimiterToRecord' },
          ],
        },
      },
    })
    expect(arnOf('AccessTrail/Key')).not.toEqual(arnOf('Data/TableKey'))
  })

  it('cannot be changed or deleted for six years in production, not even by the account’s owner', () => {
    expect(bucketOf(prod)).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      Properties: {
        ObjectLockEnabled: true,
        ObjectLockConfiguration: { Rule: { DefaultRetention: { Mode: 'COMPLIANCE', Days: 2192 } } },
        VersioningConfiguration: { Status: 'Enabled' },
        LifecycleConfiguration: {
          Rules: [
            {
              ExpirationInDays: 2193,
              Transitions: [{ StorageClass: 'GLACIER_IR', TransitionInDays: 90 }],
            },
            { ExpiredObjectDeleteMarker: true },
          ],
        },
      },
    })
  })

  it('expires after a week in development, without a lock, and its bucket does not block the deletion of the stack', () => {
    const bucket = bucketOf(dev)
    expect(bucket?.DeletionPolicy).toBe('RetainExceptOnCreate')
    expect(bucket?.Properties).not.toHaveProperty('ObjectLockConfiguration')
    expect(bucket?.Properties).toMatchObject({
      LifecycleConfiguration: { Rules: [{ ExpirationInDays: 8 }, {}] },
    })
  })

  it('is in a private bucket that denies requests without TLS', () => {
    expect(bucketOf(dev)?.Properties).toMatchObject({
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
    })
    type Policy = { PolicyDocument: { Statement: (Statement & { Effect: string })[] } }
    const statements = Object.values(resourcesOf(dev, 'AWS::S3::BucketPolicy')).flatMap(
      ({ Properties }) => (Properties as unknown as Policy).PolicyDocument.Statement,
    )
    expect(statements.map(({ Effect, Condition }) => [Effect, Condition])).toEqual([
      ['Deny', { Bool: { 'aws:SecureTransport': 'false' } }],
      ['Deny', { NumericLessThan: { 's3:TlsVersion': 1.2 } }],
    ])
  })

  it('is written by roles that can do nothing else, and read or deleted by none', () => {
    expect(statementsOf('AccessTrail/SubscriptionRole')).toEqual([
      {
        Effect: 'Allow',
        Action: ['firehose:PutRecord', 'firehose:PutRecordBatch'],
        Resource: streamArn,
      },
    ])
    const granted = statementsOf('AccessTrail/DeliveryRole').map(({ Action, Resource }) => [Action, Resource])
    expect(granted).toEqual([
      [
        ['s3:PutObject', 's3:AbortMultipartUpload'],
        [OBJECTS('access'), OBJECTS('errors')],
      ],
      [
        ['s3:GetBucketLocation', 's3:ListBucket', 's3:ListBucketMultipartUploads'],
        arnOf('AccessTrail/Bucket'),
      ],
      [['kms:Decrypt', 'kms:GenerateDataKey'], arnOf('AccessTrail/Key')],
      [['logs:CreateLogStream', 'logs:PutLogEvents'], arnOf('AccessTrail/DeliveryErrors')],
    ])
    const roles = JSON.stringify(Object.values(resourcesOf(dev, 'AWS::IAM::Role')))
    expect(roles).not.toMatch(/s3:(GetObject|Delete|\*)|BypassGovernance/)
  })

  it('leaves the functions without access to it', () => {
    const policies = Object.entries(resourcesOf(dev, 'AWS::IAM::Role')).filter(
      ([id]) => !id.startsWith('AccessTrail'),
    )
    expect(policies.length).toBeGreaterThanOrEqual(functionIds().length)
    expect(JSON.stringify(policies)).not.toMatch(/firehose|s3:/)
  })
})

it.each([
  ['development', dev],
  ['production', prod],
])('log groups of %s keep 30 days', (_, template) => {
  const groups = Object.values(resourcesOf(template, 'AWS::Logs::LogGroup'))
  expect(groups.length).toBe(5)
  expect(new Set(groups.map(({ Properties }) => Properties.RetentionInDays))).toEqual(new Set([30]))
})

describe('the retention of the trail', () => {
  it('is taken from the context of the deployment', () => {
    const { accessTrail } = settingsOf('prod', { accessRetentionDays: '3653' })
    expect([accessTrail.retention.toDays(), accessTrail.locked]).toEqual([3653, true])
  })

  it.each(['', '0', '-1', '1.5', '7d', '36501', ' 7', '1e3'])('is not %j', (accessRetentionDays) => {
    expect(() => settingsOf('prod', { accessRetentionDays })).toThrow(/^accessRetentionDays must be a number/)
  })
})
