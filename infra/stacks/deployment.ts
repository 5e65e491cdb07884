import { Annotations, BOOTSTRAP_QUALIFIER_CONTEXT, type Stack, Tags } from 'aws-cdk-lib'
import type { Construct } from 'constructs'
import type { Route } from '../../shared/api/route.ts'
import { ENDPOINTS, ROUTES } from '../../shared/api/routes.ts'
import { WORKERS } from '../../shared/runtime/workers.ts'
import { BackupCopyStack, BackupStack } from '../data/backup-stack.ts'
import { DataStack } from '../data/data-stack.ts'
import type { FunctionCode } from '../functions/bundles.ts'
import { checkConcurrency } from '../functions/concurrency.ts'
import { SmsReceiptsStack } from '../messaging/sms-receipts-stack.ts'
import { REFERENCE } from '../settings/names.ts'
import { type StageSettings, stageWarnings } from '../settings/stages.ts'
import { ApiStack } from './api-stack.ts'
import { MonitoringStack } from './monitoring-stack.ts'
import { WorkersStack } from './workers-stack.ts'

/** The ids of all functions. */
export const functionIds = (): string[] => [
  ...ENDPOINTS.map(({ id }) => id),
  REFERENCE,
  ...WORKERS.map(({ id }) => id),
]

/**
 * Findings that cfn-lint must not report: that the CDK writes DependsOn next to a reference (W3005), and that outputs, which describe
 * the whole deployment, repeat imports (W6001).
 */
const CFN_LINT = { 'cfn-lint': { config: { ignore_checks: ['W3005', 'W6001'] } } }

/** CloudFormation's schema of this type has no tags, although the CDK writes them. */
const UNTAGGED = ['AWS::ApplicationAutoScaling::ScalableTarget']

/**
 * The stacks of a stage, in the order in which they are deployed: what is stored, the workers, and the API that feeds
 * them. Only the first one is retained, and only it has exports.
 * @throws Error if the account's concurrency is too low for what the workers can take
 */
export function addStacks(
  scope: Construct,
  stage: StageSettings,
  code: FunctionCode,
  routes: readonly Route[] = ROUTES,
): void {
  checkConcurrency(stage.accountConcurrency)
  scope.node.setContext(BOOTSTRAP_QUALIFIER_CONTEXT, stage.bootstrapQualifier)
  const data = new DataStack(scope, stage)
  const workers = new WorkersStack(scope, stage, code)
  workers.addStackDependency(data)
  const receipts = stage.smsReceipts ? [new SmsReceiptsStack(scope, stage)] : []
  for (const stack of receipts) workers.addStackDependency(stack)
  const api = new ApiStack(scope, stage, code, routes)
  api.addStackDependency(workers)
  const monitoring = new MonitoringStack(scope, stage)
  // The watched resources exist before their alarms.
  monitoring.addStackDependency(api)
  const { backups } = stage.recovery
  const others: Stack[] = []
  if (backups?.copyRegion) others.push(new BackupCopyStack(scope, stage, backups.copyRegion))
  if (backups) {
    const stack = new BackupStack(scope, stage, backups.copyRegion)
    for (const other of [data, ...others]) stack.addStackDependency(other)
    others.push(stack)
  }
  const stacks = [data, workers, api, monitoring, ...others]
  for (const stack of stacks)
    Tags.of(stack).add('service', 'clinic-developer-api', { excludeResourceTypes: UNTAGGED })
  for (const { templateOptions } of [...stacks, ...receipts]) templateOptions.metadata = CFN_LINT
  for (const [at, warning] of stageWarnings(stage).entries())
    Annotations.of(api).addWarningV2(`clinic-developer-api:${at}`, warning)
}
