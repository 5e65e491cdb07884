import type { ClinicId } from '../../domain/clinic.ts'
import { patientHeadKey, patientQueueKey } from '../keys/patients.ts'
import type { Changeset } from '../table/changeset.ts'
import { ConditionFailed } from '../table/errors.ts'
import { Contended, retryInQueue, type Ticket } from '../table/fair-queue.ts'
import type { Table } from '../table/table.ts'
import type { Write } from '../table/write-requests.ts'

/** The item with a clinic's number of patients and the state of its search segments. */
export type PatientHead = {
  /** Number of patients; their ordinals are 0..n-1. */
  readonly n: number
  /** Number of updates of patients so far. Each has an entry with its number in the change log. */
  readonly u: number
  /** Ordinals below this are in the segments. */
  readonly sn: number
  /** Updates up to this one are in the segments. */
  readonly su: number
  /** The lowest version that each segment must have; an older one was read too early. */
  readonly sv: readonly number[]
  /** Counts the snapshots; only one of two concurrent snapshots can increment it. */
  readonly v: number
  /** Change log entries up to this one are deleted. */
  readonly lf: number
  /** The progress of the queue of writers (see fair-queue.ts); absent until writers first collide. */
  readonly t?: number
  /** How many more writers take tickets without trying first; absent until writers first collide. */
  readonly w?: number
}

export const EMPTY_HEAD: PatientHead = { n: 0, u: 0, sn: 0, su: 0, sv: [], v: 0, lf: 0 }

/** How many writers continue to take tickets after the last that found others. */
const TICKETS_KEPT = 16

export async function readPatientHead(table: Table, clinic: ClinicId): Promise<PatientHead> {
  const item = await table.get(patientHeadKey(clinic))
  return (item as unknown as PatientHead | undefined) ?? EMPTY_HEAD
}

export type HeadAccess = {
  /** Whether the work has a ticket, so that its write must move the head, which records the progress of the queue. */
  readonly hasTicket: boolean
  readonly readHead: () => Promise<PatientHead>
  /**
   * Commits the changes; `head` is null for changes that do not move it. False when a condition other than the head's failed: a
   * record exists already, or was changed.
   */
  readonly commit: (
    changes: Changeset,
    head: PatientHead | null,
    counters: { readonly n?: number; readonly u?: number },
  ) => Promise<boolean>
}

/** Commits changes that move the heads of clinics. */
export function headWriter({ table }: { table: Table }) {
  /** The head as this writer left it, so that a run of writes by one writer reads it once. */
  const heads = new Map<ClinicId, PatientHead>()

  /** Runs work that changes patients. If another writer was faster, runs it again with a ticket and a fresh head. */
  function inQueue<T>(clinic: ClinicId, work: (head: HeadAccess) => Promise<T>): Promise<T> {
    const readProgress = async () => (await readPatientHead(table, clinic)).t ?? 0
    return retryInQueue({ table, key: patientQueueKey(clinic), readProgress }, (ticket) => {
      const readHead = async () => {
        const known = ticket ? undefined : heads.get(clinic)
        const head = known ?? (await readPatientHead(table, clinic))
        if (ticket ? !ticket.isNext(head.t ?? 0) : isContended(head)) throw new Contended()
        return head
      }
      let reading: Promise<PatientHead> | undefined
      return work({
        hasTicket: ticket !== null,
        readHead: () => {
          reading ??= readHead()
          return reading
        },
        commit: (changes, head, counters) =>
          commit(changes, head && { read: head, next: nextHead(head, counters, ticket) }),
      })
    })
  }

  async function commit(
    changes: Changeset,
    head: { readonly read: PatientHead; readonly next: PatientHead } | null,
  ): Promise<boolean> {
    const { clinic } = changes
    const writes = changes.writes()
    if (head) heads.delete(clinic)
    changes.requireRecent()
    try {
      await table.tryTransact([...writes, ...(head ? [moveHead(table, clinic, head.read, head.next)] : [])])
      if (head && (head.next.n !== head.read.n || head.next.u !== head.read.u)) heads.set(clinic, head.next)
      return true
    } catch (error) {
      const isHeadUnmoved = error instanceof ConditionFailed && !error.failedIndexes.includes(writes.length)
      if (!isHeadUnmoved) throw error
      return false
    }
  }

  /** Lets the next work read the head again: another function may have moved it since this writer did. */
  const forget = (clinic: ClinicId): void => {
    heads.delete(clinic)
  }

  /** The head after the last write that created a patient, or changed how search finds one. */
  const latest = (clinic: ClinicId): PatientHead | undefined => heads.get(clinic)

  return { inQueue, forget, latest }
}

/** Whether writers of the head currently wait in the queue. */
const isContended = ({ w = 0 }: PatientHead): boolean => w > 0

/** The head after a write, with a ticket or without. */
const nextHead = (
  head: PatientHead,
  counters: { readonly n?: number; readonly u?: number },
  ticket: Ticket | null,
): PatientHead => ({
  ...head,
  ...counters,
  ...(ticket && {
    t: Math.max(head.t ?? 0, ticket.end),
    w: ticket.isContended ? TICKETS_KEPT : Math.max(0, (head.w ?? 0) - 1),
  }),
})

/** Replaces the head, on the condition that its counters of patients and updates have not changed since it was read. */
function moveHead(table: Table, clinic: ClinicId, head: PatientHead, next: PatientHead): Write {
  const hasTicket = next.t !== undefined
  return table.updateWrite(patientHeadKey(clinic), {
    UpdateExpression: `SET n = :nextN, u = :nextU${hasTicket ? ', t = :ticket, w = :ticketsKept' : ''}`,
    ConditionExpression: 'n = :n AND u = :u',
    ExpressionAttributeValues: {
      ':n': head.n,
      ':u': head.u,
      ':nextN': next.n,
      ':nextU': next.u,
      ...(hasTicket && { ':ticket': next.t, ':ticketsKept': next.w }),
    },
  })
}
