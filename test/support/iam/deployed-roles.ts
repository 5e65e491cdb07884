import { ACCOUNT_ID } from '../../../infra/local/template/physical-names.ts'
import { resolveStacks, type SynthesizedStack } from '../../../infra/local/template/stacks.ts'
import type { IamRequest } from './requests.ts'

export const REGION = 'us-east-1'

/** A statement of a policy, with all references resolved. */
export type Statement = {
  readonly Effect: 'Allow' | 'Deny'
  readonly Action: string | readonly string[]
  readonly Resource?: string | readonly string[]
  readonly NotResource?: string | readonly string[]
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>
}

export type PolicyDocument = { readonly Statement: readonly Statement[] }

/** A function with the statements of its role. */
export type FunctionRole = {
  /** The logical id. */
  readonly functionId: string
  readonly roleArn: string
  readonly statements: readonly Statement[]
  /** Calls of Lambda for the function with its role: writing logs, and reading from its queues and streams. */
  readonly byLambda: readonly IamRequest[]
}

/** The roles of all functions, and the policies of the keys that encrypt tables. */
export type DeployedRoles = {
  readonly functions: readonly FunctionRole[]
  /** The KMS key of a table, by the ARN of the table. */
  readonly keyOfTable: (table: string) => string | undefined
  /** The policy of a KMS key, by its ARN. */
  readonly keyPolicies: ReadonlyMap<string, PolicyDocument>
}

type Policy = { readonly PolicyDocument: PolicyDocument }
type Mapping = {
  readonly EventSourceArn: string
  readonly FunctionName: string
  readonly DestinationConfig?: { readonly OnFailure: { readonly Destination: string } }
}
type LambdaFunction = { readonly Role: string; readonly LoggingConfig: { readonly LogGroup: string } }

/** Reads the roles of the stacks of an app. */
export function deployedRoles(stacks: readonly SynthesizedStack[], tableSuffix = ''): DeployedRoles {
  const queueUrl = (name: string) => `https://sqs/${ACCOUNT_ID}/${name}`
  const resolved = resolveStacks(stacks, { region: REGION, queueUrl, tableSuffix })
  const all = <P>(type: string) =>
    resolved.resourcesOf<P>(type).map(({ id, properties }) => ({
      id,
      properties,
      ref: resolved.ref(id),
      arn: () => resolved.attribute(id, 'Arn'),
    }))
  const attached = all<Policy & { readonly Roles: readonly string[] }>('AWS::IAM::Policy')
  const roles = new Map(
    all<{ readonly Policies?: readonly Policy[] }>('AWS::IAM::Role').map(({ ref, arn, properties }) => {
      const policies = attached.filter(({ properties: { Roles } }) => Roles.includes(ref))
      const documents = [...(properties.Policies ?? []), ...policies.map((policy) => policy.properties)]
      return [arn(), documents.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)]
    }),
  )
  const keys = all<{ readonly KeyPolicy: PolicyDocument }>('AWS::KMS::Key')
  const tables = all<{ readonly SSESpecification?: { readonly KMSMasterKeyId?: string } }>(
    'AWS::DynamoDB::Table',
  )
  const keyOfTable = (table: string) =>
    tables.find((one) => one.arn() === table)?.properties.SSESpecification?.KMSMasterKeyId
  const mappings = all<Mapping>('AWS::Lambda::EventSourceMapping').map(({ properties }) => properties)
  return {
    functions: all<LambdaFunction>('AWS::Lambda::Function').flatMap(({ id, ref, properties }) => {
      const { Role, LoggingConfig } = properties
      const statements = roles.get(Role)
      // Functions of custom resources have no logs of their own, and are not the application's.
      if (!statements || !LoggingConfig) return []
      const fed = mappings.filter(({ FunctionName }) => FunctionName === ref)
      const byLambda = [
        ...writingLogs(LoggingConfig.LogGroup),
        ...fed.flatMap((one) => reading(one, keyOfTable)),
      ]
      return [{ functionId: id, roleArn: Role, statements, byLambda }]
    }),
    keyOfTable,
    keyPolicies: new Map(keys.map(({ arn, properties }) => [arn(), properties.KeyPolicy])),
  }
}

const writingLogs = (group: string): IamRequest[] => {
  const resource = `arn:aws:logs:${REGION}:${ACCOUNT_ID}:log-group:${group}:log-stream:1`
  return ['logs:CreateLogStream', 'logs:PutLogEvents'].map((action) => ({ action, resource, context: {} }))
}

/**
 * The permissions that the Lambda Developer Guide requires of the role of a function with an event source: "Using Lambda
 * with Amazon SQS", "Using AWS Lambda with Amazon DynamoDB", "Capturing discarded batches".
 */
function reading(
  { EventSourceArn, DestinationConfig }: Mapping,
  keyOfTable: DeployedRoles['keyOfTable'],
): IamRequest[] {
  const on = (resource: string, ...actions: string[]) =>
    actions.map((action) => ({ action, resource, context: {} }))
  const failures = DestinationConfig ? on(DestinationConfig.OnFailure.Destination, 'sqs:SendMessage') : []
  if (EventSourceArn.startsWith('arn:aws:sqs:'))
    return [
      ...on(EventSourceArn, 'sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'),
      ...failures,
    ]
  const key = keyOfTable(EventSourceArn.replace(/\/stream\/.*$/, ''))
  return [
    ...on(EventSourceArn, 'dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'),
    ...on('*', 'dynamodb:ListStreams'),
    ...(key ? [{ action: 'kms:Decrypt', resource: key, context: { 'kms:ViaService': VIA_DYNAMODB } }] : []),
    ...failures,
  ]
}

/** How KMS sees a call that DynamoDB makes on behalf of the caller. */
export const VIA_DYNAMODB = `dynamodb.${REGION}.amazonaws.com`
