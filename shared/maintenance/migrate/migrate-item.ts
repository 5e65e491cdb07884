import { isDeepStrictEqual } from 'node:util'
import { FORMAT } from '../../store/keys/key.ts'
import { ConditionFailed, UnavailableError } from '../../store/table/errors.ts'
import type { Table } from '../../store/table/table.ts'
import type { Item, UpdateParts } from '../../store/table/write-requests.ts'
import { formatOf, type Migration } from './migrations.ts'

/** Far more than writers of one item can win. */
const MAX_ATTEMPTS = 50

/**
 * Migrates an item as it was read, if it does not have the format yet. When another process has changed it since, it is read
 * again, so no write is lost. Returns whether it was changed.
 */
export async function migrateItem(table: Table, migration: Migration, read: Item): Promise<boolean> {
  let item: Item | undefined = read
  for (let attempt = 1; item && formatOf(item) < migration.format; attempt++) {
    const after: Item = { ...migration.migrate(item), [FORMAT]: migration.format }
    try {
      await write(table, item, after)
      return true
    } catch (error) {
      if (!(error instanceof ConditionFailed)) throw error
      if (attempt === MAX_ATTEMPTS) throw new UnavailableError(error)
    }
    item = await table.get({ pk: read.pk, sk: read.sk })
  }
  return false
}

async function write(table: Table, before: Item, after: Item): Promise<void> {
  if (before.pk === after.pk && before.sk === after.sk) {
    await table.update(before, updateParts(before, after))
    return
  }
  const { pk, sk } = before
  const { Delete } = table.deleteWrite({ pk, sk }, 'existing')
  await table.transact([
    table.putWrite(after, 'new'),
    { Delete: { ...Delete, ...conditionParts(unchanged(before)) } },
  ])
}

type Parts = { conditions: string[]; names: Record<string, string>; values: Record<string, unknown> }

/** The most attributes that an expression can compare. Only tallies have more, and each of their changes has a new version. */
const MAX_COMPARED = 150

/** The condition that an item is as it was read: every attribute, since not every write increments the version. */
function unchanged(item: Item): Parts {
  const parts: Parts = { conditions: ['attribute_exists(pk)'], names: {}, values: {} }
  const attributes = attributesOf(item)
  const isVersionEnough = item.v !== undefined && attributes.length > MAX_COMPARED
  const read: [string, unknown][] = isVersionEnough ? [['v', item.v]] : attributes
  for (const [at, [name, value]] of read.entries()) {
    parts.conditions.push(`#r${at} = :r${at}`)
    parts.names[`#r${at}`] = name
    parts.values[`:r${at}`] = value
  }
  return parts
}

const conditionParts = ({ conditions, names, values }: Parts) => ({
  ConditionExpression: conditions.join(' AND '),
  ...(Object.keys(names).length > 0 && {
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  }),
})

/** Changes the attributes that differ. An attribute that neither format has stays, even if it was added since. */
function updateParts(before: Item, after: Item): UpdateParts {
  const parts = unchanged(before)
  const { names, values, conditions } = parts
  const sets = attributesOf(after).filter(([name, value]) => !isDeepStrictEqual(before[name], value))
  for (const [at, [name, value]] of sets.entries()) {
    names[`#s${at}`] = name
    values[`:s${at}`] = value
    if (!(name in before)) conditions.push(`attribute_not_exists(#s${at})`)
  }
  const removed = attributesOf(before).filter(([name]) => !(name in after))
  for (const [at, [name]] of removed.entries()) names[`#x${at}`] = name
  const list = (items: readonly unknown[], text: (at: number) => string) =>
    items.map((_, at) => text(at)).join(', ')
  const removal = removed.length > 0 ? ` REMOVE ${list(removed, (at) => `#x${at}`)}` : ''
  return {
    UpdateExpression: `SET ${list(sets, (at) => `#s${at} = :s${at}`)}${removal}`,
    ...conditionParts(parts),
  }
}

const attributesOf = (item: Item): [string, unknown][] =>
  Object.entries(item).filter(([name]) => name !== 'pk' && name !== 'sk')
