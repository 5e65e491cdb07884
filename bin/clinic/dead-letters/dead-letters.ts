import {
  type Message as DeadLetter,
  DeleteMessageBatchCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { CommandFailure, EXIT } from '../tool/output.ts'
import { deadLetterId } from './dead-letter-reading.ts'

/** URLs of a queue and of its dead-letter queue. */
export type QueueWithDeadLetters = { readonly queue: string; readonly deadLetters: string }

/** How many messages were moved to the queue, and how many were left: those that it rejected or that arrived after the start. */
export type RedriveResult = { readonly moved: number; readonly left: number }

/** Consecutive empty polls after which the queue counts as empty. A long poll queries all SQS servers. */
const MAX_EMPTY_POLLS = 2
const POLL_SECONDS = 2
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

async function receive(client: SQSClient, url: string): Promise<DeadLetter[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: POLL_SECONDS,
      MessageSystemAttributeNames: ['SentTimestamp', 'MessageGroupId'],
      MessageAttributeNames: ['All'],
    }),
  )
  return Messages
}

/** Sends the dead letters and returns those that the queue accepted. */
export async function sendDeadLetters(
  client: SQSClient,
  url: string,
  letters: readonly DeadLetter[],
): Promise<Set<DeadLetter>> {
  if (letters.length === 0) return new Set()
  const isFifo = url.endsWith('.fifo')
  const { Successful } = await client.send(
    new SendMessageBatchCommand({
      QueueUrl: url,
      Entries: letters.map(({ Body, Attributes, MessageAttributes, MessageId }, index) => ({
        Id: String(index),
        MessageBody: Body,
        MessageAttributes,
        // A FIFO queue requires a deduplication id. A dead letter that fails again has a new message id.
        ...(isFifo && { MessageDeduplicationId: MessageId }),
        // The group is the clinic on fair queues.
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
        `${pending.length} dead letters were processed, but SQS did not delete them. Run the command again.`,
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
