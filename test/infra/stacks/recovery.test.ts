/** A deployment that uses a table of another origin, and backups. */
import { describe, expect, it } from 'vitest'
import {
  backupCopyStackName,
  backupCopyVaultName,
  backupStackName,
  dataStackName,
  stackName,
} from '../../../infra/settings/names.ts'
import { stageSettings } from '../../../infra/settings/stages.ts'
import { type StackTemplate, templatesOf } from '../../support/template.ts'

const resources = (templates: Record<string, StackTemplate>, type: string) =>
  Object.values(templates)
    .flatMap(({ Resources }) => Object.values(Resources))
    .filter(({ Type }) => Type === type)
    .map(({ Properties }) => Properties as Record<string, any>)

const prod = templatesOf('prod')

describe('a deployment that uses a table of another origin', () => {
  const stream = '2026-11-22T10:00:00.000'
  const tableKey = '01234567-89ab-cdef-0123-456789abcdef'
  const settings = { tableName: 'restored', tableStream: stream }
  const restored = templatesOf('prod', settings)

  it('leaves the stack of data, with its own table, as it is', () => {
    expect(restored[dataStackName('prod')]).toEqual(prod[dataStackName('prod')])
  })

  it('refers to the table, its stream and its key in every function, grant and output', () => {
    const { [dataStackName('prod')]: _, ...code } = restored
    const text = JSON.stringify(code)
    expect(text.match(/:Table(Name|StreamArn)/g)).toBeNull()
    expect(text).toContain(':TableKeyArn')
    const names = resources(code, 'AWS::Lambda::Function').flatMap(
      ({ Environment }) => Environment?.Variables.TABLE_NAME ?? [],
    )
    expect(new Set(names)).toEqual(new Set(['restored']))
    const sources = resources(code, 'AWS::Lambda::EventSourceMapping').map((each) => each.EventSourceArn)
    expect(JSON.stringify(sources)).toContain(`:table/restored/stream/${stream}`)
    expect(code[stackName('prod')]?.Outputs?.TableName?.Value).toBe('restored')
    const adopted = templatesOf('prod', { ...settings, tableKey })
    const { [dataStackName('prod')]: __, ...others } = adopted
    expect(JSON.stringify(others)).not.toContain(':TableKeyArn')
    expect(JSON.stringify(others)).toContain(`:key/${tableKey}`)
  })

  it.each([
    [{ tableName: 'restored' }, 'tableName and tableStream must be set together'],
    [{ tableName: 'a b', tableStream: stream }, 'tableName is not the name of a table: "a b"'],
    [{ tableStream: stream }, 'tableName and tableStream must be set together'],
    [{ ...settings, tableKey: 'alias' }, 'tableKey is not the id of a key: "alias"'],
    [{ backups: 'yes' }, 'backups must be "on" or "off": "yes"'],
    [{ backupCopyRegion: 'eu-west-1' }, 'set it together with -c backups=on'],
    [{ backups: 'on', backupCopyRegion: 'Ireland' }, 'backupCopyRegion is not a region of AWS: "Ireland"'],
  ])('is rejected with %j', (invalid, message) => {
    expect(() => stageSettings('dev', invalid)).toThrow(message)
  })
})

describe('backups', () => {
  const copied = templatesOf('prod', { backups: 'on', backupCopyRegion: 'eu-west-1', protection: 'on' })
  const inDev = templatesOf('dev', { backups: 'on' })
  const vaultsOf = (templates: Record<string, StackTemplate>, stack: string) =>
    resources({ stack: templates[stack] as StackTemplate }, 'AWS::Backup::BackupVault')

  it('are made daily of the table in use, and kept as long as point-in-time recovery', () => {
    const [plan] = resources(copied, 'AWS::Backup::BackupPlan')
    expect(plan?.BackupPlan.BackupPlanRule).toMatchObject([
      { ScheduleExpression: 'cron(0 2 * * ? *)', Lifecycle: { DeleteAfterDays: 35 } },
    ])
    const [selection] = resources(copied, 'AWS::Backup::BackupSelection')
    expect(JSON.stringify(selection)).toContain(`${dataStackName('prod')}:TableName`)
    const [role] = resources({ stack: copied[backupStackName('prod')] as StackTemplate }, 'AWS::IAM::Role')
    expect(role?.AssumeRolePolicyDocument.Statement).toMatchObject([
      { Condition: { StringEquals: { 'aws:SourceAccount': expect.anything() } } },
    ])
  })

  it('are in a vault whose lock can be removed only while the stage is not protected', () => {
    const [vault] = vaultsOf(copied, backupStackName('prod'))
    expect(vault?.LockConfiguration).toEqual({ MinRetentionDays: 35, ChangeableForDays: 3 })
    const [dev] = vaultsOf(inDev, backupStackName('dev'))
    expect(dev?.LockConfiguration).toEqual({ MinRetentionDays: 35 })
  })

  it('are copied to the locked vault of a stack in the other region', () => {
    const [vault] = vaultsOf(copied, backupCopyStackName('prod'))
    expect(vault).toMatchObject({
      BackupVaultName: backupCopyVaultName('prod'),
      LockConfiguration: { MinRetentionDays: 35 },
    })
    const [plan] = resources(copied, 'AWS::Backup::BackupPlan')
    const copy = plan?.BackupPlan.BackupPlanRule[0].CopyActions[0]
    const arn = JSON.stringify(copy.DestinationBackupVaultArn)
    expect(arn).toContain(`:backup:eu-west-1:`)
    expect(arn).toContain(`:backup-vault:${backupCopyVaultName('prod')}`)
    expect(copy.Lifecycle).toEqual({ DeleteAfterDays: 35 })
    expect(Object.keys(inDev)).not.toContain(backupCopyStackName('dev'))
  })
})
