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

/** A role of a service, or of a function of the CDK that CloudFormation invokes. */
export type ServiceRole = {
  /** The logical id. */
  readonly id: string
  readonly roleArn: string
  readonly statements: readonly Statement[]
  /** The names of its managed policies of AWS, whose statements are not in the template. */
  readonly managed: readonly string[]
}

/** The roles of all functions, and the policies of the keys that encrypt tables. */
export type DeployedRoles = {
  readonly functions: readonly FunctionRole[]
  /** The roles of everything else but people. */
  readonly services: readonly ServiceRole[]
  /** The KMS key of a table, by the ARN of the table. */
  readonly keyOfTable: (table: string) => string | undefined
  /** The policy of a KMS key, by its ARN. */
  readonly keyPolicies: ReadonlyMap<string, PolicyDocument>
}

type Policy = { readonly PolicyDocument: PolicyDocument }
type RoleProperties = {
  readonly AssumeRolePolicyDocument: {
    readonly Statement: readonly { readonly Principal?: { readonly Service?: string } }[]
  }
  readonly Policies?: readonly Policy[]
  readonly ManagedPolicyArns?: readonly string[]
}
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
    all<RoleProperties>('AWS::IAM::Role').map(({ id, ref, arn, properties }) => {
      const policies = attached.filter(({ properties: { Roles } }) => Roles.includes(ref))
      const documents = [...(properties.Policies ?? []), ...policies.map((policy) => policy.properties)]
      const statements = documents.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
      return [arn(), { id, properties, statements }]
    }),
  )
  const keys = all<{ readonly KeyPolicy: PolicyDocument }>('AWS::KMS::Key')
  const tables = all<{ readonly SSESpecification?: { readonly KMSMasterKeyId?: string } }>(
    'AWS::DynamoDB::Table',
  )
  const keyOfTable = (table: string) =>
    tables.find((one) => one.arn() === table)?.properties.SSESpecification?.KMSMasterKeyId
  const mappings = all<Mapping>('AWS::Lambda::EventSourceMapping').map(({ properties }) => properties)
  const functions = all<LambdaFunction>('AWS::Lambda::Function').flatMap(
    ({ id, ref, properties: { Role, LoggingConfig } }) => {
      const role = roles.get(Role)
      // Functions of custom resources have no logs of their own, and are not the application's.
      if (!role || !LoggingConfig) return []
      const fed = mappings.filter(({ FunctionName }) => FunctionName === ref)
      const byLambda = [
        ...writingLogs(LoggingConfig.LogGroup),
        ...fed.flatMap((one) => reading(one, keyOfTable)),
      ]
      return [{ functionId: id, roleArn: Role, statements: role.statements, byLambda }]
    },
  )
  const ofFunctions = new Set(functions.map(({ roleArn }) => roleArn))
  return {
    functions,
    services: [...roles].flatMap(([roleArn, { id, properties, statements }]) => {
      const isOfService = properties.AssumeRolePolicyDocument.Statement.every(
        ({ Principal }) => Principal?.Service !== undefined,
      )
      if (!isOfService || ofFunctions.has(roleArn)) return []
      const managed = (properties.ManagedPolicyArns ?? []).map((arn) => arn.replace(/^.*\//, ''))
      return [{ id, roleArn, statements, managed }]
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
