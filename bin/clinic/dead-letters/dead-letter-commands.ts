import type { Message as DeadLetter, SQSClient } from '@aws-sdk/client-sqs'
import type { Command } from 'commander'
import * as z from 'zod'
import { oneOf } from '../../../shared/api/schemas.ts'
import { addYesOption, confirm } from '../tool/confirmation.ts'
import { connectQueues } from '../tool/connection.ts'
import { CommandFailure, EXIT, formatTable, NeedsAttention, parseOption, print } from '../tool/output.ts'
import { deadLetterJson, describeDeadLetter } from './dead-letter-json.ts'
import {
  countDeadLetters,
  deleteDeadLetters,
  giveBack,
  readDeadLetters,
  redrive,
  sendDeadLetters,
  takeDeadLetter,
} from './dead-letters.ts'

/** Queues with dead-letter queues, by their output names. */
const QUEUES = {
  emails: { queue: 'EmailQueueUrl', deadLetters: 'DeadEmailQueueUrl' },
  feedback: { queue: 'FeedbackQueueUrl', deadLetters: 'DeadFeedbackQueueUrl' },
  deliveries: { queue: 'DeliveryQueueUrl', deadLetters: 'DeadDeliveryQueueUrl' },
  'slow-deliveries': { queue: 'SlowDeliveryQueueUrl', deadLetters: 'DeadSlowDeliveryQueueUrl' },
}
type QueueName = keyof typeof QUEUES
const QUEUE_NAMES = Object.keys(QUEUES) as [QueueName, ...QueueName[]]

/**
 * Dead letters that no queue takes back, by the output with the URL of their queue. The sweep of events processes what positions of
 * the stream were about that the fan-out failed at. The command that started maintenance continues it.
 */
const FINAL = {
  maintenance: 'DeadMaintenanceQueueUrl',
  'failed-fan-outs': 'FailedFanOutQueueUrl',
}
type FinalName = keyof typeof FINAL
const FINAL_NAMES = Object.keys(FINAL) as [FinalName, ...FinalName[]]

/** Queues of dead letters, by the name of the queue that they come from. */
type DeadLetterQueue = QueueName | FinalName
const DEAD_LETTER_QUEUES = [...QUEUE_NAMES, ...FINAL_NAMES] as const

const isFinal = (name: DeadLetterQueue): name is FinalName => name in FINAL

/** The output with the URL of a queue of dead letters. */
const deadLettersOutput = (name: DeadLetterQueue): string =>
  isFinal(name) ? FINAL[name] : QUEUES[name].deadLetters

/** The output with the URL of the queue that takes dead letters back; null if none does. */
const sourceOutput = (name: DeadLetterQueue): string | null => (isFinal(name) ? null : QUEUES[name].queue)

type Options = { queue?: string; limit: string }

const QUEUE_OPTION = ['--queue <name>', `${DEAD_LETTER_QUEUES.join(', ')} (default: all)`] as const

export function addDeadLetterCommands(group: Command): void {
  group
    .command('count')
    .description('count the dead letters of each queue')
    .action(async (_: object, command: Command) => {
      const { client, urlOf } = await connectQueues(command)
      const data = await Promise.all(
        DEAD_LETTER_QUEUES.map(async (queue) => ({
          queue,
          letters: await countDeadLetters(client, urlOf(deadLettersOutput(queue))),
        })),
      )
      print(command, { data }, formatTable(data.map(({ queue, letters }) => [queue, String(letters)])))
    })

  group
    .command('list')
    .description(
      'list dead letters with their ids, oldest first; other commands do not see them in the meantime',
    )
    .option(...QUEUE_OPTION)
    .option('--limit <number>', 'of each queue', '100')
    .action(async (given: Options, command: Command) => {
      const limit = parseOption('limit', z.coerce.number().int().min(1).max(10_000), given.limit)
      const names = namesOf(given.queue)
      const { client, urlOf } = await connectQueues(command)
      const found = await Promise.all(
        names.map(async (name) =>
          (await readDeadLetters(client, urlOf(deadLettersOutput(name)), limit)).map((one) =>
            deadLetterJson(name, one),
          ),
        ),
      )
      const data = found.flatMap((letters) => letters.toSorted((a, b) => (a.sent_at < b.sent_at ? -1 : 1)))
      const rows = data.map((letter) => [
        letter.queue,
        letter.letter_id,
        `sent ${letter.sent_at}`,
        describeDeadLetter(letter),
      ])
      print(command, { data }, formatTable(rows))
    })

  group
    .command('show')
    .description('show what a dead letter refers to')
    .argument('<letter>', 'id of "dead-letter list"')
    .option(...QUEUE_OPTION)
    .action(async (id: string, given: Options, command: Command) => {
      const { client, name, url, letter } = await take(command, id, given)
      await giveBack(client, url, [letter])
      const result = deadLetterJson(name, letter)
      const rows = Object.entries(result).flatMap(([key, value]) =>
        value === undefined ? [] : [[key, String(value)]],
      )
      print(command, result, formatTable(rows))
    })
  addRedrive(group)
  addDeletion(group)
}

