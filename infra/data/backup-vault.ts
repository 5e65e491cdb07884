import { Duration } from 'aws-cdk-lib'
import { BackupVault } from 'aws-cdk-lib/aws-backup'
import { Key } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import type { StageSettings } from '../settings/stages.ts'

/** The retention of point-in-time recovery: a longer one would keep erased patients for longer. */
export const BACKUP_RETENTION = Duration.days(35)

/**
 * A vault whose backups cannot be deleted before their time. If the stage is protected, the lock itself cannot be removed either, from three days
 * after its creation on.
 */
export function lockedVault(
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
