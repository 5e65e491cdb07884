const SystemDate = globalThis.Date

/** Replaces `Date` of this thread by one that is ahead by `offset()` milliseconds. Timers and `performance` keep their pace. */
export function moveClock(offset: () => number): void {
  globalThis.Date = class extends SystemDate {
    constructor(...values: unknown[]) {
      super(...((values.length === 0 ? [Date.now()] : values) as [number]))
    }
    static override now() {
      return SystemDate.now() + offset()
    }
  } as DateConstructor
}
