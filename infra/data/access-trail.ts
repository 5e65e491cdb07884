import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { type IRole, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { CfnDeliveryStream } from 'aws-cdk-lib/aws-kinesisfirehose'
import {
  FilterPattern,
  type ILogSubscriptionDestination,
  type LogGroup,
  LogStream,
} from 'aws-cdk-lib/aws-logs'
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  ObjectOwnership,
  StorageClass,
} from 'aws-cdk-lib/aws-s3'
import { Construct } from 'constructs'
import { ACCESS_TYPE, OPERATOR_LOG_STREAM } from '../../shared/observability/access.ts'
import { objectLock, type StageSettings } from '../settings/stages.ts'
import { logGroup } from './observability.ts'

/**
 * The prefixes that Firehose writes to in the bucket, by day (UTC): lines of requests, lines of the operator tool, and records that it
 * could not process. An operator writes the latter's contents, but not their prefix.
 */
const PREFIX = { requests: 'access/', operator: 'operator/', errors: 'errors/' }

/** How long Firehose collects lines for one object. */
const BUFFER = { intervalInSeconds: 300, sizeInMBs: 64 }

/** Objects that are kept for long move here. Athena still reads them at once. */
const ARCHIVE_AFTER = Duration.days(90)

/**
 * The access trail: subscription filters select the `access` lines of log groups, and Firehose writes them into a bucket
 * whose objects cannot be changed. No request waits for any of it.
 */
export class AccessTrail extends Construct {
  readonly bucket: Bucket
  /** The operator tool writes its lines here. */
  readonly operatorLog: LogGroup
  /** The names of its delivery streams: one for requests, and one for what operators say that they did. */
  readonly streamNames: { readonly requests: string; readonly operator: string }
  readonly #requests: ILogSubscriptionDestination

  constructor(scope: Construct, id: string, stage: StageSettings) {
    super(scope, id)
    this.bucket = trailBucket(this, stage)
    const deliver = deliveryStreams(this, stage, this.bucket)
    const requests = deliver('Delivery', PREFIX.requests)
    const operator = deliver('OperatorDelivery', PREFIX.operator)
    this.streamNames = { requests: requests.ref, operator: operator.ref }
    const role = subscriptionRole(this, [requests, operator])
    this.#requests = { bind: () => ({ arn: requests.attrArn, role }) }
    this.operatorLog = logGroup(this, 'OperatorLog', stage)
    new LogStream(this, 'OperatorStream', {
      logGroup: this.operatorLog,
      logStreamName: OPERATOR_LOG_STREAM,
      removalPolicy: stage.removalPolicy,
    })
    subscribe(this.operatorLog, { bind: () => ({ arn: operator.attrArn, role }) })
  }

