import { v5, v7 } from 'uuid'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Any 8-4-4-4-12 hexadecimal id is well-formed, whatever its version bits. */
export const isUuid = (text: string): boolean => UUID.test(text)

/** A fresh id (version 7). Nothing may depend on its order. */
export const newUuid = (): string => v7()

/** The stable id of a clinic's own record: the same external id gives the same UUID in every import (version 5). */
export const importedUuid = (clinicId: string, entity: string, externalId: string): string =>
  v5(`${entity}:${externalId}`, clinicId)
