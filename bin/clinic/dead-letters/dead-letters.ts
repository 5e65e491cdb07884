/** Dead letters. SQS only hands messages out for a time, so each that was only read is given back at once. */
import {
  ChangeMessageVisibilityBatchCommand,
  type Message as DeadLetter,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import type { Command } from 'commander'
import * as z from 'zod'
import { oneOf } from '../../../shared/api/schemas.ts'
import { chunked } from '../../../shared/store/table/chunked.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { connectQueues } from '../tool/connection.ts'
import { CommandFailure, EXIT, formatTable, NeedsAttention, parseOption, print } from '../tool/output.ts'

/**
 * The outputs with the URLs of each queue: of its dead letters, and of the queue that takes them back. None takes back those of
 * maintenance, which its command continues, nor positions of the stream that the fan-out failed at, which the sweep of events processes.
 */
const QUEUES: Readonly<Record<string, readonly string[]>> = {
  emails: ['DeadEmailQueueUrl', 'EmailQueueUrl'],
  feedback: ['DeadFeedbackQueueUrl', 'FeedbackQueueUrl'],
  deliveries: ['DeadDeliveryQueueUrl', 'DeliveryQueueUrl'],
  'slow-deliveries': ['DeadSlowDeliveryQueueUrl', 'SlowDeliveryQueueUrl'],
  maintenance: ['DeadMaintenanceQueueUrl'],
  'failed-fan-outs': ['FailedFanOutQueueUrl'],
}
const ALL = Object.keys(QUEUES) as [string, ...string[]]
const REDRIVEN = ALL.filter((name) => QUEUES[name]?.[1] !== undefined) as [string, ...string[]]

/** The dead letters of a queue. `source` takes them back. */
type Queue = Readonly<{ client: SQSClient; name: string; url: string; source: string }>

type Options = { queue?: string; limit: string }

/** Opens the queues that `--queue` selects among those that a command is for. */
async function openQueues(command: Command, queue?: string, among = ALL): Promise<Queue[]> {
  const names = queue === undefined ? among : [parseOption('queue', oneOf(among), queue)]
  const { client, urlOf } = await connectQueues(command)
  return names.map((name) => {
    const [url = '', source = ''] = (QUEUES[name] ?? []).map(urlOf)
    return { name, client, url, source }
  })
}

export function addDeadLetterCommands(group: Command): void {
  const add = (name: string, description: string, queues = ALL) =>
    group
      .command(name)
      .description(description)
      .option('--queue <name>', `${queues.join(', ')} (default: all)`)

  add('count', 'count the dead letters of each queue').action(async (given: Options, command: Command) => {
    const data = await Promise.all((await openQueues(command, given.queue)).map(countLetters))
    print(command, { data }, formatTable(data.map(({ queue, letters }) => [queue, String(letters)])))
  })

  add('list', 'list dead letters with their ids, oldest first; meanwhile, others do not see them')
    .option('--limit <number>', 'of each queue', '100')
    .action(async (given: Options, command: Command) => {
      const limit = parseOption('limit', z.coerce.number().int().min(1).max(10_000), given.limit)
      const read = async (queue: Queue) => {
        const letters = await receiveUntil(queue, ({ length }) => length >= limit)
        await giveBack(queue, letters)
        return letters.slice(0, limit).map((letter) => deadLetterJson(queue.name, letter))
      }
      const found = (await Promise.all((await openQueues(command, given.queue)).map(read))).flat()
      const data = found.toSorted((a, b) => (a.sent_at < b.sent_at ? -1 : 1))
      const rows = data.map((one) => [one.queue, one.letter_id, `sent ${one.sent_at}`, describe(one)])
      print(command, { data }, formatTable(rows))
    })

  add('redrive', 'move dead letters back to their queues, after the cause is fixed', REDRIVEN)
    .option('--all', 'of all these queues, as without --queue', false)
    .action(async (given: Options, command: Command) => {
      const data = await Promise.all((await openQueues(command, given.queue, REDRIVEN)).map(redrive))
      const rows = data.map(({ queue, moved, left }) => [queue, `${moved} moved`, `${left} left`])
      print(command, { data }, formatTable(rows))
      if (data.some(({ left }) => left > 0)) throw new NeedsAttention()
    })

  addYesOption(add('delete', 'delete a dead letter permanently'))
    .argument('<letter>', 'id of "dead-letter list"')
    .action(async (id: string, given: Options, command: Command) => {
      const { queue, json } = await find(id, await openQueues(command, given.queue))
      await confirm(command, [`Dead letter ${id} of ${queue.name} is deleted: ${describe(json)}`])
      // SQS holds a dead letter for less time than an operator may need to decide.
      const { letter } = await find(id, [queue], true)
      await deleteLetters(queue, [letter])
      print(command, { ...json, deleted: true }, [`Deleted dead letter ${id} of ${queue.name}`])
    })
}

/** The dead letter with an id, which stays hidden from others if it is kept. @throws CommandFailure if no queue has it */
async function find(id: string, queues: readonly Queue[], isKept = false) {
  const isWanted = ({ MessageId }: DeadLetter) => MessageId === id
  const take = async (queue: Queue) => {
    const letters = await receiveUntil(queue, (all) => all.some(isWanted))
    await giveBack(queue, isKept ? letters.filter((letter) => !isWanted(letter)) : letters)
    return letters.filter(isWanted).map((letter) => ({ queue, letter }))
  }
  const [found] = (await Promise.all(queues.map(take))).flat()
  if (found) return { ...found, json: deadLetterJson(found.queue.name, found.letter) }
  throw new CommandFailure(
    `There is no dead letter ${id}. "dead-letter list" shows all. One that another command has just read is back within two minutes.`,
  )
}

const uuid = z.union([z.uuid(), z.tuple([z.uuid()]).transform(([only]) => only)]).optional()

/** The fields of a well-formed body. SES sends ids as lists. A malformed body can hold anything, so its text is never shown. */
const Fields = z
  .object({ clinic: uuid, message: uuid, webhook: uuid, delivery: uuid })
  .extend({
    waits: z.int().optional(),
    event: z.enum(['Send', 'Delivery', 'Bounce', 'Complaint', 'Reject']).optional(),
    at: z.iso.datetime({ offset: true }).optional(),
    task: z.object({ name: z.enum(['verify', 'migrate', 'reconcile']) }).optional(),
  })
  .refine((fields) => Object.keys(fields).length > 0)

function fieldsOf(body: string) {
  try {
    const { clinic, message, webhook, delivery, task, ...others } = Fields.parse(JSON.parse(body))
    const ids = { clinic_id: clinic, message_id: message, webhook_id: webhook, delivery_id: delivery }
    return { ...ids, ...others, task: task?.name }
  } catch {
    return undefined
  }
}

/** A dead letter as commands print it: ids, times and counts. */
export function deadLetterJson(queue: string, { MessageId = '', Body = '', Attributes }: DeadLetter) {
  const fields = fieldsOf(Body)
  const sent_at = new Date(Number(Attributes?.SentTimestamp ?? 0)).toISOString()
  const letter = { queue, letter_id: MessageId, sent_at }
  return { ...letter, is_malformed: !fields, bytes: Buffer.byteLength(Body), ...fields }
}

/** A dead letter as text, without its queue, id and time. */
function describe(letter: ReturnType<typeof deadLetterJson>): string {
  const { is_malformed, bytes, queue: _, letter_id: __, sent_at: ___, ...fields } = letter
  if (is_malformed) return `malformed, ${bytes} bytes`
  const texts = known(fields).map(([name, value]) => `${name.replace(/_id$/, '')} ${value}`)
  return texts.join(', ')
}

const known = (fields: object): [name: string, value: string][] =>
  Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))

