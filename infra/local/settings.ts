/**
 * The settings of a deployment that a local one needs: senders, a domain, and a rate that the local SES does not have. It is
 * in no account, and what it needs of one, such as a zone or a restored table, does not exist here.
 */
export const LOCAL_SETTINGS = {
  emailFrom: 'clinic@example.com',
  smsSenderId: 'Clinic',
  emailsPerSecond: '1000',
  domain: 'clinic.example',
  certificateArn: 'arn:aws:acm:us-east-1:000000000000:certificate/local',
  hostedZoneId: null,
  hostedZoneName: null,
  account: null,
  region: null,
  tableName: null,
  tableStream: null,
  tableKey: null,
  backups: null,
  backupCopyRegion: null,
  canaryMinutes: null,
} as const
