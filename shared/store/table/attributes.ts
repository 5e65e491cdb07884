/**
 * How the fields of a record are stored: each as one attribute with a short name, since bytes are what reads cost.
 * A store lists an attribute for each field (`PATIENT_ATTRIBUTES satisfies AttributeMap<Patient>`), so a field without one
 * does not compile.
 */
import { FORMAT, TTL } from '../keys/key.ts'

/** Which list rows hold an attribute: all, those that are small enough to hold the whole record, or none. */
type Rows = 'all' | 'full' | 'none'

export type Attribute<Value> = {
  readonly name: string
  /** The stored value; undefined stores nothing. */
  readonly encode: (value: Value) => unknown
  /** @throws TypeError or RangeError for a value that `encode` does not return */
  readonly decode: (stored: unknown) => Value
  readonly rows: Rows
  /** Whether the value is an amount of money. */
  readonly isAmount?: true
  /** Converts a stored amount in units of 10^-n to units of 10^-(n + shift). */
  readonly rescale?: (stored: unknown, shift: number) => unknown
}

/** An attribute for each field; the fields of a nested object are stored at the same level as the others. */
export type AttributeMap<Value> = {
  readonly [Name in keyof Value]-?:
    | Attribute<Value[Name]>
    | ([Value[Name]] extends [object] ? AttributeMap<Value[Name]> : never)
}

export const attribute = <Value>(
  name: string,
  encode: (value: Value) => unknown,
  decode: (stored: unknown) => Value,
): Attribute<Value> => ({ name, encode, decode, rows: 'all' })

const unchanged = <Value>(value: Value): unknown => value

export const text = (name: string): Attribute<string> =>
  attribute(name, unchanged, (stored) => {
    if (typeof stored !== 'string') throw new TypeError(`attribute ${name} is not text`)
    return stored
  })

export const number = (name: string): Attribute<number> =>
  attribute(name, unchanged, (stored) => {
    if (!Number.isSafeInteger(stored)) throw new TypeError(`attribute ${name} is not a whole number`)
    return stored as number
  })

export const flag = (name: string): Attribute<boolean> =>
  attribute(name, unchanged, (stored) => {
    if (typeof stored !== 'boolean') throw new TypeError(`attribute ${name} is not a boolean`)
    return stored
  })

export const texts = (name: string): Attribute<readonly string[]> =>
  attribute(name, unchanged, (stored) => {
    if (!Array.isArray(stored)) throw new TypeError(`attribute ${name} is not a list`)
    return stored.map((one) => text(name).decode(one))
  })

/** An amount in minor units of a currency. */
export const amount = (name: string): Attribute<number> => {
  const { decode } = number(name)
  return {
    ...number(name),
    isAmount: true,
    rescale: (stored, shift) => {
      const rescaled = shift < 0 ? decode(stored) / 10 ** -shift : decode(stored) * 10 ** shift
      if (!Number.isSafeInteger(rescaled))
        throw new RangeError(`attribute ${name} is not exact with the decimals of its currency`)
      return rescaled
    },
  }
}

/** One of a closed set of values, stored as it is. */
export const choice = <const Value extends string>(
  name: string,
  values: readonly Value[],
): Attribute<Value> =>
  attribute(name, unchanged, (stored) => {
    const value = values.find((one) => one === stored)
    if (value === undefined) throw new RangeError(`attribute ${name} is not one of its values`)
    return value
  })

/** One of a closed set of values, stored as one character. */
export const code = <Value extends string>(
  name: string,
  codes: Readonly<Record<Value, string>>,
): Attribute<Value> =>
  attribute(
    name,
    (value) => codes[value],
    (stored) => {
      for (const value in codes) if (codes[value] === stored) return value
      throw new RangeError('a stored code is not one of its set')
    },
  )

/** An ISO 8601 instant, stored in milliseconds since the epoch. */
export const instant = (name: string): Attribute<string> => {
  const { decode } = number(name)
  return attribute(name, Date.parse, (stored) => new Date(decode(stored)).toISOString())
}

/** A list of objects, each stored under the attributes of a map. */
export const list = <Element>(
  name: string,
  { encode, decode, rescale }: Codec<Element>,
): Attribute<readonly Element[]> => {
  const elements = (stored: unknown): Attributes[] => {
    if (!Array.isArray(stored)) throw new TypeError(`attribute ${name} is not a list`)
    return stored
  }
  return {
    ...attribute<readonly Element[]>(
      name,
      (values) => values.map(encode),
      (stored) => elements(stored).map(decode),
    ),
    rescale: (stored, shift) => elements(stored).map((element) => rescale(element, shift)),
  }
}

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
    if (typeof stored !== 'object' || stored === null || Array.isArray(stored))
      throw new TypeError(`attribute ${name} is not an object`)
    return decode(stored as Attributes)
  })

/** True, or absent. */
export const mark = (name: string): Attribute<true | undefined> =>
  attribute(
    name,
    (value) => value && 1,
    (stored) => (stored === undefined || number(name).decode(stored) === 0 ? undefined : true),
  )

/** True is stored without an attribute, so records from before the field existed decode as true. */
export const trueByDefault = (name: string): Attribute<boolean> =>
  attribute(
    name,
    (value) => (value ? undefined : 1),
    (stored) => stored === undefined || number(name).decode(stored) === 0,
  )

/** Null is stored as null, so the attribute always exists. */
export const nullable = <Value>(inner: Attribute<Value>): Attribute<Value | null> => ({
  ...inner,
  encode: (value) => (value === null ? null : inner.encode(value)),
  decode: (stored) => (stored === null ? null : inner.decode(stored)),
})

