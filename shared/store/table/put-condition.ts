import type { UpdateCommandInput } from '@aws-sdk/lib-dynamodb'

/** The condition of a put: no item exists, the item has not changed since it was read, or it has expired. */
export type PutCondition =
  | 'new'
  | { readonly version: number }
  | { readonly attribute: string; readonly equals: unknown }
  | { readonly expiryAttribute: string; readonly expiredAt: number }

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
