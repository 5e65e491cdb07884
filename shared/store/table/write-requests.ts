/** The writes of a transaction, in DynamoDB's format. */
import type { UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import type { Key } from '../keys/key.ts'

/** An item. Attributes that several families have by one name are typed; the others are read by the codec of their family. */
export type Item = Key & {
  readonly v?: number
  readonly ev?: number
  readonly o?: number
  readonly xi?: string
  readonly r?: string
  readonly i?: string
  readonly im?: string
} & Record<string, unknown>

type ConditionParts = Pick<
  UpdateCommandInput,
  'ConditionExpression' | 'ExpressionAttributeNames' | 'ExpressionAttributeValues'
>

/** The expressions of an update. */
export type UpdateParts = ConditionParts & {
  readonly UpdateExpression: string
  readonly ReturnValues?: UpdateCommandInput['ReturnValues']
}

/** A write of an item, with its condition. A transaction has one kind of write of each item. */
export type Write = {
  readonly Put?: { readonly TableName: string; readonly Item: Item } & ConditionParts
  readonly Delete?: ByKey & ConditionParts
  readonly ConditionCheck?: ByKey & ConditionParts & { readonly ConditionExpression: string | undefined }
  readonly Update?: ByKey & Omit<UpdateParts, 'ReturnValues'>
}

type WriteOf<Kind extends keyof Write> = Required<Pick<Write, Kind>>

type ByKey = { readonly TableName: string; readonly Key: Key }

/** The condition of a put: no item exists, the item has not changed since it was read, or it has expired. */
export type PutCondition =
  | 'new'
  | { readonly version: number }
  | { readonly attribute: string; readonly equals: unknown }
  | { readonly expiryAttribute: string; readonly expiredAt: number }

/** When an item may be deleted: if it exists, has a version, or an attribute equals what was read. */
export type DeleteCondition = 'existing' | number | { readonly attribute: string; readonly equals: unknown }

/** Builds the writes of the table `name`. */
export const writeRequests = (name: string) => ({
  /** Puts an item, on a condition if there is one. */
  putWrite: (item: Item, condition?: PutCondition): WriteOf<'Put'> => ({
    Put: { TableName: name, Item: item, ...(condition && toConditionExpression(condition)) },
  }),

  /** Deletes an item; with a version or an attribute, only if that has not changed. */
  deleteWrite: ({ pk, sk }: Key, condition?: DeleteCondition): WriteOf<'Delete'> => ({
    Delete: {
      TableName: name,
      Key: { pk, sk },
      ...(condition === 'existing' && { ConditionExpression: 'attribute_exists(pk)' }),
      ...(typeof condition === 'number' && toConditionExpression({ version: condition })),
      ...(typeof condition === 'object' && toConditionExpression(condition)),
    },
  }),

  /** Requires an item to have this version; null if it must not exist. */
  checkWrite: (key: Key, version: number | null): WriteOf<'ConditionCheck'> => ({
    ConditionCheck: {
      TableName: name,
      Key: key,
      ...toConditionExpression(version === null ? 'new' : { version }),
    },
  }),

  updateWrite: (key: Key, parts: Omit<UpdateParts, 'ReturnValues'>): WriteOf<'Update'> => ({
    Update: { TableName: name, Key: key, ...parts },
  }),
})

export function toConditionExpression(
  condition: PutCondition,
): { readonly ConditionExpression: string } & Pick<
  UpdateCommandInput,
  'ExpressionAttributeNames' | 'ExpressionAttributeValues'
> {
  if (condition === 'new') return { ConditionExpression: 'attribute_not_exists(pk)' }
  if ('version' in condition)
    return { ConditionExpression: 'v = :read', ExpressionAttributeValues: { ':read': condition.version } }
  if ('equals' in condition)
    return {
      ConditionExpression: '#attribute = :equals',
      ExpressionAttributeNames: { '#attribute': condition.attribute },
      ExpressionAttributeValues: { ':equals': condition.equals },
    }
  return {
    ConditionExpression: 'attribute_not_exists(pk) OR #expiry <= :now',
    ExpressionAttributeNames: { '#expiry': condition.expiryAttribute },
    ExpressionAttributeValues: { ':now': condition.expiredAt },
  }
}
