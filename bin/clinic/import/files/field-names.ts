/** Names of columns, compared as people write them. */
import { foldName } from '../../../../shared/domain/closest-name.ts'

/** The letters and digits of a text, in which aliases are compared: `750302/1234` and `7503021234` are the same. */
export const lettersOf = (text: string): string => foldName(text).replace(/[^\p{L}\p{N}]/gu, '')

/** `4`, `4 and 5`, `4, 5 and 7` */
export const listed = (items: readonly (string | number)[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`
