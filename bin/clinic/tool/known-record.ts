import { isUuid } from '../../../shared/domain/uuid.ts'
import { CommandFailure } from './output.ts'

/** The clinic has no such record. The typed text is not repeated unless it is an id: it may be a name. */
export const unknownRecord = (noun: string, id: string): CommandFailure =>
  new CommandFailure(
    `The clinic has no ${noun}${isUuid(id) ? ` ${id}` : ' with this id'}. Find it with "${noun} list".`,
  )

/** The record with a typed id. @throws CommandFailure if there is none */
export async function requireRecord<R>(
  noun: string,
  id: string,
  find: (id: string) => Promise<R | null>,
): Promise<R> {
  const found = isUuid(id) ? await find(id.toLowerCase()) : null
  if (found) return found
  throw unknownRecord(noun, id)
}
