import { FOLDED, lineMatches, type Needles, probeOf } from './search-text.ts'

/** The number of ordinals in a segment, the unit of reading, caching and rewriting. */
export const SEGMENT_SIZE = 8192

/**
 * The search lines of consecutive ordinals as one text, so that a scan is one `indexOf` over a megabyte instead of a loop
 * over objects. Line k is the patient with ordinal k of the segment.
 */
export class SearchSegment {
  #text = ''
  /** The offset of each line, and the end of the last. */
  #starts = new Uint32Array(1)
  #count = 0
  /** The number of lines that have the present folding. */
  #folded = 0

  constructor(lines: readonly string[] = []) {
    this.#set(lines)
  }

  /** The segment of the text of its lines, which a line break separates: far faster than from the lines. */
  static parse(text: string): SearchSegment {
    const segment = new SearchSegment()
    if (text !== '') segment.#setText(`${text}\n`)
    return segment
  }

  get count(): number {
    return this.#count
  }

  /** Size in characters, for the memory budget. */
  get size(): number {
    return this.#text.length
  }

  lines(): string[] {
    return this.#count === 0 ? [] : this.#text.slice(0, -1).split('\n')
  }

  /** Replaces and appends lines. `changes` maps an ordinal of the segment to its line. */
  patch(changes: ReadonlyMap<number, string>): void {
    const lines = this.lines()
    for (const [index, line] of changes) lines[index] = line
    this.#set(lines)
  }

  /** The matching ordinals of the segment, ascending. Lines that may be of an earlier folding are found by either needles. */
  matches(needles: Needles, earlier: Needles = needles): number[] {
    if (earlier === needles || this.#folded === this.#count) return this.#scan(needles)
    const isFolded = (line: number) => this.#text[(this.#starts[line + 1] ?? 0) - 2] === FOLDED
    const found = new Set(this.#scan(needles))
    for (const line of this.#scan(earlier)) if (!isFolded(line)) found.add(line)
    return [...found].sort((a, b) => a - b)
  }

  #scan(needles: Needles): number[] {
    const found: number[] = []
    // The rest of the needles is only checked on the lines that contain it.
    const probe = probeOf(needles)
    const single = needles.kind === 'words' && needles.words.length === 1 && needles.words[0] === probe
    let at = this.#text.indexOf(probe)
    let line = 0
    while (at !== -1) {
      line = this.#lineAt(at, line)
      const end = this.#starts[line + 1] ?? 0
      if (single || lineMatches(this.#text.slice(this.#starts[line], end - 1), needles)) found.push(line)
      at = this.#text.indexOf(probe, end)
    }
    return found
  }

  /** The line that contains the offset `at`, searched from the line `from` on. */
  #lineAt(at: number, from: number): number {
    let low = from
    let high = this.#count - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#starts[middle] ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return low
  }

  #set(lines: readonly string[]): void {
    this.#setText(lines.map((line) => `${line}\n`).join(''))
  }

  #setText(text: string): void {
    const starts = [0]
    let folded = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', end + 1)) {
      starts.push(end + 1)
      if (text[end - 1] === FOLDED) folded++
    }
    this.#text = text
    this.#starts = Uint32Array.from(starts)
    this.#count = starts.length - 1
    this.#folded = folded
  }
}

/** A clinic's search index after `patients` creations and `updates` updates. */
export class SearchIndex {
  readonly #segments: SearchSegment[]
  patients: number
  updates: number

  constructor(segments: SearchSegment[], patients: number, updates: number) {
    this.#segments = segments
    this.patients = patients
    this.updates = updates
  }

  get size(): number {
    return this.#segments.reduce((sum, segment) => sum + segment.size, 0)
  }

  /** Advances the index to a later state. `lines` maps an ordinal to its new line. */
  advance(lines: ReadonlyMap<number, string>, patients: number, updates: number): void {
    const bySegment = Map.groupBy(lines, ([ordinal]) => Math.floor(ordinal / SEGMENT_SIZE))
    for (const [index, changes] of bySegment) {
      const segment = this.#segments[index] ?? new SearchSegment()
      this.#segments[index] = segment
      segment.patch(new Map(changes.map(([ordinal, line]) => [ordinal % SEGMENT_SIZE, line])))
    }
    this.patients = patients
    this.updates = updates
  }

  /**
   * The number of matching patients with ordinals below `end`, and one page of those, most recently created first. `isListed`
   * leaves out others; `earlier` finds lines of an earlier folding.
   */
  find(
    needles: Needles,
    offset: number,
    limit: number,
    {
      end = Number.POSITIVE_INFINITY,
      isListed = () => true,
      earlier = needles,
    }: {
      readonly end?: number
      readonly isListed?: (ordinal: number) => boolean
      readonly earlier?: Needles
    } = {},
  ): { total: number; ordinals: number[] } {
    let total = 0
    const ordinals: number[] = []
    for (let index = this.#segments.length - 1; index >= 0; index--) {
      const first = index * SEGMENT_SIZE
      if (first >= end) continue
      const matches = (this.#segments[index] as SearchSegment)
        .matches(needles, earlier)
        .filter((match) => first + match < end && isListed(first + match))
      const stop = Math.max(0, matches.length - Math.max(0, offset - total))
      const start = Math.max(0, stop - (limit - ordinals.length))
      for (const match of matches.slice(start, stop).reverse()) ordinals.push(first + match)
      total += matches.length
    }
    return { total, ordinals }
  }
}
