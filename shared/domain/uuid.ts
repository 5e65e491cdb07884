import { v5, v7 } from 'uuid'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text is an 8-4-4-4-12 hexadecimal id, regardless of its version bits. */
export const isUuid = (text: string): boolean => UUID.test(text)

/** A new id (version 7). Lists of deliveries sort by id, and so by creation time; nothing else may depend on the order. */
export const newUuid = (): string => v7()

/** The id of an imported record (version 5): the same external id of a clinic produces the same UUID in every import. */
export const importedUuid = (clinicId: string, entity: string, externalId: string): string =>
  v5(`${entity}:${externalId}`, clinicId)
