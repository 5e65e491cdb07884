import { currencyDecimals } from '../../domain/money/currencies.ts'
import { type AttributeMap, type Attributes, number, recordCodec } from './attributes.ts'

/**
 * Holds the number of decimals that the amounts of an item were written with. Items from before this attribute was
 * added have the decimals of the table of currencies.
 */
export const DECIMALS_ATTRIBUTE = 'dec'

const decimals = number(DECIMALS_ATTRIBUTE)

/**
 * The codec of a record with amounts in minor units of its currency. If the table of currencies changes, amounts of
 * older items are converted to the new number of decimals when they are read.
 */
export function amountCodec<Entity extends { readonly id: string; readonly currency: string }>(
  map: AttributeMap<Omit<Entity, 'id'>>,
) {
  const codec = recordCodec<Entity>(map)

  /** @throws TypeError; RangeError if an amount is not exact in the decimals that its currency has now */
  function decode(item: Attributes, id: string): Entity {
    const record = codec.decode(item, id)
    const stored = item[DECIMALS_ATTRIBUTE]
    const shift = stored === undefined ? 0 : currencyDecimals(record.currency) - decimals.decode(stored)
    return shift === 0 ? record : codec.decode(codec.rescale(item, shift), id)
  }

  return {
    large: codec.large,
    unlisted: codec.unlisted,
    encode: (record: Entity): Attributes => ({
      ...codec.encode(record),
      [DECIMALS_ATTRIBUTE]: currencyDecimals(record.currency),
    }),
    decode,
  }
}
