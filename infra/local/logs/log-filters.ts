import type { ResolvedTemplate } from '../template/template.ts'

/** A subscription of a delivery stream to a log group. */
export type LogFilter = {
  readonly logGroup: string
  readonly matches: (line: string) => boolean
  /** The folder that the stream writes to in its bucket: the first one of its prefix. */
  readonly folder: string
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
      return (JSON.parse(line) as Record<string, unknown> | null)?.[field] === value
    } catch {
      return false
    }
  }
}
