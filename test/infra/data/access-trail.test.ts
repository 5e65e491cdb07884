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

const streams = resourcesOf(dev, 'AWS::KinesisFirehose::DeliveryStream')
const arnOfStream = (name: string) => ({
  'Fn::GetAtt': [Object.keys(streams).find((id) => id.startsWith(`AccessTrail${name}`)), 'Arn'],
})
const requestStream = arnOfStream('Delivery')
const operatorStream = arnOfStream('OperatorDelivery')

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
  it('follows the log groups of the endpoints and of the operator tool, and no other, each with a stream of its own', () => {
    const filters = Object.values(resourcesOf(dev, 'AWS::Logs::SubscriptionFilter')).map(
      ({ Properties }) => Properties as unknown as Record<string, unknown>,
    )
    expect(filters).toEqual(
      [
        [refTo('AccessTrail/OperatorLog'), operatorStream],
        [refTo('EndpointLogs'), requestStream],
      ]
        .map(([LogGroupName, DestinationArn]) => ({
          LogGroupName,
          FilterPattern: '{ $.type = "access" }',
          DestinationArn,
          RoleArn: arnOf('AccessTrail/SubscriptionRole'),
        }))
        .map((filter) => expect.objectContaining(filter)),
    )
    for (const { id } of ENDPOINTS)
      expect(resourceOfFunction(dev, 'AWS::Lambda::Function', id).Properties).toMatchObject({
        LoggingConfig: { LogGroup: imported('EndpointLogGroup') },
      })
  })

  it.each([
    ['requests', requestStream, 'access'],
    ['the operator tool', operatorStream, 'operator'],
  ])('has lines of %s, compressed, by day, under a prefix that no line can change', (_, arn, folder) => {
    const { Properties } = streams[arn['Fn::GetAtt'][0] ?? ''] as Resource
    expect(Properties).toMatchObject({
      DeliveryStreamEncryptionConfigurationInput: { KeyType: 'AWS_OWNED_CMK' },
      ExtendedS3DestinationConfiguration: {
        Prefix: `${folder}/day=!{timestamp:yyyy-MM-dd}/`,
        CompressionFormat: 'GZIP',
        ProcessingConfiguration: {
          Processors: [
            { Type: 'Decompression' },
            { Type: 'CloudWatchLogProcessing' },
            { Type: 'AppendDelimiterToRecord' },
          ],
        },
      },
    })
  })

  it('is encrypted with a key that the account cannot delete', () => {
    expect(bucketOf(prod)?.Properties).toMatchObject({
      BucketEncryption: {
        ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
      },
    })
    expect(Object.keys(resourcesOf(prod, 'AWS::KMS::Key'))).not.toContainEqual(
      expect.stringContaining('AccessTrail'),
    )
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

  it('is in a bucket without access lists that denies requests without TLS 1.2', () => {
    expect(bucketOf(dev)?.Properties).toMatchObject({
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
        Resource: [requestStream, operatorStream],
      },
    ])
    const granted = statementsOf('AccessTrail/DeliveryRole').map(({ Action, Resource }) => [Action, Resource])
    expect(granted).toEqual([
      [
        ['s3:PutObject', 's3:AbortMultipartUpload'],
        [OBJECTS('access'), OBJECTS('operator'), OBJECTS('errors')],
      ],
      [
        ['s3:GetBucketLocation', 's3:ListBucket', 's3:ListBucketMultipartUploads'],
        arnOf('AccessTrail/Bucket'),
      ],
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
  expect(groups.length).toBe(6)
  expect(new Set(groups.map(({ Properties }) => Properties.RetentionInDays))).toEqual(new Set([30]))
})

describe('the retention of the trail', () => {
  it('is taken from the context of the deployment', () => {
    const { accessTrail } = settingsOf('prod', { accessRetentionDays: '3653' })
    expect([accessTrail.retention.toDays(), accessTrail.locked]).toEqual([3653, true])
  })

  it.each(['', '0', '-1', '1.5', '7d', '36501', ' 7', '1e3'])('is not %j', (accessRetentionDays) => {
    expect(() => settingsOf('prod', { accessRetentionDays })).toThrow(
      /- accessRetentionDays must be a number/,
    )
  })
})