/** Null is stored without an attribute, so records from before the field existed decode as null. */
export const optional = <Value>(inner: Attribute<Value>): Attribute<Value | null> => ({
  ...inner,
  encode: (value) => (value === null ? undefined : inner.encode(value)),
  decode: (stored) => (stored === undefined ? null : inner.decode(stored)),
})

/** A text that is null, or absent as in records from before the field existed. */
export const optionalText = (name: string) => optional(nullable(text(name)))

/** Left out of a list row that would be too large with it; such a row decodes as `absent`. */
export const large = <Value>(inner: Attribute<Value>, absent: Value): Attribute<Value> => ({
  ...inner,
  decode: (stored) => (stored === undefined ? absent : inner.decode(stored)),
  rows: 'full',
})

/** Stored in the record only. */
export const unlisted = <Value>(inner: Attribute<Value>): Attribute<Value> => ({ ...inner, rows: 'none' })

/** Attributes of an item or object, by name. */
export type Attributes = Record<string, unknown>

/** For items that are stored as they are. @throws TypeError or RangeError for one without one of these attributes */
export function requireTypes(item: Attributes, types: readonly Omit<Attribute<unknown>, 'encode'>[]): void {
  for (const { name, decode } of types) decode(item[name])
}

export type Codec<Value> = {
  readonly encode: (value: Value) => Attributes
  /** @throws TypeError or RangeError when an attribute is missing or not as it was encoded */
  readonly decode: (attributes: Attributes) => Value
  /** Converts amounts to `shift` more decimals. @throws RangeError if one is not exact */
  readonly rescale: (attributes: Attributes, shift: number) => Attributes
  /** Names of attributes that rows over a size leave out, and of those that no row holds. */
  readonly large: readonly string[]
  readonly unlisted: readonly string[]
}

type FlatField = { readonly path: readonly string[]; readonly attribute: Attribute<unknown> }

const isAttribute = (entry: object): entry is Attribute<unknown> =>
  'decode' in entry && typeof entry.decode === 'function'

const flatten = (map: object, path: readonly string[] = []): FlatField[] =>
  Object.entries(map).flatMap(([name, entry]) =>
    isAttribute(entry) ? [{ path: [...path, name], attribute: entry }] : flatten(entry, [...path, name]),
  )

export const amountNames = (map: object): string[] =>
  flatten(map).flatMap(({ attribute: { name, isAmount } }) => (isAmount ? [name] : []))

function setAt(target: Attributes, path: readonly string[], value: unknown): void {
  let part = target
  for (let at = 0; at < path.length - 1; at++) {
    const name = path[at] ?? ''
    part[name] ??= {}
    part = part[name] as Attributes
  }
  part[path.at(-1) ?? ''] = value
}

/** What a later release stored of a record that this one does not know. Writers keep it; it is in no response, and erasures remove it. */
const UNKNOWN = Symbol('unknown attributes')

/** The attributes of an item that are not these, as a property of the record that spreading keeps. */
export function unknownAttributes(item: Attributes, known: ReadonlySet<string>): object {
  const unknown = Object.entries(item).filter(([name]) => !known.has(name))
  return unknown.length === 0 ? {} : { [UNKNOWN]: Object.fromEntries(unknown) }
}

/** What {@link unknownAttributes} found when the record was read, to be written back. */
export const unknownOf = (record: object): Attributes => (record as { [UNKNOWN]?: Attributes })[UNKNOWN] ?? {}

/** Whether the rows of a record have an attribute. Names of later releases say it: those that only records have begin with `_`. */
export const isListed = (name: string, unlisted: readonly string[]): boolean =>
  !name.startsWith('_') && !unlisted.includes(name)

/** Encodes and decodes objects, all fields of which have an attribute in the map. `others` are attributes of their items that no field has. */
export function codec<Value extends object>(
  map: AttributeMap<Value>,
  others: readonly string[] = [],
): Codec<Value> {
  const fields = flatten(map)
  const known = new Set(['pk', 'sk', ...others, ...fields.map(({ attribute }) => attribute.name)])
  const namesOf = (rows: Rows) =>
    fields.filter(({ attribute }) => attribute.rows === rows).map(({ attribute }) => attribute.name)
  return {
    encode: (value) => {
      const attributes = { ...unknownOf(value) }
      for (const { path, attribute } of fields) {
        let part: unknown = value
        for (const name of path) part = (part as Attributes)[name]
        const stored = attribute.encode(part)
        if (stored !== undefined) attributes[attribute.name] = stored
      }
      return attributes
    },
    decode: (attributes) => {
      const value: Attributes = { ...unknownAttributes(attributes, known) }
      for (const { path, attribute } of fields)
        setAt(value, path, attribute.decode(attributes[attribute.name]))
      return value as Value
    },
    rescale: (attributes, shift) => ({
      ...attributes,
      ...Object.fromEntries(
        fields.flatMap(({ attribute: { name, rescale } }) =>
          rescale && attributes[name] !== undefined ? [[name, rescale(attributes[name], shift)]] : [],
        ),
      ),
    }),
    large: namesOf('full'),
    unlisted: namesOf('none'),
  }
}

/** Attributes of records and rows that stores add to those of the fields. */
const OTHERS = ['v', 'i', 'o', 'ev', 'xi', 'im', 'xl', 'u', 't', 'dec', TTL, FORMAT]

/** A codec for records, whose id is in their key. */
export function recordCodec<Entity extends { readonly id: string }>(map: AttributeMap<Omit<Entity, 'id'>>) {
  const { encode, decode, rescale, large, unlisted } = codec<Omit<Entity, 'id'>>(map, OTHERS)
  return {
    encode: (record: Entity): Attributes => encode(record),
    decode: (item: Attributes, id: string): Entity => ({ id, ...decode(item) }) as Entity,
    rescale,
    large,
    unlisted,
  }
}
