/** The process's clock and source of ids. Functions get both from their platform; a test may replace this module. */
import { newUuid } from '../domain/uuid.ts'

/** Milliseconds since the epoch. */
export const now = (): number => Date.now()

/** A new id of a record: a UUID. */
export const newId = (): string => newUuid()
