import type { Item, Write } from '../../../shared/store/table/write-requests.ts'

type Update = NonNullable<Write['Update']>

/** What an update makes of an item; without an item, of one that has only a key. @throws Error for an expression that it cannot read */
export function applyUpdate(
  item: Item | undefined,
  { Key, UpdateExpression = '', ExpressionAttributeNames = {}, ExpressionAttributeValues = {} }: Update,
): Item {
  const result = { ...Key, ...item } as Item
  for (const [keyword = '', list = ''] of clausesOf(UpdateExpression))
    for (const part of list.split(',')) {
      const [, name = '', value] = PARTS[keyword]?.exec(part.trim()) ?? []
      if (name === '') throw new Error(`a trial cannot apply the update ${UpdateExpression}`)
      const attribute = ExpressionAttributeNames[name] ?? name
      const given = ExpressionAttributeValues[value ?? '']
      if (keyword === 'SET') result[attribute] = given
      else if (keyword === 'ADD') result[attribute] = Number(result[attribute] ?? 0) + Number(given)
      else delete result[attribute]
    }
  return result
}

const PARTS: { readonly [keyword: string]: RegExp } = {
  SET: /^(#?\w+) = (:\w+)$/,
  ADD: /^(#?\w+) (:\w+)$/,
  REMOVE: /^(#?\w+)$/,
}

/** The keyword of each clause, and its list. */
const clausesOf = (expression: string): string[][] =>
  expression.split(/ ?\b(?=(?:SET|ADD|REMOVE) )/).map((clause) => clause.split(/ (.*)/))