/** The number of dead letters, those that another command is reading included. SQS counts approximately. */
async function countLetters({ name: queue, client, url: QueueUrl }: Queue) {
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const
  const input = { QueueUrl, AttributeNames: [...names] }
  const { Attributes = {} } = await client.send(new GetQueueAttributesCommand(input))
  return { queue, letters: names.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0) }
}

const BATCH_SIZE = 10

/** Reads until it has enough, or has seen all. Dead letters are hidden from others for two minutes, unless they are given back before. */
async function receiveUntil({ client, url: QueueUrl }: Queue, isEnough = (_: DeadLetter[]) => false) {
  const letters = new Map<string | undefined, DeadLetter>()
  // All were seen after two polls in a row without another one.
  for (let empty = 0; empty < 2 && !isEnough([...letters.values()]); ) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({
        QueueUrl,
        MaxNumberOfMessages: BATCH_SIZE,
        // A long poll queries all SQS servers, however short it is.
        WaitTimeSeconds: 1,
        VisibilityTimeout: 120,
        MessageSystemAttributeNames: ['SentTimestamp', 'MessageGroupId'],
        MessageAttributeNames: ['All'],
      }),
    )
    const before = letters.size
    // The latest receipt of a dead letter is the one to return it with.
    for (const letter of Messages) letters.set(letter.MessageId, letter)
    empty = letters.size > before ? 0 : empty + 1
  }
  return [...letters.values()]
}