function addRedrive(group: Command): void {
  group
    .command('redrive')
    .description('move a dead letter, or all, back to the queue, after the cause is fixed')
    .argument('[letter]', 'id of "dead-letter list"')
    .option(...QUEUE_OPTION)
    .option('--all', 'all dead letters that a queue takes back', false)
    .action(async (id: string | undefined, given: Options & { all: boolean }, command: Command) => {
      if ((id === undefined) !== given.all) throw new CommandFailure('Specify either a dead letter or --all.')
      if (id === undefined) return redriveAll(command, given)
      const { client, name, url, letter, source } = await take(command, id, given)
      if (source === null) {
        await giveBack(client, url, [letter])
        throw new CommandFailure(`No queue takes back dead letters of ${name}: delete it.`)
      }
      const sent = await sendDeadLetters(client, source, [letter])
      if (sent.size === 0) {
        await giveBack(client, url, [letter])
        throw new CommandFailure('SQS did not accept the message. It is still a dead letter.', EXIT.failed)
      }
      await deleteDeadLetters(client, url, [letter])
      print(command, { ...deadLetterJson(name, letter), moved: true }, [`Moved dead letter ${id} to ${name}`])
    })
}

async function redriveAll(command: Command, given: { readonly queue?: string }): Promise<void> {
  const names =
    given.queue === undefined ? QUEUE_NAMES : [parseOption('queue', oneOf(QUEUE_NAMES), given.queue)]
  const { client, urlOf } = await connectQueues(command)
  const data = await Promise.all(
    names.map(async (name) => {
      const { queue, deadLetters } = QUEUES[name]
      const urls = { queue: urlOf(queue), deadLetters: urlOf(deadLetters) }
      return { queue: name, ...(await redrive(client, urls, Date.now)) }
    }),
  )
  const rows = data.map(({ queue, moved, left }) => [queue, `${moved} moved`, `${left} left`])
  print(command, { data }, formatTable(rows))
  if (data.some(({ left }) => left > 0)) throw new NeedsAttention()
}

function addDeletion(group: Command): void {
  const deletion = group
    .command('delete')
    .description('delete a dead letter permanently')
    .argument('<letter>', 'id of "dead-letter list"')
    .option(...QUEUE_OPTION)
    .action(async (id: string, given: Options, command: Command) => {
      const { client, name, url, letter } = await take(command, id, given)
      await giveBack(client, url, [letter])
      const what = describeDeadLetter(deadLetterJson(name, letter))
      await confirm(command, [`Dead letter ${id} of ${name} is deleted: ${what}`])
      // SQS holds a dead letter for less time than an operator may need to decide.
      const taken = await take(command, id, { queue: name })
      await deleteDeadLetters(client, url, [taken.letter])
      print(command, { ...deadLetterJson(name, letter), deleted: true }, [
        `Deleted dead letter ${id} of ${name}`,
      ])
    })
  addYesOption(deletion)
}

/** A dead letter that this command alone can change for now. */
type Taken = {
  readonly client: SQSClient
  readonly name: DeadLetterQueue
  readonly url: string
  readonly letter: DeadLetter
  /** The URL of the queue that takes it back. */
  readonly source: string | null
}

/** The queues that `--queue` selects. */
const namesOf = (queue: string | undefined): readonly DeadLetterQueue[] =>
  queue === undefined ? DEAD_LETTER_QUEUES : [parseOption('queue', oneOf(DEAD_LETTER_QUEUES), queue)]

/** Takes the dead letter with an id out of the queue that has it, for two minutes. @throws CommandFailure if none has it */
async function take(command: Command, id: string, given: { readonly queue?: string }): Promise<Taken> {
  const names = namesOf(given.queue)
  const { client, urlOf } = await connectQueues(command)
  const found = await Promise.all(
    names.map(async (name) => {
      const url = urlOf(deadLettersOutput(name))
      const letter = await takeDeadLetter(client, url, id)
      const source = sourceOutput(name)
      return letter ? [{ client, name, url, letter, source: source && urlOf(source) }] : []
    }),
  )
  const [taken] = found.flat()
  if (taken) return taken
  throw new CommandFailure(
    `There is no dead letter ${id}. "dead-letter list" shows all. One that another command has just read is back within two minutes.`,
  )
}
