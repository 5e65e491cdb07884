import { type DynamoDBDocumentClient, ScanCommand } from '@aws-sdk/lib-dynamodb'
import type { ClinicId } from '../../domain/clinic.ts'
import type { Key } from '../../store/keys/key.ts'
import type { Item } from '../../store/table/write-requests.ts'
import type { Source } from './walk.ts'

/** Parts of the table, or of its clinics, that are read concurrently. */
const SEGMENTS = 8

export type Scannable = {
  /** Scans, which no other function than the worker of maintenance does. */
  readonly client: Pick<DynamoDBDocumentClient, 'send'>
  readonly name: string
}

/** Every item of the table that passes a filter. */
export const tableItems = ({ client, name }: Scannable, filter: object = {}): Source<Item, Key> => ({
  segments: SEGMENTS,
  readPage: async (segment, after) => {
    const page = await client.send(
      new ScanCommand({
        TableName: name,
        Segment: segment,
        TotalSegments: SEGMENTS,
        ConsistentRead: true,
        ExclusiveStartKey: after,
        ...filter,
      }),
    )
    return {
      items: (page.Items ?? []) as Item[],
      read: page.ScannedCount ?? 0,
      next: page.LastEvaluatedKey as Key | undefined,
    }
  },
})

/** Clinics, one a page, in the order of their ids. With more than one segment, several at a time. */
export function clinicsOf(ids: readonly ClinicId[], segments = SEGMENTS): Source<ClinicId, ClinicId> {
  const parts = Array.from({ length: segments }, (): ClinicId[] => [])
  // The last digits of an id are random.
  for (const id of ids.toSorted()) parts[Number.parseInt(id.slice(-4), 16) % segments]?.push(id)
  return {
    segments,
    readPage: async (segment, after) => {
      const part = parts[segment] ?? []
      const at = after === undefined ? 0 : part.findIndex((id) => id > after)
      const id = part[at]
      return {
        items: id === undefined ? [] : [id],
        read: id === undefined ? 0 : 1,
        next: part[at + 1] === undefined ? undefined : id,
      }
    },
  }
}

/** Names, one a page, in this order. */
export const pagesOf = (names: readonly string[]): Source<string, string> => ({
  segments: 1,
  readPage: async (_, after) => {
    const name = names[after === undefined ? 0 : names.indexOf(after) + 1] ?? ''
    return { items: [name], read: 1, next: name === names.at(-1) ? undefined : name }
  },
})