/** Makes dead letters visible to others again. One that SQS does not give back becomes visible by itself. */
async function giveBack({ client, url: QueueUrl }: Queue, letters: readonly DeadLetter[]): Promise<void> {
  for (const batch of chunked(letters, BATCH_SIZE)) {
    const Entries = batch.map((one, at) => ({ ...entry(one, at), VisibilityTimeout: 0 }))
    await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }))
  }
}

const entry = ({ ReceiptHandle }: DeadLetter, at: number) => ({ Id: String(at), ReceiptHandle })

/**
 * Moves dead letters from before its start back to their queue. Each is sent before it is deleted: an interruption in between can
 * duplicate a message but never lose one. It reads again until none is moved: a queue hands out no more of a group before that.
 */
export async function redrive(queue: Queue) {
  const startedAt = Date.now()
  const seen = new Set<string | undefined>()
  let moved = 0
  for (let before = -1; moved > before; ) {
    before = moved
    const letters = await receiveUntil(queue)
    for (const { MessageId } of letters) seen.add(MessageId)
    const old = letters.filter(({ Attributes }) => Number(Attributes?.SentTimestamp) <= startedAt)
    for (const batch of chunked(old, BATCH_SIZE)) {
      const sent = await send(queue, batch)
      await deleteLetters(queue, sent)
      moved += sent.length
    }
  }
  return { queue: queue.name, moved, left: seen.size - moved }
}

/** Sends dead letters to their queue. Returns those that it accepted. */
async function send({ client, source: QueueUrl }: Queue, letters: DeadLetter[]): Promise<DeadLetter[]> {
  const Entries = letters.map(({ Body, Attributes, MessageAttributes }, at) => ({
    Id: String(at),
    MessageBody: Body,
    MessageAttributes,
    // The group is the clinic on fair queues.
    ...(Attributes?.MessageGroupId !== undefined && { MessageGroupId: Attributes.MessageGroupId }),
  }))
  const { Failed = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))
  return letters.filter((_, at) => !Failed.some(({ Id }) => Id === String(at)))
}

/** @throws CommandFailure if SQS does not delete all: continuing would duplicate many messages */
async function deleteLetters({ client, url: QueueUrl }: Queue, letters: DeadLetter[]): Promise<void> {
  if (letters.length === 0) return
  const Entries = letters.map(entry)
  const { Failed = [] } = await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))
  if (Failed.length > 0)
    throw new CommandFailure('SQS did not delete a dead letter. Run the command again.', EXIT.failed)
}
