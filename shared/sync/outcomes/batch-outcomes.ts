import { RowRejectedError } from '../../../bin/clinic/import/files/import-errors.ts'
import { InvalidAmounts } from '../../domain/money/invoice-amounts.ts'
import { UnavailableError } from '../../store/table/errors.ts'
import type { Warning } from './warnings.ts'

/** Counts of rows by outcome. */
export type Counts = { imported: number; updated: number; unchanged: number }

type RowRejection = {
  readonly id: string
  readonly reason: string
  /** Whether the row may be valid after the rest of the file. */
  readonly mayPassLater: boolean
}

/** The effect of the transaction of a row. It is `unchanged` if it only stores that the row was imported. */
export type Write = keyof Counts

/**
 * The outcome of each row of a batch, over all attempts to write it. A row has its final outcome once its own
 * transaction is committed, or there is nothing to write. If the response of a transaction was lost, a later attempt
 * that finds the row as it should be counts it as written by the import.
 */
export class BatchOutcomes {
  readonly #counts: Counts = { imported: 0, updated: 0, unchanged: 0 }
  readonly #rejections: RowRejection[] = []
  readonly #final = new Set<string>()
  readonly #uncertain = new Map<string, Write>()
  readonly #warnings = new Map<string, Warning>()

  get counts(): Counts {
    return { ...this.#counts }
  }

  get rejections(): readonly RowRejection[] {
    return this.#rejections
  }

  /** Warnings of rows by their ids, also of rows that were rejected. */
  get warnings(): ReadonlyMap<string, Warning> {
    return this.#warnings
  }

  /** Sets the warning of a row, null for none: a later attempt may find another, or none. */
  warned(id: string, warning: Warning | null): void {
    if (warning) this.#warnings.set(id, warning)
    else this.#warnings.delete(id)
  }

  isFinal(id: string): boolean {
    return this.#final.has(id)
  }

  /** Records a commit; `unknown` if its response was lost, so that the row may have been written. */
  committed(id: string, write: Write, outcome: 'committed' | 'unknown' = 'committed'): void {
    const first = this.#uncertain.get(id) ?? write
    if (outcome === 'unknown') this.#uncertain.set(id, first)
    else this.#finish(id, first)
  }

  unchanged(id: string): void {
    this.#finish(id, this.#uncertain.get(id) ?? 'unchanged')
  }

  rejected(id: string, reason: string, { mayPassLater = false } = {}): void {
    if (this.#final.has(id)) return
    this.#final.add(id)
    this.#rejections.push({ id, reason, mayPassLater })
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
    this.rejected(id, error.message)
    return null
  }

  /** Runs a write of several rows, and records its outcome. */
  async commit(ids: readonly string[], write: Write, send: () => Promise<unknown>): Promise<void> {
    try {
      await send()
    } catch (error) {
      if (error instanceof UnavailableError) for (const id of ids) this.committed(id, write, 'unknown')
      throw error
    }
    for (const id of ids) this.committed(id, write)
  }

  #finish(id: string, outcome: keyof Counts): void {
    if (this.#final.has(id)) return
    this.#final.add(id)
    this.#counts[outcome]++
  }
}