  /** Adds the `access` lines of the log group of endpoints to the trail. */
  follow(logs: LogGroup): void {
    subscribe(logs, this.#requests)
  }
}

function subscribe(logs: LogGroup, destination: ILogSubscriptionDestination): void {
  logs.addSubscriptionFilter('Access', {
    destination,
    filterPattern: FilterPattern.stringValue('$.type', '=', ACCESS_TYPE),
  })
}

function trailBucket(scope: Construct, { accessTrail }: StageSettings): Bucket {
  const { retention } = accessTrail
  // An object can be deleted from the day after its lock ended.
  const expiration = retention.plus(Duration.days(1))
  const isLong = retention.toDays() > 2 * ARCHIVE_AFTER.toDays()
  return new Bucket(scope, 'Bucket', {
    // A key of the account could be deleted, and the locked objects would be unreadable.
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
    enforceSSL: true,
    minimumTLSVersion: 1.2,
    versioned: true,
    ...objectLock(accessTrail),
    lifecycleRules: [
      {
        expiration,
        noncurrentVersionExpiration: Duration.days(1),
        abortIncompleteMultipartUploadAfter: Duration.days(1),
        ...(isLong && {
          transitions: [
            { storageClass: StorageClass.GLACIER_INSTANT_RETRIEVAL, transitionAfter: ARCHIVE_AFTER },
          ],
        }),
      },
      { expiredObjectDeleteMarker: true },
    ],
    // CloudFormation cannot delete a bucket that has objects. Without a stack, its objects still expire.
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  })
}

/** CloudWatch Logs sends batches of compressed log events; the bucket has their lines. */
const PROCESSORS = [
  { type: 'Decompression', parameters: [{ parameterName: 'CompressionFormat', parameterValue: 'GZIP' }] },
  {
    type: 'CloudWatchLogProcessing',
    parameters: [{ parameterName: 'DataMessageExtraction', parameterValue: 'true' }],
  },
  { type: 'AppendDelimiterToRecord', parameters: [] },
]

/** The CDK's higher-level construct would add an unused mapping to the template, and wider grants. */
function deliveryStreams(scope: Construct, stage: StageSettings, bucket: Bucket) {
  const errors = logGroup(scope, 'DeliveryErrors', stage)
  const { logStreamName } = new LogStream(scope, 'DeliveryErrorsStream', {
    logGroup: errors,
    removalPolicy: stage.removalPolicy,
  })
  const { roleArn } = deliveryRole(scope, bucket, errors)
  return (id: string, prefix: string): CfnDeliveryStream =>
    new CfnDeliveryStream(scope, id, {
      deliveryStreamType: 'DirectPut',
      deliveryStreamEncryptionConfigurationInput: { keyType: 'AWS_OWNED_CMK' },
      extendedS3DestinationConfiguration: {
        bucketArn: bucket.bucketArn,
        roleArn,
        prefix: `${prefix}day=!{timestamp:yyyy-MM-dd}/`,
        errorOutputPrefix: `${PREFIX.errors}!{firehose:error-output-type}/`,
        bufferingHints: BUFFER,
        compressionFormat: 'GZIP',
        processingConfiguration: { enabled: true, processors: PROCESSORS },
        cloudWatchLoggingOptions: { enabled: true, logGroupName: errors.logGroupName, logStreamName },
      },
    })
}

/** The role with which Firehose writes into the bucket. It can neither read nor delete objects. */
function deliveryRole(scope: Construct, bucket: Bucket, errors: LogGroup): IRole {
  const { account } = Stack.of(scope)
  return grantedRole(
    scope,
    'DeliveryRole',
    new ServicePrincipal('firehose.amazonaws.com', {
      conditions: { StringEquals: { 'sts:ExternalId': account } },
    }),
    [
      new PolicyStatement({
        actions: ['s3:PutObject', 's3:AbortMultipartUpload'],
        resources: Object.values(PREFIX).map((prefix) => bucket.arnForObjects(`${prefix}*`)),
      }),
      new PolicyStatement({
        actions: ['s3:GetBucketLocation', 's3:ListBucket', 's3:ListBucketMultipartUploads'],
        resources: [bucket.bucketArn],
      }),
      new PolicyStatement({
        actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
        resources: [errors.logGroupArn],
      }),
    ],
  )
}

/** The role with which CloudWatch Logs puts lines into the streams. */
function subscriptionRole(scope: Construct, streams: readonly CfnDeliveryStream[]): IRole {
  const logs = Stack.of(scope).formatArn({ service: 'logs', resource: '*' })
  return grantedRole(
    scope,
    'SubscriptionRole',
    new ServicePrincipal('logs.amazonaws.com', { conditions: { StringLike: { 'aws:SourceArn': logs } } }),
    [
      new PolicyStatement({
        actions: ['firehose:PutRecord', 'firehose:PutRecordBatch'],
        resources: streams.map(({ attrArn }) => attrArn),
      }),
    ],
  )
}

const grantedRole = (
  scope: Construct,
  id: string,
  assumedBy: ServicePrincipal,
  statements: PolicyStatement[],
): IRole => new Role(scope, id, { assumedBy, inlinePolicies: { Grants: new PolicyDocument({ statements }) } })
