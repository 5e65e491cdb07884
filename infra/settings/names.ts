/**
 * Names that follow from the stage. Functions and queues have fixed names, so that stacks refer to each other's without
 * exports, which could block a deployment while they are in use. Names of what is stored are chosen by CloudFormation.
 */
import type { QueueId } from '../../shared/runtime/workers.ts'

/** The stack of the API. Its outputs describe the whole deployment. */
export const stackName = (stage: string): string => `ClinicDeveloperApi-${stage}`

/** The stack of everything that is retained. */
export const dataStackName = (stage: string): string => `${stackName(stage)}-Data`

/** The stack of queues and workers. */
export const workersStackName = (stage: string): string => `${stackName(stage)}-Workers`

/** The stack of alarms and the dashboard. */
export const monitoringStackName = (stage: string): string => `${stackName(stage)}-Monitoring`

/** The name of the REST API. Metrics have it as a dimension. */
export const apiName = (stage: string): string => `clinic-developer-api-${stage}`

/** The rule of the canary, and the secret that has its credential. */
export const canaryName = (stage: string): string => `clinic-${stage}-canary`

export const backupStackName = (stage: string): string => `${stackName(stage)}-Backups`

/** The stack of copied backups, which is in another region. */
export const backupCopyStackName = (stage: string): string => `${stackName(stage)}-BackupCopies`

export const backupCopyVaultName = (stage: string): string => `clinic-${stage}-copies`

/** The stack of the role that deploys the stage. */
export const pipelineStackName = (stage: string): string => `${stackName(stage)}-Pipeline`

/** One for all stages in an account and region. */
export const SMS_RECEIPTS_STACK = 'ClinicDeveloperApi-SmsReceipts'

/** @param id the id of a route or worker, or of another file in functions/ */
export const functionName = (stage: string, id: string): string => `clinic-${stage}-${id}`

export const queueName = (stage: string, queue: QueueId): string => `clinic-${stage}-${queue}`

/** The file in functions/ that serves the API document and the documentation. */
export const REFERENCE = 'reference'
