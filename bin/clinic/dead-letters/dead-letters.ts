/** Reads, moves and deletes dead letters. SQS only hands messages out for a time, so each that was only read is given back at once. */
import {
  ChangeMessageVisibilityBatchCommand,
  type Message as DeadLetter,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { chunked } from '../../../shared/store/table/chunked.ts'
import { CommandFailure, counted, EXIT } from '../tool/output.ts'

/** How long a dead letter is hidden from others, unless it is given back before. */
const HOLD_SECONDS = 120
/** A long poll queries all SQS servers, however short it is. */
const POLL_SECONDS = 1
/** Consecutive polls without a dead letter that was not seen yet, after which all were seen. */
const MAX_EMPTY_POLLS = 2
const MAX_BATCH_SIZE = 10

export const deadLetterId = ({ MessageId = '' }: DeadLetter): string => MessageId

/** The number of dead letters, those that another command is reading included. SQS counts approximately. */
export async function countDeadLetters(client: SQSClient, url: string): Promise<number> {
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...names] }),
  )
  return names.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0)
}

/** At most `limit` dead letters. */
export async function readDeadLetters(client: SQSClient, url: string, limit: number): Promise<DeadLetter[]> {
  const letters = await receiveUntil(client, url, (all) => all.length >= limit)
  await giveBack(client, url, letters)
  return letters.slice(0, limit)
}

/** The dead letter with this id, which stays hidden from others for two minutes; undefined if the queue has none. */
export async function takeDeadLetter(
  client: SQSClient,
  url: string,
  id: string,
): Promise<DeadLetter | undefined> {
  const letters = await receiveUntil(client, url, (all) => all.some((letter) => deadLetterId(letter) === id))
  const others = letters.filter((letter) => deadLetterId(letter) !== id)
  await giveBack(client, url, others)
  return letters.find((letter) => deadLetterId(letter) === id)
}

/** The next dead letters, which stay hidden from others for a time: the one of the queue, unless it is given. */
async function receive(client: SQSClient, url: string, holdSeconds?: number): Promise<DeadLetter[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: MAX_BATCH_SIZE,
      WaitTimeSeconds: POLL_SECONDS,
      ...(holdSeconds !== undefined && { VisibilityTimeout: holdSeconds }),
      MessageSystemAttributeNames: ['SentTimestamp', 'MessageGroupId'],
      MessageAttributeNames: ['All'],
    }),
  )
  return Messages
}

async function receiveUntil(
  client: SQSClient,
  url: string,
  isEnough: (letters: readonly DeadLetter[]) => boolean,
): Promise<DeadLetter[]> {
  const letters = new Map<string, DeadLetter>()
  for (let empty = 0; empty < MAX_EMPTY_POLLS && !isEnough([...letters.values()]); ) {
    const received = await receive(client, url, HOLD_SECONDS)
    const isNew = received.some((letter) => !letters.has(deadLetterId(letter)))
    // The latest receipt of a dead letter is the one to return it with.
    for (const letter of received) letters.set(deadLetterId(letter), letter)
    empty = isNew ? 0 : empty + 1
  }
  return [...letters.values()]
}

/** Makes dead letters visible to others again. One that SQS does not give back becomes visible by itself. */
export async function giveBack(
  client: SQSClient,
  url: string,
  letters: readonly DeadLetter[],
): Promise<void> {
  for (const batch of chunked(letters, MAX_BATCH_SIZE)) {
    await client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl: url,
        Entries: batch.map(({ ReceiptHandle }, at) => ({
          Id: String(at),
          ReceiptHandle,
          VisibilityTimeout: 0,
        })),
      }),
    )
  }
}

/** URLs of a queue and of its dead-letter queue. */
type QueueWithDeadLetters = { readonly queue: string; readonly deadLetters: string }

/** How many messages were moved to the queue, and how many were left: those that it rejected or that arrived after the start. */
type RedriveResult = { readonly moved: number; readonly left: number }

/** Consecutive polls without a message to move, after which `redrive` stops: new dead letters arrive faster than it reads. */
const MAX_POLLS_WITHOUT_MOVE = 20

const MAX_DELETE_ATTEMPTS = 3

/**
 * Moves dead letters back to their queue. Each is sent before it is deleted: an interruption in between can duplicate a
 * message but never lose one. Moves only messages sent before the start, so the loop ends even if they fail again.
 */
export async function redrive(
  client: SQSClient,
  { queue, deadLetters }: QueueWithDeadLetters,
  now: () => number,
): Promise<RedriveResult> {
  const startedAt = now()
  const moved = new Set<string>()
  const left = new Set<string>()
  for (
    let empty = 0, pollsWithoutMove = 0;
    empty < MAX_EMPTY_POLLS && pollsWithoutMove < MAX_POLLS_WITHOUT_MOVE;
  ) {
    const letters = await receive(client, deadLetters)
    const fresh = letters.filter((letter) => {
      if (sentAt(letter) > startedAt) left.add(deadLetterId(letter))
      return !moved.has(deadLetterId(letter)) && !left.has(deadLetterId(letter))
    })
    const sent = await sendDeadLetters(client, queue, fresh)
    for (const letter of fresh) (sent.has(letter) ? moved : left).add(deadLetterId(letter))
    // Includes moved messages that SQS returned a second time.
    await deleteDeadLetters(
      client,
      deadLetters,
      letters.filter((letter) => moved.has(deadLetterId(letter))),
    )
    empty = letters.length === 0 ? empty + 1 : 0
    pollsWithoutMove = sent.size === 0 ? pollsWithoutMove + 1 : 0
  }
  return { moved: moved.size, left: left.size }
}

const sentAt = ({ Attributes }: DeadLetter): number => Number(Attributes?.SentTimestamp)

/** Sends the dead letters and returns those that the queue accepted. */
export async function sendDeadLetters(
  client: SQSClient,
  url: string,
  letters: readonly DeadLetter[],
): Promise<Set<DeadLetter>> {
  if (letters.length === 0) return new Set()
  const { Successful } = await client.send(
    new SendMessageBatchCommand({
      QueueUrl: url,
      Entries: letters.map(({ Body, Attributes, MessageAttributes }, index) => ({
        Id: String(index),
        MessageBody: Body,
        MessageAttributes,
        // Of fair queues.
        ...(Attributes?.MessageGroupId !== undefined && { MessageGroupId: Attributes.MessageGroupId }),
      })),
    }),
  )
  return new Set(deadLettersOf(Successful, letters))
}

/** Deletes dead letters. @throws CommandFailure if SQS does not delete all of them: continuing would duplicate many messages */
export async function deleteDeadLetters(
  client: SQSClient,
  url: string,
  letters: readonly DeadLetter[],
): Promise<void> {
  let pending = letters
  for (let attempt = 1; pending.length > 0; attempt++) {
    if (attempt > MAX_DELETE_ATTEMPTS) {
      throw new CommandFailure(
        `SQS did not delete ${counted(pending.length, 'dead letter')} that had been processed. Run the command again.`,
        EXIT.failed,
      )
    }
    const { Failed } = await client.send(
      new DeleteMessageBatchCommand({
        QueueUrl: url,
        Entries: pending.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle })),
      }),
    )
    pending = deadLettersOf(Failed, pending)
  }
}

/** The dead letters that the entries of a batch response refer to. */
const deadLettersOf = (
  entries: readonly { Id?: string | undefined }[] = [],
  letters: readonly DeadLetter[],
): DeadLetter[] => entries.flatMap(({ Id }) => letters[Number(Id)] ?? [])
