/** Restores a table to a point in time in a new table. DynamoDB restores items and encryption; the other settings are set here. */
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ListTagsOfResourceCommand,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
  TagResourceCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { STREAM_VIEW, TTL } from '../../store/keys/key.ts'

export type RestoringPlatform = {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>
  readonly sleep: (ms: number) => Promise<void>
  readonly onProgress: (text: string) => void
}

/** The names that a deployment needs to use a table that it did not create. */
export type RestoredTable = {
  readonly name: string
  /** The label of its stream. */
  readonly stream: string
}

/** A restore takes from minutes to hours. */
const POLL_MS = 20_000

/**
 * Restores `source` as it was at `at` to the new table `name`, and sets its settings. If the table exists already, only what is
 * missing is done, so an interrupted run can be repeated.
 */
export async function restoreTable(
  platform: RestoringPlatform,
  { source, name, at }: { readonly source: string; readonly name: string; readonly at: Date },
): Promise<RestoredTable> {
  const { client, onProgress } = platform
  const existing = await describe(platform, name)
  if (existing) requireRestoreOf(existing, at)
  else {
    const original = await describe(platform, source)
    await client.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableArn: original?.TableArn,
        TargetTableName: name,
        RestoreDateTime: at,
        // By default, DynamoDB uses the key that the table had at the restored time, which may have been replaced since.
        SSESpecificationOverride: {
          Enabled: true,
          SSEType: 'KMS',
          KMSMasterKeyId: original?.SSEDescription?.KMSMasterKeyArn,
        },
      }),
    )
    onProgress(`Restoring ${source} as it was at ${at.toISOString()} to ${name}`)
  }
  return configureTable(platform, { name, source })
}

/** A table with the name exists, but was not restored to the requested time. */
export class TableNameTaken extends Error {}

/**
 * An earlier run may have restored the table to another time, or the name may belong to a former table.
 * @throws TableNameTaken unless the table was restored to this time
 */
function requireRestoreOf({ TableName, RestoreSummary }: TableDescription, at: Date): void {
  const restored = RestoreSummary?.RestoreDateTime
  if (!restored)
    throw new TableNameTaken(
      `${TableName} exists already, and is not known to be restored. Choose another name.`,
    )
  if (!isSameSecond(restored, at))
    throw new TableNameTaken(
      `${TableName} exists already, restored to ${restored.toISOString()}. Choose another name.`,
    )
}

/**
 * Sets what a restored table lacks: time to live, stream, point-in-time recovery, deletion protection, warm throughput and tags.
 * Waits until the table can be used. Repeating it changes nothing.
 * @param source whose tags, warm throughput and deletion protection are copied; null if it is lost
 */
export async function configureTable(
  platform: RestoringPlatform,
  { name, source }: { readonly name: string; readonly source: string | null },
): Promise<RestoredTable> {
  const { client, onProgress } = platform
  const table = await untilActive(platform, name)
  const original = source === null ? null : await describe(platform, source)
  const ttl = await client.send(new DescribeTimeToLiveCommand({ TableName: name }))
  if (!/^ENABL/.test(ttl.TimeToLiveDescription?.TimeToLiveStatus ?? ''))
    await client.send(
      new UpdateTimeToLiveCommand({
        TableName: name,
        TimeToLiveSpecification: { AttributeName: TTL, Enabled: true },
      }),
    )
  onProgress('Time to live is on')
  if (!table.StreamSpecification?.StreamEnabled) {
    await client.send(
      new UpdateTableCommand({
        TableName: name,
        StreamSpecification: { StreamEnabled: true, StreamViewType: STREAM_VIEW },
      }),
    )
    await untilActive(platform, name)
  }
  onProgress('The stream is on')
  await client.send(
    new UpdateContinuousBackupsCommand({
      TableName: name,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    }),
  )
  onProgress('Point-in-time recovery is on')
  const isProtected = original?.DeletionProtectionEnabled ?? true
  if ((table.DeletionProtectionEnabled ?? false) !== isProtected) {
    await client.send(new UpdateTableCommand({ TableName: name, DeletionProtectionEnabled: isProtected }))
    await untilActive(platform, name)
  }
  await warmUp(platform, original, name)
  await copyTags(platform, original, table)
  onProgress('Deletion protection, warm throughput and tags match the source')
  const { LatestStreamLabel = '' } = await untilActive(platform, name)
  return { name, stream: LatestStreamLabel }
}

/** Lets a table take at once what the table in use takes. DynamoDB never lowers it. */
async function warmUp(
  platform: RestoringPlatform,
  original: TableDescription | null,
  name: string,
): Promise<void> {
  const { ReadUnitsPerSecond: reads = 0, WriteUnitsPerSecond: writes = 0 } = original?.WarmThroughput ?? {}
  const own = (await describe(platform, name))?.WarmThroughput
  const { ReadUnitsPerSecond: ownReads = 0, WriteUnitsPerSecond: ownWrites = 0 } = own ?? {}
  if (reads <= ownReads && writes <= ownWrites) return
  const WarmThroughput = {
    ReadUnitsPerSecond: Math.max(reads, ownReads),
    WriteUnitsPerSecond: Math.max(writes, ownWrites),
  }
  await platform.client.send(new UpdateTableCommand({ TableName: name, WarmThroughput }))
  await untilActive(platform, name)
}

/** Copies all tags except CloudFormation's: the table does not belong to the stack. */
async function copyTags(
  { client }: RestoringPlatform,
  original: TableDescription | null,
  { TableArn }: TableDescription,
): Promise<void> {
  if (!original) return
  const { Tags = [] } = await client.send(new ListTagsOfResourceCommand({ ResourceArn: original.TableArn }))
  const userTags = Tags.filter(({ Key = '' }) => !Key.startsWith('aws:'))
  if (userTags.length > 0)
    await client.send(new TagResourceCommand({ ResourceArn: TableArn, Tags: userTags }))
}

async function untilActive(platform: RestoringPlatform, name: string): Promise<TableDescription> {
  for (;;) {
    const table = await describe(platform, name)
    if (table?.TableStatus === 'ACTIVE') return table
    platform.onProgress(`${name} is ${table?.TableStatus ?? 'not found'}`)
    await platform.sleep(POLL_MS)
  }
}

/** The time to which a table was restored; null if there is no such table, undefined if it is not known to be restored. */
export async function restoredTimeOf(
  client: RestoringPlatform['client'],
  name: string,
): Promise<Date | null | undefined> {
  const table = await describe({ client }, name)
  return table === null ? null : table.RestoreSummary?.RestoreDateTime
}

/** Whether a table was restored to a time, which DynamoDB knows to the second. */
export const isSameSecond = (a: Date, b: Date): boolean =>
  Math.floor(a.getTime() / 1000) === Math.floor(b.getTime() / 1000)

/** Null if there is no such table. */
async function describe(
  { client }: Pick<RestoringPlatform, 'client'>,
  name: string,
): Promise<TableDescription | null> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table ?? null
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return null
    throw error
  }
}
