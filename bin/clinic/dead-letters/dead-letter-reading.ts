/** Reads dead letters. SQS only hands messages out for a time, so each that was read is given back at once. */
import {
  ChangeMessageVisibilityBatchCommand,
  GetQueueAttributesCommand,
  type Message as Letter,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { chunked } from '../../../shared/store/table/chunked.ts'

/** How long a letter is hidden from others, unless it is given back before. */
const HOLD_SECONDS = 120
/** A long poll queries all SQS servers, however short it is. */
const POLL_SECONDS = 1
/** Consecutive polls without a letter that was not seen yet, after which all were seen. */
const MAX_EMPTY_POLLS = 2
const MAX_BATCH_SIZE = 10

export const letterId = ({ MessageId = '' }: Letter): string => MessageId

/** The number of dead letters, those that another command is reading included. SQS counts approximately. */
export async function countLetters(client: SQSClient, url: string): Promise<number> {
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...names] }),
  )
  return names.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0)
}

/** At most `limit` dead letters. */
export async function readLetters(client: SQSClient, url: string, limit: number): Promise<Letter[]> {
  const letters = await receiveUntil(client, url, (all) => all.length >= limit)
  await giveBack(client, url, letters)
  return letters.slice(0, limit)
}

/** The dead letter with this id, which stays hidden from others for two minutes; undefined if the queue has none. */
export async function takeLetter(client: SQSClient, url: string, id: string): Promise<Letter | undefined> {
  const letters = await receiveUntil(client, url, (all) => all.some((letter) => letterId(letter) === id))
  const others = letters.filter((letter) => letterId(letter) !== id)
  await giveBack(client, url, others)
  return letters.find((letter) => letterId(letter) === id)
}

async function receiveUntil(
  client: SQSClient,
  url: string,
  isEnough: (letters: readonly Letter[]) => boolean,
): Promise<Letter[]> {
  const letters = new Map<string, Letter>()
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
    const isNew = Messages.some((letter) => !letters.has(letterId(letter)))
    // The latest receipt of a letter is the one to return it with.
    for (const letter of Messages) letters.set(letterId(letter), letter)
    empty = isNew ? 0 : empty + 1
  }
  return [...letters.values()]
}

/** Makes letters visible to others again. One that SQS does not give back becomes visible by itself. */
export async function giveBack(client: SQSClient, url: string, letters: readonly Letter[]): Promise<void> {
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
