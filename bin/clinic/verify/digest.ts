/** 64 bits of a text or an item, in two halves: not cryptographic, as damage is not made to collide. */
export type Digest = { readonly low: number; readonly high: number }

type Attributes = Readonly<Record<string, unknown>>

const LOW_FACTOR = 0x9e3779b1
const HIGH_FACTOR = 0x85ebca6b

/** Both halves while a text is read. */
class Halves {
  low = 0
  high = 0

  begin(): void {
    this.low = 0xdeadbeef
    this.high = 0x41c6ce57
  }

  add(text: string): void {
    let { low, high } = this
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      low = Math.imul(low ^ code, LOW_FACTOR)
      low ^= low >>> 15
      high = Math.imul(high ^ code, HIGH_FACTOR)
      high ^= high >>> 13
    }
    this.low = low
    this.high = high
  }
}

const halves = new Halves()

/** The digest of a text. */
export function digestOfText(text: string): Digest {
  halves.begin()
  halves.add(text)
  return { low: finish(halves.low), high: finish(halves.high) }
}

/** The digest of an item, the same for equal items, whatever the order of their attributes. */
export const digestOfItem = (item: Attributes): Digest => digestOfSums(sumOfAttributes(item))

/** The digest of an item whose attributes were summed in two parts, so that one part can be summed once for several items. */
export const digestOfParts = (one: Digest, other: Digest): Digest =>
  digestOfSums({ low: one.low + other.low, high: one.high + other.high })

/** What attributes add to the digest of an item. */
export function sumOfAttributes(attributes: Attributes): Digest {
  let low = 0
  let high = 0
  for (const name in attributes) {
    const value = attributes[name]
    const isText = typeof value === 'string'
    halves.begin()
    halves.add(name)
    halves.add(isText ? '"' : '=')
    halves.add(isText ? value : valueText(value))
    low += finish(halves.low)
    high += finish(halves.high)
  }
  return { low, high }
}

/** A value that two items exchange must not leave the sum of both as it was. */
const digestOfSums = ({ low, high }: Digest): Digest => ({ low: finish(low), high: finish(high) })

function finish(half: number): number {
  let state = Math.imul(half ^ (half >>> 16), HIGH_FACTOR)
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35)
  return (state ^ (state >>> 16)) >>> 0
}

function valueText(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(valueText).join()}]`
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('base64')}`
  if (value instanceof Set) return `set ${[...value].sort().map(valueText).join()}`
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([name, inner]) => `${JSON.stringify(name)}:${valueText(inner)}`)
      .sort()
      .join()}}`
  return String(value)
}
