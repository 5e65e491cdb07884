import { isUuid } from '../../shared/domain/uuid.ts'
import { CommandFailure } from './output.ts'

/** The clinic has no such record. What was typed is not repeated unless it is an id: it may be a name. */
export const unknownRecord = (group: string, noun: string, id: string): CommandFailure =>
  new CommandFailure(
    `The clinic has no ${noun}${isUuid(id) ? ` ${id}` : ' with this id'}. Find it with "${group} find" or "${group} list".`,
  )
