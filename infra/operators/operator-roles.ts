import { CfnOutput, Duration, Stack } from 'aws-cdk-lib'
import { AccountRootPrincipal, ManagedPolicy, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { Construct } from 'constructs'
import { callsOf, OPERATOR_ROLES, type OperatorRole, roleOutput } from '../../shared/operator/commands.ts'
import {
  ERASURE_PARTITION_PREFIX,
  TABLE_PARTITION_PREFIX,
  walkPartitionPrefix,
} from '../../shared/store/keys/operator.ts'
import type { Data } from '../data/data.ts'
import { KEYS_ARE_NAMED, keyGrant } from '../functions/grants.ts'
import { onCallStatements } from './on-call.ts'

type Props = {
  readonly stage: string
  readonly data: Data
  readonly operatorLog: ILogGroup
  /** The log groups of functions and of the gateway. */
  readonly logs: readonly ILogGroup[]
  /** The queues that dead letters go back to. */
  readonly queues: readonly IQueue[]
  readonly maintenanceQueue: IQueue
  /** The queues of their dead letters, and of what has no way back. */
  readonly deadLetters: readonly IQueue[]
}

const progressOfOthers = (role: OperatorRole): string[] =>
  OPERATOR_ROLES.filter((other) => other !== role).map(walkPartitionPrefix)

/** Partitions that a role may not change. */
const HIDDEN: Record<OperatorRole, readonly string[]> = {
  read: [],
  support: [ERASURE_PARTITION_PREFIX, TABLE_PARTITION_PREFIX, ...progressOfOthers('support')],
  erase: [TABLE_PARTITION_PREFIX, ...progressOfOthers('erase')],
  maintain: [],
}

const DESCRIPTIONS: Record<OperatorRole, string> = {
  read: "Reads clinics' data",
  support: "Reads and changes clinics' data, but erases no patient",
  erase: 'Erases patients',
  maintain: 'Restores the table, and migrates its items',
}

/**
 * Roles of the operator tool, and the role of the person on call. Identities of the account that may assume them have to use a second
 * factor.
 */
export class OperatorRoles extends Construct {
  constructor(scope: Construct, id: string, props: Props) {
    super(scope, id)
    for (const role of OPERATOR_ROLES)
      this.#addRole(role, roleOutput(role), DESCRIPTIONS[role], statementsOf(this, role, props))
    const watching = onCallStatements(Stack.of(this), props.stage, props.logs)
    this.#addRole(
      'on-call',
      'OnCallRoleArn',
      'Reads metrics, logs and settings, but no data of clinics',
      watching,
    )
  }

  #addRole(role: string, output: string, may: string, statements: PolicyStatement[]): void {
    const description = `Clinic operator: ${may}`
    const policy = new ManagedPolicy(this, `${role}-policy`, { description, statements })
    const { roleArn } = new Role(this, role, {
      description,
      assumedBy: new AccountRootPrincipal().withConditions({
        Bool: { 'aws:MultiFactorAuthPresent': 'true' },
      }),
      maxSessionDuration: Duration.hours(1),
      managedPolicies: [policy],
    })
    new CfnOutput(Stack.of(this), output, { value: roleArn })
  }
}

function statementsOf(scope: Construct, role: OperatorRole, props: Props): PolicyStatement[] {
  const { data, operatorLog } = props
  const { deadLetters, queues, maintenance, ...calls } = callsOf(role)
  return [
    // The tool finds the stack and its outputs with this call.
    new PolicyStatement({ actions: ['cloudformation:DescribeStacks'], resources: [Stack.of(scope).stackId] }),
    new PolicyStatement({ actions: ['logs:PutLogEvents'], resources: [operatorLog.logGroupArn] }),
    ...tableStatements(role, calls, data),
    keyGrant(scope, data),
    ...(calls.table.includes('RestoreTableToPointInTime') ? [grantCreation(scope, data)] : []),
    ...queueStatements(deadLetters, props.deadLetters),
    ...queueStatements(queues, props.queues),
    ...queueStatements(maintenance, [props.maintenanceQueue]),
  ]
}

const queueStatements = (calls: readonly string[], queues: readonly IQueue[]): PolicyStatement[] =>
  calls.length === 0
    ? []
    : [
        new PolicyStatement({
          actions: calls.map((call) => `sqs:${call}`),
          resources: queues.map(({ queueArn }) => queueArn),
        }),
      ]

/** Tables that are restored have names that begin with the name of the table in use. */
function tableStatements(
  role: OperatorRole,
  { table: calls, progress }: Pick<ReturnType<typeof callsOf>, 'table' | 'progress'>,
  { table }: Data,
): PolicyStatement[] {
  const resources = [
    table.tableArn,
    ...(role === 'read' || role === 'support' ? [] : [`${table.tableArn}-*`]),
  ]
  const hidden = HIDDEN[role].map((prefix) => `${prefix}*`)
  const isWrite = (call: string) => /Put|Write|Update(Item)|Delete|ConditionCheck/.test(call)
  const statement = (actions: readonly string[], conditions?: object) =>
    new PolicyStatement({
      actions: actions.map((call) => `dynamodb:${call}`),
      resources,
      ...(conditions && { conditions }),
    })
  const ownProgress = {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${walkPartitionPrefix(role)}*`] },
    ...KEYS_ARE_NAMED,
  }
  if (hidden.length === 0)
    return [statement(calls), ...(progress.length > 0 ? [statement(progress, ownProgress)] : [])]
  return [
    statement(calls.filter((call) => !isWrite(call))),
    statement(calls.filter(isWrite), {
      'ForAllValues:StringNotLike': { 'dynamodb:LeadingKeys': hidden },
    }),
  ]
}

/** DynamoDB encrypts a restored table with the key through a grant that the caller makes. */
const grantCreation = (scope: Construct, { key }: Data): PolicyStatement =>
  new PolicyStatement({
    actions: ['kms:CreateGrant'],
    resources: [key.keyArn],
    conditions: {
      StringEquals: { 'kms:ViaService': `dynamodb.${Stack.of(scope).region}.amazonaws.com` },
      Bool: { 'kms:GrantIsForAWSResource': 'true' },
    },
  })
