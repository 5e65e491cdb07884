import { Stack } from 'aws-cdk-lib'
import { Effect, PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  ApplicationLogLevel,
  Architecture,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
} from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { Route, TableCall } from '../shared/api/route.ts'
import { CLINIC_DIRECTORY, CREDENTIAL_PARTITIONS } from '../shared/store/keys.ts'
import type { FunctionCode } from './bundles.ts'
import type { Data } from './data.ts'
import { FUNCTION_TIMEOUT, type StageSettings } from './stages.ts'

type Props = {
  readonly stage: StageSettings
  readonly code: FunctionCode
  readonly environment?: Record<string, string>
  readonly grants?: PolicyStatement[]
  /** MB; CPU grows with it. */
  readonly memory?: number
}

/** One Lambda with a role of its own that holds its grants and nothing else. */
export class ApiFunction extends Construct {
  readonly lambda: LambdaFunction

  constructor(
    scope: Construct,
    id: string,
    { stage, code, environment = {}, grants = [], memory = 512 }: Props,
  ) {
    super(scope, id)
    const logGroup = new LogGroup(this, 'Logs', {
      retention: stage.logRetention,
      removalPolicy: stage.removalPolicy,
    })
    const writeLogs = new PolicyStatement({
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [logGroup.logGroupArn],
    })
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Grants: new PolicyDocument({ statements: [writeLogs, ...grants] }) },
    })
    this.lambda = new LambdaFunction(this, 'Function', {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: code(id),
      role,
      memorySize: memory,
      timeout: FUNCTION_TIMEOUT,
      environment,
      logGroup,
      // Our own lines are JSON already; Lambda's START and END lines say nothing that they do not.
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.WARN,
    })
  }
}

/** A route's Lambda: environment and grants follow from what the route says it uses. */
export function routeFunction(
  scope: Construct,
  route: Route,
  stage: StageSettings,
  code: FunctionCode,
  data: Data,
) {
  return new ApiFunction(scope, route.id, {
    stage,
    code,
    memory: route.uses.memory,
    environment: {
      TABLE_NAME: data.table.tableName,
      CHECK_RESPONSES: stage.checkResponses ? 'on' : 'off',
      REQUESTS_PER_MINUTE: String(stage.requestsPerMinute),
    },
    grants: [...credentialGrants(data), tableGrant(data, route.uses.table), keyGrant(scope, data)],
  })
}

/** Authentication reads the credential and notes its use: on credential partitions only. */
function credentialGrants({ table }: Data): PolicyStatement[] {
  return [
    new PolicyStatement({
      actions: ['dynamodb:GetItem', 'dynamodb:UpdateItem'],
      resources: [table.tableArn],
      conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${CREDENTIAL_PARTITIONS}*`] } },
    }),
  ]
}

/** What the endpoint itself calls: on clinics' partitions, never on credentials or the list of clinics. */
function tableGrant({ table }: Data, calls: readonly TableCall[]): PolicyStatement {
  return new PolicyStatement({
    actions: calls.map((call) => `dynamodb:${call}`),
    resources: [table.tableArn],
    conditions: {
      'ForAllValues:StringNotLike': {
        'dynamodb:LeadingKeys': [`${CREDENTIAL_PARTITIONS}*`, CLINIC_DIRECTORY],
      },
    },
  })
}

/** DynamoDB uses the table's key in the caller's name; the key serves no other purpose. */
function keyGrant(scope: Construct, { key }: Data): PolicyStatement {
  return new PolicyStatement({
    effect: Effect.ALLOW,
    actions: ['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey*', 'kms:ReEncrypt*'],
    resources: [key.keyArn],
    conditions: { StringEquals: { 'kms:ViaService': `dynamodb.${Stack.of(scope).region}.amazonaws.com` } },
  })
}
