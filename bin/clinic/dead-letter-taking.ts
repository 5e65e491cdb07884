import type { Message as Letter, SQSClient } from '@aws-sdk/client-sqs'
import type { Command } from 'commander'
import { oneOf } from '../../shared/api/schemas.ts'
import { connectQueues } from './connection.ts'
import {
  DEAD_LETTER_QUEUES,
  type DeadLetterQueue,
  deadLettersOutput,
  sourceOutput,
} from './dead-letter-queues.ts'
import { takeLetter } from './dead-letter-reading.ts'
import { CommandFailure, parseOption } from './output.ts'

/** A dead letter that this command alone can change for now. */
type Taken = {
  readonly client: SQSClient
  readonly name: DeadLetterQueue
  readonly url: string
  readonly letter: Letter
  /** The URL of the queue that takes it back. */
  readonly source: string | null
}

/** The queues that `--queue` selects. */
export const namesOf = (queue: string | undefined): readonly DeadLetterQueue[] =>
  queue === undefined ? DEAD_LETTER_QUEUES : [parseOption('queue', oneOf(DEAD_LETTER_QUEUES), queue)]

/** Takes the letter with an id out of the queue that has it, for two minutes. @throws CommandFailure if none has it */
export async function take(command: Command, id: string, given: { readonly queue?: string }): Promise<Taken> {
  const names = namesOf(given.queue)
  const { client, urlOf } = await connectQueues(command)
  const found = await Promise.all(
    names.map(async (name) => {
      const url = urlOf(deadLettersOutput(name))
      const letter = await takeLetter(client, url, id)
      const source = sourceOutput(name)
      return letter ? [{ client, name, url, letter, source: source && urlOf(source) }] : []
    }),
  )
  const [taken] = found.flat()
  if (taken) return taken
  throw new CommandFailure(
    `There is no dead letter ${id}. "dead-letters list" shows all. One that another command has just read is back within two minutes.`,
  )
}
