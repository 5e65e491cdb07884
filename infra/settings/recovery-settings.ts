import { REGION, switchSetting } from './setting-checks.ts'
import type { Settings } from './stage-file.ts'

/** The settings of restores and backups. */
export type RecoverySettings = {
  /** The table in use, if it is not the data stack's table. */
  readonly adoptedTable: AdoptedTable | undefined
  /** Daily backups in a locked vault, and copies of them in another region. */
  readonly backups: { readonly copyRegion: string | undefined } | undefined
}

export type AdoptedTable = {
  readonly name: string
  /** The label of its stream. */
  readonly stream: string
  /** The id of its key; undefined for the key of the data stack. */
  readonly key: string | undefined
}

/** @throws Error for an invalid setting */
export function recoverySettings(settings: Settings): RecoverySettings {
  const { backupCopyRegion: copyRegion } = settings
  if (copyRegion !== undefined && !REGION.test(copyRegion))
    throw new Error(`backupCopyRegion is not a region: "${copyRegion}".`)
  const hasBackups = switchSetting('backups', settings)
  if (copyRegion !== undefined && !hasBackups)
    throw new Error('backupCopyRegion copies backups: set it together with -c backups=on.')
  if (copyRegion !== undefined && copyRegion === settings.region)
    throw new Error(`backupCopyRegion must be another region than the stage's: "${copyRegion}".`)
  return {
    adoptedTable: adoptedTable(settings),
    backups: hasBackups ? { copyRegion } : undefined,
  }
}

function adoptedTable({ tableName, tableStream, tableKey }: Settings): AdoptedTable | undefined {
  if (tableName === undefined) {
    if (tableStream !== undefined || tableKey !== undefined)
      throw new Error('tableStream and tableKey are settings of a table: set tableName too.')
    return undefined
  }
  if (!/^[\w.-]{3,255}$/.test(tableName))
    throw new Error(`tableName is not the name of a table: "${tableName}".`)
  if (!/^\d{4}-\d\d-\d\dT[\d:.]+$/.test(tableStream ?? ''))
    throw new Error(
      'tableStream must be the label of the stream of the table, such as 2026-11-22T10:00:00.000.',
    )
  if (tableKey !== undefined && !/^[\w-]{36}$/.test(tableKey))
    throw new Error(`tableKey is not the id of a key: "${tableKey}".`)
  return { name: tableName, stream: tableStream as string, key: tableKey }
}
