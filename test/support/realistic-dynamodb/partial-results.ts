/** Requests cut to a part of what they ask for, and their responses completed, as DynamoDB responds under load. */

import type { RandomSource } from '../random.ts'
import { type EngineCall, isSuccess, type Reply, success } from './call.ts'

type Input = any

/** Sends one request to the engine. */
export type EngineSend = (input: Input) => Promise<Reply>

/** The largest short page that is drawn, when nothing smaller limits it. */
const MAX_SHORT_PAGE = 10

type Options = {
  /** How many items are processed or returned; drawn unless given. */
  readonly processed: number | undefined
  /** The name of the table's sort key, for a Query. */
  readonly sortKey: string | undefined
  readonly random: RandomSource
  readonly send: EngineSend
}

/** Sends a part of a batch, or asks for a short page. */
export async function partialResult(
  { operation, input, items }: EngineCall,
  { processed, sortKey, random, send }: Options,
): Promise<Reply> {
  if (operation === 'Query' || operation === 'Scan') {
    const limit = Math.min(input.Limit ?? MAX_SHORT_PAGE, MAX_SHORT_PAGE)
    const count = Math.min(processed ?? Math.floor(random() * limit), input.Limit ?? Number.POSITIVE_INFINITY)
    return count > 0
      ? send({ ...input, Limit: count })
      : emptyPage(input, operation === 'Query' ? sortKey : undefined, send)
  }
  const count = processed ?? 1 + Math.floor(random() * (items.length - 1))
  const order = items.map((_item, index) => ({ index, rank: processed === undefined ? random() : index }))
  const kept = new Set(
    order
      .sort((a, b) => a.rank - b.rank)
      .slice(0, count)
      .map(({ index }) => index),
  )
  return partialBatch(input, (index) => kept.has(index), send)
}

/** Sends the entries of a batch that are kept, counted over all its tables, and reports the others as unprocessed. */
export async function partialBatch(
  input: Input,
  isKept: (index: number) => boolean,
  send: EngineSend,
): Promise<Reply> {
  const kept: Record<string, Input> = {}
  const left: Record<string, Input> = {}
  let index = 0
  for (const [table, request] of Object.entries<Input>(input.RequestItems)) {
    const entries: Input[] = Array.isArray(request) ? request : request.Keys
    const rebuild = (part: Input[]) => (Array.isArray(request) ? part : { ...request, Keys: part })
    const first = index
    index += entries.length
    const chosen = entries.filter((_entry, at) => isKept(first + at))
    const others = entries.filter((_entry, at) => !isKept(first + at))
    if (chosen.length > 0) kept[table] = rebuild(chosen)
    if (others.length > 0) left[table] = rebuild(others)
  }
  const isWrite = Object.values(input.RequestItems).some(Array.isArray)
  const member = isWrite ? 'UnprocessedItems' : 'UnprocessedKeys'
  if (Object.keys(kept).length === 0) return success({ ...(!isWrite && { Responses: {} }), [member]: left })
  const reply = await send({ ...input, RequestItems: kept })
  if (reply === 'disconnect' || !isSuccess(reply)) return reply
  const body = JSON.parse(reply.body)
  return success({ ...body, [member]: { ...body[member], ...left } })
}

/**
 * A page without items that says there are more. Its LastEvaluatedKey is the request's own start, or a made-up key just
 * before the first item.
 */
async function emptyPage(input: Input, sortKey: string | undefined, send: EngineSend): Promise<Reply> {
  const reply = await send({ ...input, Limit: 1 })
  if (reply === 'disconnect' || !isSuccess(reply)) return reply
  const page = JSON.parse(reply.body)
  const start = input.ExclusiveStartKey ?? keyBefore(page.LastEvaluatedKey, sortKey, input)
  // This page cannot be shorter if no item is left, or no key comes before the first.
  if (page.ScannedCount === 0 || !start) return reply
  return success({
    ...page,
    ...(page.Items && { Items: [] }),
    Count: 0,
    ScannedCount: 0,
    LastEvaluatedKey: start,
  })
}

/** A control character that no key of an application ends with. */
const MADE_UP = '\u0001'

/** Undefined unless the sort key is a string, and orders the result. */
function keyBefore(key: Input, sortKey: string | undefined, { IndexName, ScanIndexForward }: Input): Input {
  const text = sortKey !== undefined && !IndexName && key?.[sortKey]?.S
  if (typeof text !== 'string') return undefined
  return {
    ...key,
    [String(sortKey)]: { S: (ScanIndexForward === false ? text : text.slice(0, -1)) + MADE_UP },
  }
}

/** A request that starts at a made-up key starts at the first item: some engines reject a start outside the query. */
export function withoutMadeUpStart({ ExclusiveStartKey: start, ...input }: Input): Input {
  const isMadeUp = Object.values<Input>(start ?? {}).some(
    ({ S }) => typeof S === 'string' && S.endsWith(MADE_UP),
  )
  return start && !isMadeUp ? { ...input, ExclusiveStartKey: start } : input
}
