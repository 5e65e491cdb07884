import { stringify, v5, v7 } from 'uuid'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text is an 8-4-4-4-12 hexadecimal id, regardless of its version bits. */
export const isUuid = (text: string): boolean => UUID.test(text)

/** A new id (version 7). Lists of deliveries sort by id, and so by creation time; nothing else may depend on the order. */
export const newUuid = (): string => v7()

/** When an id of version 7 was made, as an ISO 8601 instant. */
export const instantOfUuid = (id: string): string =>
  new Date(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toISOString()

/** An id from the first 16 bytes of a digest (version 8). */
export const uuidOfDigest = (digest: Uint8Array): string => {
  const bytes = Uint8Array.from(digest.subarray(0, 16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return stringify(bytes)
}

/** The id of time off of a doctor, or of a holiday of a clinic: it follows from its days and times (version 5). */
export const timeOffId = (owner: string, span: string): string => v5(`time_off:${span}`, owner)

/** The id of the line item at an index of an imported invoice (version 5). It says no more than the invoice's id. */
export const lineItemId = (invoiceId: string, index: number): string => v5(`line_item:${index}`, invoiceId)
