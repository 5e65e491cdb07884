import { randomUUID } from 'node:crypto'
import {
  BatchWriteCommand,
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { Key } from '../keys/key.ts'
import { chunked } from './chunked.ts'
import {
  attemptsOf,
  ConditionFailed,
  errorName,
  isOutcomeUnknown,
  isThrottling,
  isUnavailable,
  rejectionOf,
  Throttled,
  UnavailableError,
  WriteConflict,
} from './errors.ts'
import { abortOption } from './request-scope.ts'
import { responseTo } from './response.ts'
import { backoff, repeatOnConflict, type Timing } from './retries.ts'
import { MAX_TRANSACTION_MS } from './visibility-delay.ts'
import type { Item, UpdateParts, Write } from './write-requests.ts'

const MAX_BATCH_WRITE_ITEMS = 25

/** The error of a failed transaction for its caller, if it has not been committed. */
function writeError(error: unknown): unknown {
  if (errorName(error) === 'TransactionCanceledException') return rejectionOf(error)
  if (isThrottling(error)) return new Throttled(error)
  return isUnavailable(error) ? new UnavailableError(error) : error
}

/** The writes of the table `name`. */
export function tableWrites(client: DynamoDBDocumentClient, name: string, timing: Timing) {
  /** Deletes items that nothing refers to. Not atomic. */
  const deleteMany = (keys: readonly Key[]): Promise<void> =>
    batchWrite(keys.map(({ pk, sk }) => ({ DeleteRequest: { Key: { pk, sk } } })))

  /** Puts items, whatever is stored under their keys: for tables that nothing else writes to. Not atomic. */
  const putMany = (items: readonly Item[]): Promise<void> =>
    batchWrite(items.map((Item) => ({ PutRequest: { Item } })))

  async function batchWrite(requests: readonly object[]): Promise<void> {
    for (const batch of chunked(requests, MAX_BATCH_WRITE_ITEMS)) {
      const backOff = backoff(timing)
      let pending: object[] = [...batch]
      for (;;) {
        const command = new BatchWriteCommand({ RequestItems: { [name]: pending } })
        const page = await responseTo(client.send(command, abortOption()))
        pending = page.UnprocessedItems?.[name] ?? []
        if (pending.length === 0) break
        await backOff('writes left unprocessed')
      }
    }
  }

  /** Updates one item, and retries after a conflict with a transaction. @throws ConditionFailed */
  const update = (key: Key, parts: UpdateParts): Promise<Record<string, unknown> | undefined> =>
    repeatOnConflict(async () => {
      const command = new UpdateCommand({ TableName: name, Key: { pk: key.pk, sk: key.sk }, ...parts })
      try {
        return (await responseTo(client.send(command, abortOption()))).Attributes
      } catch (error) {
        if (errorName(error) === 'ConditionalCheckFailedException') throw new ConditionFailed([0])
        throw errorName(error) === 'TransactionConflictException' ? new WriteConflict(error) : error
      }
    }, timing)

  /**
   * Makes all of the writes or none. One token stands for one transaction: where the outcome is unknown (the response
   * was lost, or DynamoDB says that this very transaction is in progress) the identical request is sent again with
   * its token, so that it takes effect once. Throttled repetitions are sent again too. A write that DynamoDB rejected is
   * not repeated here, since the facts behind the writes may have changed (see retryOnConflict). Whatever the client's own
   * patience, nothing is sent after {@link MAX_TRANSACTION_MS}.
   * @throws ConditionFailed, WriteConflict or Throttled when nothing was written; UnavailableError
   */
  async function tryTransact(writes: readonly Write[]): Promise<void> {
    const command = new TransactWriteCommand({ TransactItems: [...writes], ClientRequestToken: randomUUID() })
    await sendUntilKnown(command, AbortSignal.timeout(MAX_TRANSACTION_MS))
  }

  async function sendUntilKnown(command: TransactWriteCommand, signal: AbortSignal): Promise<void> {
    const backOff = backoff(timing)
    let mayBeCommitted = false
    for (;;) {
      try {
        await client.send(command, abortOption(signal))
        return
      } catch (error) {
        const isInProgress = errorName(error) === 'TransactionInProgressException'
        mayBeCommitted ||= isInProgress || isOutcomeUnknown(error) || attemptsOf(error) > 1
        const reason = writeError(error)
        const isOpen = isInProgress || isOutcomeUnknown(error) || reason instanceof Throttled
        if (!mayBeCommitted || !isOpen) throw reason
        await backOff(error)
      }
    }
  }

  /**
   * Makes all of the writes or none, again after a conflict: for writes whose own conditions say all that they depend on.
   * @throws ConditionFailed; UnavailableError
   */
  const transact = (writes: readonly Write[]): Promise<void> =>
    repeatOnConflict(() => tryTransact(writes), timing)

  return { deleteMany, putMany, update, tryTransact, transact }
}
