/** A set of ordinals as bits, in parts of equal length, so that a change rewrites one small part. */

/** The ordinals of a part. Its bits are half a kilobyte: with its key, one unit to write. */
export const PART_SIZE = 4096
const PART_BYTES = PART_SIZE / 8

export const partOf = (ordinal: number): number => Math.floor(ordinal / PART_SIZE)

/** The bits of a part without members. */
export const emptyPart = (): Uint8Array => new Uint8Array(PART_BYTES)

export const isPart = (bits: unknown): bits is Uint8Array =>
  bits instanceof Uint8Array && bits.length === PART_BYTES

const bitOf = (ordinal: number): { readonly byte: number; readonly mask: number } => {
  const at = ordinal % PART_SIZE
  return { byte: at >> 3, mask: 1 << (at & 7) }
}

/** The bits of a part with an ordinal added or removed. */
export function withMember(bits: Uint8Array, ordinal: number, isMember: boolean): Uint8Array {
  const changed = Uint8Array.from(bits)
  const { byte, mask } = bitOf(ordinal)
  changed[byte] = isMember ? (changed[byte] ?? 0) | mask : (changed[byte] ?? 0) & ~mask
  return changed
}

/** Which of the ordinals from 0 to below `end`, in descending order, and from the one at `offset` on. */
export type Selection = {
  readonly members: boolean
  readonly end: number
  readonly offset: number
  readonly limit: number
}

/** A set of ordinals, by part. A part that is missing has no members. */
export class OrdinalSet {
  readonly #parts: ReadonlyMap<number, Uint8Array>

  constructor(parts: ReadonlyMap<number, Uint8Array>) {
    this.#parts = parts
  }

  has(ordinal: number): boolean {
    const { byte, mask } = bitOf(ordinal)
    return ((this.#parts.get(partOf(ordinal))?.[byte] ?? 0) & mask) !== 0
  }

  /** The number of members below `end`. */
  count(end: number): number {
    let total = 0
    for (const part of this.#parts.keys()) total += this.#countPart(part, end)
    return total
  }

  /** The selected ordinals, in descending order. Parts before the offset are counted, not walked through. */
  select({ members, end, offset, limit }: Selection): number[] {
    const found: number[] = []
    let skip = offset
    for (let part = partOf(end - 1); part >= 0 && found.length < limit; part--) {
      const first = part * PART_SIZE
      const last = Math.min(end, first + PART_SIZE) - 1
      const inside = this.#countPart(part, end)
      const selected = members ? inside : last - first + 1 - inside
      if (selected <= skip) {
        skip -= selected
        continue
      }
      for (let ordinal = last; ordinal >= first && found.length < limit; ordinal--) {
        if (this.has(ordinal) !== members) continue
        if (skip > 0) skip--
        else found.push(ordinal)
      }
    }
    return found
  }

  #countPart(part: number, end: number): number {
    const bits = this.#parts.get(part)
    const length = Math.min(PART_SIZE, end - part * PART_SIZE)
    if (!bits || length <= 0) return 0
    let total = 0
    for (let byte = 0; byte < length >> 3; byte++) total += ONES[bits[byte] ?? 0] ?? 0
    for (let ordinal = part * PART_SIZE + (length & ~7); ordinal < part * PART_SIZE + length; ordinal++)
      if (this.has(ordinal)) total++
    return total
  }
}

/** The number of ones in each byte. */
const ONES = new Uint8Array(256)
for (let byte = 1; byte < 256; byte++) ONES[byte] = (ONES[byte >> 1] ?? 0) + (byte & 1)
