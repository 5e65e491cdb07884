/** Where a history takes place: the API, the operator's table, the workers and the providers. */
import type { Table } from '../../shared/store/table/table.ts'
import type { FeedbackKind } from './model.ts'
import type { TransactionFault } from './run.ts'
import type { CrashPoint } from './task.ts'

export type ApiRequest = {
  /** The id of the route. */
  readonly route: string
  readonly authorization: string
  readonly path?: Record<string, string>
  readonly query?: Record<string, string>
  readonly body?: object
  readonly key?: string | undefined
  /** Milliseconds by which the clock of the function is ahead of the others. */
  readonly ahead?: number
}

/** A response, or null when the function died before it sent one. */
export type ApiResponse = {
  readonly status: number
  readonly body: any
  readonly text: string
  /** The logged cause of a response from 500. */
  readonly cause?: string | undefined
} | null

export type FeedbackReport = {
  readonly clinic: string
  readonly id: string
  readonly channel: 'sms' | 'email'
  readonly text: string
  readonly kind: FeedbackKind
}

export type World = {
  readonly send: (request: ApiRequest, crash?: CrashPoint) => Promise<ApiResponse>
  /** Runs a command of the operator tool; `crashed` when its process died. */
  readonly operate: <T>(
    work: (table: Table) => Promise<T>,
    crash?: CrashPoint,
  ) => Promise<{ readonly result: T } | 'crashed'>
  /** Plans faults of the next transactions. */
  readonly planFaults: (faults: readonly TransactionFault[]) => void
  /** Replaces functions by fresh instances. */
  readonly restart: () => void
  /** The address of a webhook endpoint of its own. */
  readonly webhookUrl: (token: string) => string
  /** Runs the workers once, at the same time as other operations. */
  readonly runWorkers: (crash?: CrashPoint) => Promise<void>
  /** Ends all faults, lets time pass, and runs the workers until there is nothing left to do. */
  readonly settle: () => Promise<void>
  /** The provider reports a message. Returns whether that was certainly recorded. */
  readonly reportFeedback: (report: FeedbackReport, crash?: CrashPoint) => Promise<boolean>
  /** The table without faults and conflicts. */
  readonly table: Table
  /** How often a provider has accepted the text. */
  readonly timesSent: (channel: 'sms' | 'email', text: string) => Promise<number>
  /** Everything that the table holds, as text in lower case. */
  readonly tableText: () => Promise<string>
}
