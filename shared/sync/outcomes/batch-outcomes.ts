import { InvalidAmounts } from '../../domain/money/invoice-amounts.ts'
import { UnavailableError } from '../../store/table/errors.ts'
import { type RowIssue, RowRejectedError } from './row-rejected.ts'
import type { Warning } from './warnings.ts'

/** Counts of rows by outcome. */
export type Counts = { imported: number; updated: number; unchanged: number }

type RowRejection = {
  readonly id: string
  readonly issues: readonly RowIssue[]
  /** The reason, as files have it. */
  readonly reason: string
  /** Whether the row may be valid after the rest of the file. */
  readonly mayPassLater: boolean
}

/** The effect of the transaction of a row. It is `unchanged` if it only stores that the row was imported. */
export type RowWrite = keyof Counts

/**
 * The outcome of each row of a batch, over all attempts to write it. A row has its final outcome once its own
 * transaction is committed, or there is nothing to write. If the response of a transaction was lost, a later attempt
 * that finds the row as it should be counts it as written by the import.
 */
export class BatchOutcomes {
  readonly #rejections: RowRejection[] = []
  readonly #final = new Map<string, RowWrite | 'rejected'>()
  readonly #uncertain = new Map<string, RowWrite>()
  readonly #warnings = new Map<string, readonly Warning[]>()

  /** The final outcome of a row; undefined if it has none yet. */
  outcomeOf(id: string): RowWrite | 'rejected' | undefined {
    return this.#final.get(id)
  }

  get rejections(): readonly RowRejection[] {
    return this.#rejections
  }

  /** Warnings of rows by their ids, also of rows that were rejected. */
  get warnings(): ReadonlyMap<string, readonly Warning[]> {
    return this.#warnings
  }

  /** Sets the warnings of a row: a later attempt may find others, or none. */
  warned(id: string, ...warnings: readonly (Warning | null)[]): void {
    this.#warnings.set(
      id,
      warnings.filter((one) => one !== null),
    )
  }

  isFinal(id: string): boolean {
    return this.#final.has(id)
  }

  /** Records a commit; `unknown` if its response was lost, so that the row may have been written. */
  committed(id: string, write: RowWrite, outcome: 'committed' | 'unknown' = 'committed'): void {
    const first = this.#uncertain.get(id) ?? write
    if (outcome === 'unknown') this.#uncertain.set(id, first)
    else this.#finish(id, first)
  }

  unchanged(id: string): void {
    this.#finish(id, this.#uncertain.get(id) ?? 'unchanged')
  }

  rejected(
    id: string,
    { issues, message }: RowRejectedError | InvalidAmounts,
    { mayPassLater = false } = {},
  ): void {
    if (this.#final.has(id)) return
    this.#final.set(id, 'rejected')
    this.#rejections.push({ id, issues, reason: message, mayPassLater })
  }

  /** What a decision on a row returns; null if it throws a {@link RowRejectedError}, which rejects the row. @throws any other error */
  decided<T>(id: string, decide: () => T): T | null {
    try {
      return decide()
    } catch (error) {
      return this.rejectedBy(id, error)
    }
  }

  rejectedBy(id: string, error: unknown): null {
    if (!(error instanceof RowRejectedError || error instanceof InvalidAmounts)) throw error
    this.rejected(id, error)
    return null
  }

  /** Runs a write of several rows, and records its outcome. */
  async commit(ids: readonly string[], write: RowWrite, send: () => Promise<unknown>): Promise<void> {
    try {
      await send()
    } catch (error) {
      if (error instanceof UnavailableError) for (const id of ids) this.committed(id, write, 'unknown')
      throw error
    }
    for (const id of ids) this.committed(id, write)
  }

  #finish(id: string, outcome: keyof Counts): void {
    if (!this.#final.has(id)) this.#final.set(id, outcome)
  }
}
