import type { ClinicId } from '../../domain/clinic.ts'
import { patientHeadKey } from '../keys/patients.ts'
import type { Table } from '../table/table.ts'
import type { Turn } from '../table/turns.ts'
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
  /** The progress of the queue of writers (see turns.ts); absent until writers first collide. */
  readonly t?: number
  /** How many more writers take turns without trying first; absent until writers first collide. */
  readonly w?: number
}

export const EMPTY_HEAD: PatientHead = { n: 0, u: 0, sn: 0, su: 0, sv: [], v: 0, lf: 0 }

/** How many writers continue to take turns after the last that found others. */
const TURNS_KEPT = 16

export async function readPatientHead(table: Table, clinic: ClinicId): Promise<PatientHead> {
  const item = await table.get(patientHeadKey(clinic))
  return (item as unknown as PatientHead | undefined) ?? EMPTY_HEAD
}

/** Whether writers of the head currently wait for their turns. */
export const isContended = ({ w = 0 }: PatientHead): boolean => w > 0

/** The head after a write, in a turn or not. */
export const nextHead = (
  head: PatientHead,
  counters: { readonly n?: number; readonly u?: number },
  turn: Turn | null,
): PatientHead => ({
  ...head,
  ...counters,
  ...(turn && {
    t: Math.max(head.t ?? 0, turn.end),
    w: turn.isContended ? TURNS_KEPT : Math.max(0, (head.w ?? 0) - 1),
  }),
})

/** Replaces the head, on the condition that its counters of patients and updates have not changed since it was read. */
export function moveHead(table: Table, clinic: ClinicId, head: PatientHead, next: PatientHead): Write {
  const isInTurn = next.t !== undefined
  return table.updateWrite(patientHeadKey(clinic), {
    UpdateExpression: `SET n = :nextN, u = :nextU${isInTurn ? ', t = :turn, w = :turnsKept' : ''}`,
    ConditionExpression: 'n = :n AND u = :u',
    ExpressionAttributeValues: {
      ':n': head.n,
      ':u': head.u,
      ':nextN': next.n,
      ':nextU': next.u,
      ...(isInTurn && { ':turn': next.t, ':turnsKept': next.w }),
    },
  })
}
