/** Reads dead letters. SQS only hands messages out for a time, so each that was read is given back at once. */
import {
  ChangeMessageVisibilityBatchCommand,
  type Message as DeadLetter,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { chunked } from '../../../shared/store/table/chunked.ts'

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

async function receiveUntil(
  client: SQSClient,
  url: string,
  isEnough: (letters: readonly DeadLetter[]) => boolean,
): Promise<DeadLetter[]> {
  const letters = new Map<string, DeadLetter>()
  for (let empty = 0; empty < MAX_EMPTY_POLLS && !isEnough([...letters.values()]); ) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl: url,
        MaxNumberOfMessages: MAX_BATCH_SIZE,
        WaitTimeSeconds: POLL_SECONDS,
        VisibilityTimeout: HOLD_SECONDS,
        MessageSystemAttributeNames: ['SentTimestamp', 'MessageGroupId'],
        MessageAttributeNames: ['All'],
      }),
    )
    const isNew = Messages.some((letter) => !letters.has(deadLetterId(letter)))
    // The latest receipt of a dead letter is the one to return it with.
    for (const letter of Messages) letters.set(deadLetterId(letter), letter)
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
