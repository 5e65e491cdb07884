/** Attributes that hold objects, and that items from before their fields existed do not have. */
import { type Attribute, type Attributes, attribute, type Codec, list } from './attributes.ts'

/** A list of objects. An empty one is stored without an attribute, so records from before the field existed decode as empty. */
export const optionalList = <Element>(
  name: string,
  elements: Codec<Element>,
): Attribute<readonly Element[]> => {
  const inner = list(name, elements)
  return {
    ...inner,
    encode: (values) => (values.length === 0 ? undefined : inner.encode(values)),
    decode: (stored) => (stored === undefined ? [] : inner.decode(stored)),
  }
}

/** An object in one attribute, under the attributes of a map. */
export const object = <Value>(name: string, { encode, decode }: Codec<Value>): Attribute<Value> =>
  attribute(name, encode, (stored) => {
    if (typeof stored !== 'object' || stored === null)
      throw new TypeError(`attribute ${name} is not an object`)
    return decode(stored as Attributes)
  })
