import { isTallyShard } from '../../../store/keys/calendar.ts'
import type { Key } from '../../../store/keys/key.ts'
import type { Table } from '../../../store/table/table.ts'
import type { Item, Write } from '../../../store/table/write-requests.ts'

/**
 * The writes that set counters in a month's item and remove them from its shards, on condition that all of `items`
 * are as they were read.
 */
export function setCounters(
  table: Table,
  key: Key,
  items: readonly Item[],
  counters: readonly { name: string; rows: number }[],
): Write[] {
  const names = counters.map(({ name }) => name)
  const shard = items.filter(isTallyShard)
  const own = items.find((item) => !isTallyShard(item))
  return [
    changeItem(table, key, own?.v, {
      set: counters.map(({ name, rows }) => [name, rows]),
    }),
    ...shard.map((item) => changeItem(table, item, item.v, { remove: names })),
  ]
}

/** Changes attributes of an item, on condition that it still has this version. */
function changeItem(
  table: Table,
  { pk, sk }: Key,
  version: unknown,
  { set = [], remove = [] }: { set?: readonly (readonly [string, number])[]; remove?: readonly string[] },
): Write {
  const names = [...set.map(([name]) => name), ...remove]
  const removed = remove.map((_, at) => `#${set.length + at}`)
  return table.updateWrite(
    { pk, sk },
    {
      UpdateExpression: [
        `SET ${['#v = :next', ...set.map((_, at) => `#${at} = :${at}`)].join(', ')}`,
        ...(removed.length > 0 ? [`REMOVE ${removed.join(', ')}`] : []),
      ].join(' '),
      ConditionExpression: version === undefined ? 'attribute_not_exists(#v)' : '#v = :read',
      ExpressionAttributeNames: {
        '#v': 'v',
        ...Object.fromEntries(names.map((name, at) => [`#${at}`, name])),
      },
      ExpressionAttributeValues: {
        ':next': (Number(version) || 0) + 1,
        ...(version !== undefined && { ':read': version }),
        ...Object.fromEntries(set.map(([, rows], at) => [`:${at}`, rows])),
      },
    },
  )
}
