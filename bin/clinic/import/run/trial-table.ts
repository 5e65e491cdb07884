import { deserialize, serialize } from 'node:v8'
import type { Key } from '../../../../shared/store/keys/key.ts'
import type { Range } from '../../../../shared/store/table/reads.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import type { Item, Write } from '../../../../shared/store/table/write-requests.ts'
import { temporaryDatabase } from '../files/temporary-database.ts'

/**
 * Wraps a table for a trial of an import: writes are kept apart from the stored items, and only this table reads them. The
 * rows of a file are checked as they would be after the rows and files before them. Conditions are not checked: only the trial
 * changes the kept writes.
 */
export function trialTable(table: Table): Table & Disposable {
  const kept = new KeptItems()

  async function query(range: Range): Promise<Item[]> {
    const changed = kept.within(range)
    // Each of them may replace one that is stored.
    const stored = await table.query({ ...range, limit: range.limit + changed.size })
    const items = [
      ...stored.filter(({ sk }) => !changed.has(sk)),
      ...[...changed.values()].filter((item) => item !== null),
    ]
    const direction = range.descending ? -1 : 1
    return items.sort((a, b) => (a.sk < b.sk ? -direction : direction)).slice(0, range.limit)
  }

  async function getMany(keys: readonly Key[], options?: { eventual?: boolean }): Promise<Item[]> {
    const found = keys.map((key) => kept.find(key))
    const stored = await table.getMany(
      keys.filter((_, at) => found[at] === undefined),
      options,
    )
    return [...stored, ...found.filter((item) => item != null)]
  }

  async function write(writes: readonly Write[]): Promise<void> {
    const updated = writes.flatMap(({ Update }) => (Update ? [Update.Key] : []))
    // Items that an update is the first to change.
    const missing = updated.filter((key) => kept.find(key) === undefined)
    kept.apply(writes, missing.length > 0 ? await table.getMany(missing) : [])
  }

  return {
    ...table,
    get: async (key, options) => {
      const found = kept.find(key)
      return found === undefined ? table.get(key, options) : (found ?? undefined)
    },
    query,
    getMany,
    transact: write,
    tryTransact: write,
    update: async () => undefined,
    putMany: async (items) => kept.apply(items.map((Item) => ({ Put: { TableName: '', Item } }))),
    deleteMany: async (keys) => kept.apply(keys.map((Key) => ({ Delete: { TableName: '', Key } }))),
    [Symbol.dispose]: () => kept.close(),
  }
}

/** Items by key; null for one that was deleted. */
class KeptItems {
  readonly #db = temporaryDatabase(
    'CREATE TABLE kept (pk TEXT, sk TEXT, item BLOB, PRIMARY KEY (pk, sk)) WITHOUT ROWID',
  )
  readonly #put = this.#db.prepare('INSERT OR REPLACE INTO kept VALUES (?, ?, ?)')
  readonly #find = this.#db.prepare('SELECT item FROM kept WHERE pk = ? AND sk = ?')
  readonly #within = this.#db.prepare('SELECT sk, item FROM kept WHERE pk = ? AND sk >= ? AND sk <= ?')

  /** @param stored the items of the table that updates change, unless they are kept */
  apply(writes: readonly Write[], stored: readonly Item[] = []): void {
    const keep = ({ pk, sk }: Key, item: Item | null) => void this.#put.run(pk, sk, serialize(item))
    for (const { Put, Delete, Update } of writes) {
      if (Put) keep(Put.Item, Put.Item)
      if (Delete) keep(Delete.Key, null)
      if (!Update) continue
      const key = Update.Key
      const before = this.find(key)
      const item = before === undefined ? stored.find(({ pk, sk }) => pk === key.pk && sk === key.sk) : before
      keep(key, applyUpdate(item ?? undefined, Update))
    }
  }

  /** Undefined if nothing was written under the key. */
  find({ pk, sk }: Key): Item | null | undefined {
    const row = this.#find.get(pk, sk) as { item: Uint8Array } | undefined
    return row && deserialize(row.item)
  }

  /** The items that were written within a range, by sort key. */
  within({ pk, from = '', to = '\u{10FFFF}' }: Range): Map<string, Item | null> {
    const rows = this.#within.all(pk, from, to) as { sk: string; item: Uint8Array }[]
    return new Map(rows.map(({ sk, item }) => [sk, deserialize(item)]))
  }

  close(): void {
    this.#db.close()
  }
}

type Update = NonNullable<Write['Update']>

/** Applies an update to an item, or to one that has only a key. @throws Error for an expression with operators or functions */
function applyUpdate(
  item: Item | undefined,
  { Key, UpdateExpression = '', ExpressionAttributeNames = {}, ExpressionAttributeValues = {} }: Update,
): Item {
  if (!/^[\w#:=, ]+$/.test(UpdateExpression))
    throw new Error(`a trial cannot apply the update ${UpdateExpression}`)
  const result: Item = { ...Key, ...item }
  let keyword = ''
  for (const [, word, name = '', value = ''] of UpdateExpression.matchAll(PARTS)) {
    const attribute = ExpressionAttributeNames[name] ?? name
    const given = ExpressionAttributeValues[value]
    if (word !== undefined) keyword = word
    else if (keyword === 'SET') result[attribute] = given
    else if (keyword === 'ADD') result[attribute] = Number(result[attribute] ?? 0) + Number(given)
    else delete result[attribute]
  }
  return result
}

/** A keyword, or a name with its value. */
const PARTS = /(SET|ADD|REMOVE) |(#?\w+)(?:(?: =)? (:\w+))?/g
