import type { Duration } from 'aws-cdk-lib'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import {
  ApplicationLogLevel,
  Architecture,
  Function as LambdaFunction,
  LoggingFormat,
  RecursiveLoop,
  Runtime,
  SystemLogLevel,
  Tracing,
} from 'aws-cdk-lib/aws-lambda'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { functionName } from '../settings/names.ts'
import { FUNCTION_TIMEOUT, type StageSettings } from '../settings/stages.ts'
import type { FunctionCode } from './bundles.ts'

type Props = {
  readonly stage: StageSettings
  readonly code: FunctionCode
  readonly logs: ILogGroup
  readonly environment?: Record<string, string>
  readonly grants?: PolicyStatement[]
  /** MB. The share of CPU is proportional to it. */
  readonly memory?: number
  readonly timeout?: Duration
  /** Invocations at a time: at most this many, and this many at any time. */
  readonly reservedConcurrency?: number | undefined
  /** Whether it puts messages back on the queue that feeds it. Lambda would end such a chain after 16 invocations. */
  readonly requeues?: boolean
}

/** The memory of functions that need no more. */
export const DEFAULT_MEMORY_MB = 512

/** A Lambda whose role has exactly the grants passed in, and may write to its log group, which functions share. */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction

  constructor(
    scope: Construct,
    id: string,
    {
      stage,
      code,
      logs,
      environment = {},
      grants = [],
      memory = DEFAULT_MEMORY_MB,
      timeout = FUNCTION_TIMEOUT,
      reservedConcurrency,
      requeues = false,
    }: Props,
  ) {
    super(scope, id)
    const writeLogs = new PolicyStatement({
      actions: ['logs:CreateLogStream', 'logs:PutLogEvents'],
      resources: [logs.logGroupArn],
    })
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
      inlinePolicies: { Grants: new PolicyDocument({ statements: [writeLogs, ...grants] }) },
    })
    this.lambda = new LambdaFunction(this, 'Function', {
      functionName: functionName(stage.name, id),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: 'index.handler',
      code: code(id),
      role,
      memorySize: memory,
      timeout,
      environment,
      ...(reservedConcurrency !== undefined && { reservedConcurrentExecutions: reservedConcurrency }),
      logGroup: logs,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: ApplicationLogLevel.INFO,
      // The system log has the report of each invocation: its initialization, its memory, and whether it ended with its timeout.
      systemLogLevelV2: SystemLogLevel.INFO,
      ...(stage.monitoring.tracing && { tracing: Tracing.ACTIVE }),
      ...(requeues && { recursiveLoop: RecursiveLoop.ALLOW }),
    })
  }
}
