import type { AttributeMap, AttributeValue, DataOperation, ItemReference } from './call.ts'

/** The names of a table's partition key and sort key. */
type KeyNames = readonly string[]

/** Reads a table's key names from the engine; undefined when it has no such table. */
type Describe = (table: string) => Promise<KeyNames | undefined>

/** Key names by table. They cannot change while a table exists. */
export function keyNameCache() {
  const cache = new Map<string, Promise<KeyNames | undefined>>()
  return (table: string, describe: Describe): Promise<KeyNames | undefined> => {
    const found = cache.get(table) ?? describe(table)
    cache.set(table, found)
    const forget = () => cache.delete(table)
    found.then((names) => names ?? forget(), forget)
    return found
  }
}

type Input = any
/** An item or its key, with the table it is in. */
type Named = { readonly table: string; readonly attributes: AttributeMap }

/** The items that a request names. Those of a malformed request may be missing: the engine rejects it anyway. */
export async function itemReferences(
  operation: DataOperation,
  input: Input,
  keyNames: (table: string) => Promise<KeyNames | undefined>,
): Promise<ItemReference[]> {
  const references = namedItems(operation, input).map(async ({ table, attributes }) => {
    const names = (await keyNames(table)) ?? []
    return { table, key: names.map((name) => valueText(attributes?.[name])).join('|') }
  })
  return Promise.all(references)
}

function namedItems(operation: DataOperation, input: Input): Named[] {
  switch (operation) {
    case 'GetItem':
    case 'UpdateItem':
    case 'DeleteItem':
      return [{ table: input.TableName, attributes: input.Key }]
    case 'PutItem':
      return [{ table: input.TableName, attributes: input.Item }]
    case 'TransactGetItems':
    case 'TransactWriteItems':
      return (input.TransactItems ?? []).map((entry: Input) => {
        const action = Object.values<Input>(entry)[0]
        return { table: action?.TableName, attributes: action?.Key ?? action?.Item }
      })
    case 'BatchGetItem':
      return batchEntries(input, ({ Keys = [] }) => Keys)
    case 'BatchWriteItem':
      return batchEntries(input, (writes) => writes.map(writeTarget))
    case 'Query':
      return [{ table: input.TableName, attributes: queriedPartition(input) }]
    case 'Scan':
      return []
  }
}

const batchEntries = (input: Input, attributesOf: (request: Input) => AttributeMap[]): Named[] =>
  Object.entries<Input>(input.RequestItems ?? {}).flatMap(([table, request]) =>
    attributesOf(request).map((attributes) => ({ table, attributes })),
  )

/** The key, or the item that holds it, of one entry of a BatchWriteItem request. */
const writeTarget = ({ PutRequest, DeleteRequest }: Input): AttributeMap =>
  PutRequest?.Item ?? DeleteRequest?.Key

/** Every attribute that the key condition compares for equality: that is the partition key at least. */
function queriedPartition({
  KeyConditionExpression = '',
  ExpressionAttributeNames: names = {},
  ExpressionAttributeValues: values = {},
}: Input): AttributeMap {
  const comparisons = KeyConditionExpression.matchAll(/([\w.#-]+)\s*=\s*(:\w+)/g) as Iterable<string[]>
  return Object.fromEntries(
    [...comparisons].map(([, name = '', value = '']) => [names[name] ?? name, values[value]]),
  )
}

const valueText = (value: AttributeValue | undefined): string => String(Object.values(value ?? {})[0] ?? '')
