import type { EventPattern } from 'aws-cdk-lib/aws-events'
import type { AlarmDefinition } from './alarm.ts'
import type { Watched } from './figures.ts'

/** An event of the account that a person has to know. It has no metric that an alarm could read. */
type NoticeDefinition = Pick<AlarmDefinition, 'id' | 'severity' | 'why' | 'page'> & {
  readonly pattern: (watched: Pick<Watched, 'tableArn'>) => EventPattern
}

/** THE TABLE OF NOTICES. */
export const NOTICES: readonly NoticeDefinition[] = [
  {
    id: 'backup-failed',
    severity: 'look-tomorrow',
    why: 'A backup of the table, or a copy of one to the other region, failed.',
    page: 'backup-failed',
    pattern: ({ tableArn }) => ({
      source: ['aws.backup'],
      detailType: ['Backup Job State Change', 'Copy Job State Change'],
      detail: { state: ['FAILED', 'ABORTED', 'EXPIRED', 'PARTIAL'], resourceArn: [tableArn] },
    }),
  },
  {
    id: 'key-removal',
    severity: 'patients-affected',
    why: 'An encryption key of the account was disabled, or scheduled for deletion. Without its key, the table is lost.',
    page: 'key-removal',
    // All keys of the account: a call names its key by the id or by the ARN.
    pattern: () => ({
      source: ['aws.kms'],
      detailType: ['AWS API Call via CloudTrail'],
      detail: { eventSource: ['kms.amazonaws.com'], eventName: ['ScheduleKeyDeletion', 'DisableKey'] },
    }),
  },
]
