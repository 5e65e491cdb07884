import {
  DeleteMessageBatchCommand,
  type Message as Letter,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { CommandFailure, EXIT } from './output.ts'

/** URLs of a queue and of where its dead letters go. */
export type QueueWithDeadLetters = { readonly queue: string; readonly deadLetters: string }

/** How many went back to the queue, and how many stay: refused by it, or come while the others were moved. */
export type RedriveResult = { readonly moved: number; readonly left: number }

/** Polls in a row without a letter before there are no more. A long poll asks all of SQS's servers. */
const MAX_EMPTY_POLLS = 2
const POLL_SECONDS = 2
/** Polls in a row without one that could be moved: they are dying faster than it is worth to go on. */
const MAX_POLLS_WITHOUT_MOVE = 20

const MAX_DELETE_ATTEMPTS = 3

/**
 * Moves dead letters back to their queue. Each is sent before it is deleted: what breaks off in between comes twice, and
 * nothing is lost. Only those sent before this began are moved, so one that dies again meanwhile ends no loop.
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
      if (sentAt(letter) > startedAt) left.add(idOf(letter))
      return !moved.has(idOf(letter)) && !left.has(idOf(letter))
    })
    const sent = await send(client, queue, fresh)
    for (const letter of fresh) (sent.has(letter) ? moved : left).add(idOf(letter))
    // With those that SQS shows once more.
    await remove(
      client,
      deadLetters,
      letters.filter((letter) => moved.has(idOf(letter))),
    )
    empty = letters.length === 0 ? empty + 1 : 0
    pollsWithoutMove = sent.size === 0 ? pollsWithoutMove + 1 : 0
  }
  return { moved: moved.size, left: left.size }
}

const idOf = ({ MessageId = '' }: Letter): string => MessageId
const sentAt = ({ Attributes }: Letter): number => Number(Attributes?.SentTimestamp)

async function receive(client: SQSClient, url: string): Promise<Letter[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: 10,
      WaitTimeSeconds: POLL_SECONDS,
      MessageSystemAttributeNames: ['SentTimestamp'],
      MessageAttributeNames: ['All'],
    }),
  )
  return Messages
}

/** The letters that the queue has now. */
async function send(client: SQSClient, url: string, letters: readonly Letter[]): Promise<Set<Letter>> {
  if (letters.length === 0) return new Set()
  const { Successful } = await client.send(
    new SendMessageBatchCommand({
      QueueUrl: url,
      Entries: letters.map(({ Body, MessageAttributes }, at) => ({
        Id: String(at),
        MessageBody: Body,
        MessageAttributes,
      })),
    }),
  )
  return new Set(lettersOf(Successful, letters))
}

/** @throws CommandFailure when SQS keeps some: going on would leave many to be moved twice */
async function remove(client: SQSClient, url: string, letters: readonly Letter[]): Promise<void> {
  let pending = letters
  for (let attempt = 1; pending.length > 0; attempt++) {
    if (attempt > MAX_DELETE_ATTEMPTS) {
      throw new CommandFailure(
        `${pending.length} dead letters are back in their queue, but SQS does not delete them. Run it again.`,
        EXIT.failed,
      )
    }
    const { Failed } = await client.send(
      new DeleteMessageBatchCommand({
        QueueUrl: url,
        Entries: pending.map(({ ReceiptHandle }, at) => ({ Id: String(at), ReceiptHandle })),
      }),
    )
    pending = lettersOf(Failed, pending)
  }
}

/** The letters of a batch's entries. */
const lettersOf = (
  entries: readonly { Id?: string | undefined }[] = [],
  letters: readonly Letter[],
): Letter[] => entries.flatMap(({ Id }) => letters[Number(Id)] ?? [])
