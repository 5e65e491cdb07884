import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ResolvedTemplate } from '../template/template.ts'

/** A subscription of a delivery stream to a log group. */
type LogFilter = {
  readonly logGroup: string
  readonly matches: (line: string) => boolean
  /** The folder that the stream writes to in its bucket: the first one of its prefix. */
  readonly folder: string
}

/**
 * Delivers lines of log groups, as subscription filters and delivery streams do: appends the matching ones to `<folder>.ndjson` in the
 * data directory, or in a temporary one.
 */
export function openLogDelivery(filters: readonly LogFilter[], dataDir?: string) {
  const directory = dataDir ?? mkdtempSync(join(tmpdir(), 'clinic-logs-'))
  const fileOf = (folder: string) => join(directory, `${folder}.ndjson`)
  const folders = new Set(filters.map(({ folder }) => folder))
  const files = new Map([...folders].map((folder) => [folder, openSync(fileOf(folder), 'a', 0o600)]))
  let closed = false

  return {
    /** Writes lines to a log group. Those that match a filter are in its file when this returns. */
    write: (logGroup: string, text: string) => {
      const subscribed = filters.filter((filter) => filter.logGroup === logGroup)
      if (closed || subscribed.length === 0) return
      for (const line of text.split('\n'))
        for (const { matches, folder } of subscribed)
          if (matches(line)) writeSync(files.get(folder) as number, `${line}\n`)
    },
    /** The files by folder of the bucket. */
    files: (): Record<string, string> =>
      Object.fromEntries([...files.keys()].map((folder) => [folder, fileOf(folder)])),
    close: () => {
      closed = true
      for (const file of files.values()) closeSync(file)
      if (dataDir === undefined) rmSync(directory, { recursive: true, force: true })
    },
  }
}

type FilterProperties = {
  readonly LogGroupName: string
  readonly DestinationArn: string
  readonly FilterPattern: string
}

type StreamProperties = { readonly ExtendedS3DestinationConfiguration?: { readonly Prefix?: string } }

/** The subscriptions of delivery streams that write to S3. @throws Error that names an unsupported one */
export function logFilters(template: ResolvedTemplate): LogFilter[] {
  const folders = new Map(
    template
      .resourcesOf<StreamProperties>('AWS::KinesisFirehose::DeliveryStream')
      .map(({ id, properties }) => [template.attribute(id, 'Arn'), folderOf(id, properties)]),
  )
  const filters = template.resourcesOf<FilterProperties>('AWS::Logs::SubscriptionFilter')
  return filters.flatMap(({ id, properties }) => {
    const { LogGroupName, DestinationArn, FilterPattern } = properties
    if (DestinationArn.startsWith('arn:aws:lambda:')) return []
    const folder = folders.get(DestinationArn)
    if (folder === undefined)
      throw new Error(`${id} forwards to ${DestinationArn}, which is not a delivery stream of the stack.`)
    return { logGroup: LogGroupName, matches: matcherOf(id, FilterPattern), folder }
  })
}

function folderOf(id: string, { ExtendedS3DestinationConfiguration: s3 }: StreamProperties): string {
  const [, folder] = /^([a-z-]+)\//.exec(s3?.Prefix ?? '') ?? []
  if (folder === undefined)
    throw new Error(`${id} needs an S3 destination whose Prefix begins with a folder.`)
  return folder
}

/** The JSON pattern of one text field, such as `{ $.level = "error" }`. A line that is no JSON does not match. */
function matcherOf(id: string, pattern: string): LogFilter['matches'] {
  const [, field = '', value] = /^\{ \$\.(\w+) = "([^"\\%*]*)" \}$/.exec(pattern) ?? []
  if (value === undefined)
    throw new Error(`${id} has the FilterPattern ${pattern}, which the local stack does not support.`)
  return (line) => {
    // Most lines need not be parsed.
    if (!line.includes(`"${value}"`)) return false
    try {
      return JSON.parse(line)?.[field] === value
    } catch {
      return false
    }
  }
}
