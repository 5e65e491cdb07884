import { ArnFormat, Duration, Stack } from 'aws-cdk-lib'
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup'
import { Schedule } from 'aws-cdk-lib/aws-events'
import type { CfnRole } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import { backupCopyStackName, backupCopyVaultName, backupStackName } from '../settings/names.ts'
import type { StageSettings } from '../settings/stages.ts'
import { ImportedData } from './data-stack.ts'

/** Daily backups of the table in use, in a vault that is locked. */
export class BackupStack extends Stack {
  constructor(scope: Construct, stage: StageSettings, copyRegion: string | undefined) {
    super(scope, backupStackName(stage.name), {
      description: 'Clinic Developer API: backups',
      terminationProtection: stage.deletionProtection,
      env: stage.env,
    })
    const { table } = new ImportedData(this, 'Stored', stage)
    const plan = new BackupPlan(this, 'Plan', { backupVault: lockedVault(this, 'Backups', stage) })
    const copy = copyRegion && {
      destinationBackupVault: BackupVault.fromBackupVaultArn(
        this,
        'CopyVault',
        this.formatArn({
          service: 'backup',
          region: copyRegion,
          resource: 'backup-vault',
          resourceName: backupCopyVaultName(stage.name),
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ),
      deleteAfter: BACKUP_RETENTION,
    }
    plan.addRule(
      new BackupPlanRule({
        ruleName: 'daily',
        // UTC: at night in Europe.
        scheduleExpression: Schedule.cron({ hour: '2', minute: '0' }),
        startWindow: Duration.hours(1),
        completionWindow: Duration.hours(8),
        deleteAfter: BACKUP_RETENTION,
        ...(copy && { copyActions: [copy] }),
      }),
    )
    const selection = plan.addSelection('Table', { resources: [BackupResource.fromArn(table.tableArn)] })
    // Not a role of ours in its place: a selection with another role is another selection.
    const role = selection.node.findChild('Role').node.defaultChild as CfnRole
    role.addPropertyOverride('AssumeRolePolicyDocument.Statement.0.Condition', {
      StringEquals: { 'aws:SourceAccount': this.account },
    })
  }
}

/** The vault of the copies, in their region. */
export class BackupCopyStack extends Stack {
  constructor(scope: Construct, stage: StageSettings, region: string) {
    super(scope, backupCopyStackName(stage.name), {
      description: 'Clinic Developer API: copies of backups',
      terminationProtection: stage.deletionProtection,
      env: { ...stage.env, region },
    })
    lockedVault(this, 'Copies', stage, backupCopyVaultName(stage.name))
  }
}

/** The retention of point-in-time recovery: a longer one would keep erased patients for longer. */
export const BACKUP_RETENTION = Duration.days(35)

/**
 * A vault whose backups cannot be deleted before their time. If the stage is protected, the lock itself cannot be removed either, from three days
 * after its creation on.
 */
function lockedVault(
  scope: Construct,
  id: string,
  stage: StageSettings,
  backupVaultName?: string,
): BackupVault {
  const encryptionKey = new Key(scope, `${id}Key`, {
    description: 'Encrypts backups of the clinic table',
    enableKeyRotation: true,
    removalPolicy: stage.removalPolicy,
  })
  return new BackupVault(scope, id, {
    encryptionKey,
    ...(backupVaultName && { backupVaultName }),
    removalPolicy: stage.removalPolicy,
    lockConfiguration: {
      minRetention: BACKUP_RETENTION,
      ...(stage.deletionProtection && { changeableFor: Duration.days(3) }),
    },
  })
}
