/** Values that operations set side by side, some with an unknown outcome. Part of the oracle: uses nothing of the product. */

/** The clock of a history: it advances with every begin and end of an operation. */
let ticks = 0
export const tick = (): number => ++ticks

export class Violation extends Error {}

/** @throws Violation */
export function demand(holds: boolean, message: () => string): asserts holds {
  if (!holds) throw new Violation(message())
}

type Write<V> = {
  readonly value: V
  readonly start: number
  end: number
  outcome: 'certain' | 'possible' | 'none'
}

/** A value with concurrent writers: which values it may have now. */
export class Register<V> {
  readonly #writes: Write<V>[] = []

  constructor(initial: V) {
    this.#writes.push({ value: initial, start: tick(), end: tick(), outcome: 'certain' })
  }

  /** Begins a write, which is possible from now on until it is settled. */
  begin(value: V): Write<V> {
    const write: Write<V> = { value, start: tick(), end: Number.POSITIVE_INFINITY, outcome: 'possible' }
    this.#writes.push(write)
    return write
  }

  /** The write has certainly taken effect, or certainly has not. */
  settle(write: Write<V>, outcome: 'certain' | 'none'): void {
    write.outcome = outcome
    write.end = tick()
  }

  /** The values that it may have: of every write after which no other has certainly begun and taken effect. */
  possible(): V[] {
    const certain = this.#writes.filter(({ outcome }) => outcome === 'certain')
    return this.#writes
      .filter(({ outcome, end }) => outcome !== 'none' && !certain.some(({ start }) => start > end))
      .map(({ value }) => value)
  }

  /** Whether nothing has tried to change it since its initial value. */
  get isUntouched(): boolean {
    return this.#writes.length === 1
  }

  /** The values that operations have written. */
  written(outcome: 'certain' | 'possible'): V[] {
    return this.#writes
      .slice(1)
      .filter((write) => write.outcome === outcome)
      .map(({ value }) => value)
  }
}
