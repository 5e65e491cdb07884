/** The writes of a transaction, as DynamoDB takes them. */
import type { TransactWriteCommandInput, UpdateCommandInput } from '@aws-sdk/lib-dynamodb'
import type { Key } from '../keys/key.ts'

export type Item = Key & Record<string, unknown>

export type Write = NonNullable<TransactWriteCommandInput['TransactItems']>[number]

export type UpdateParts = Pick<
  UpdateCommandInput,
  | 'UpdateExpression'
  | 'ConditionExpression'
  | 'ExpressionAttributeNames'
  | 'ExpressionAttributeValues'
  | 'ReturnValues'
  | 'ReturnValuesOnConditionCheckFailure'
>

/** Builds the writes of the table `name`. */
export const writeRequests = (name: string) => ({
  /** Puts an item; `new` only if there is none with its key. */
  putWrite: (item: Item, condition: 'new' | 'any' = 'any'): Write => ({
    Put: {
      TableName: name,
      Item: item,
      ...(condition === 'new' && { ConditionExpression: 'attribute_not_exists(pk)' }),
    },
  }),

  /** Deletes an item; with a version, only if it still has that one. */
  deleteWrite: ({ pk, sk }: Key, condition?: number | 'existing'): Write => ({
    Delete: {
      TableName: name,
      Key: { pk, sk },
      ...(condition === 'existing' && { ConditionExpression: 'attribute_exists(pk)' }),
      ...(typeof condition === 'number' && {
        ConditionExpression: 'v = :read',
        ExpressionAttributeValues: { ':read': condition },
      }),
    },
  }),

  /** Requires an item to have this version. */
  checkWrite: (key: Key, version: number): Write => ({
    ConditionCheck: {
      TableName: name,
      Key: key,
      ConditionExpression: 'v = :read',
      ExpressionAttributeValues: { ':read': version },
    },
  }),

  updateWrite: (key: Key, parts: Omit<UpdateParts, 'ReturnValues'>): Write => ({
    Update: { TableName: name, Key: key, ...parts } as Write['Update'],
  }),
})
