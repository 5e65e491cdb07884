import type { ClinicId } from '../../domain/clinic.ts'
import { patientHeadKey } from '../keys/patients.ts'
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
  /** When writers stop taking turns, in milliseconds since the epoch; absent until writers first collide. */
  readonly q?: number
}

export const EMPTY_HEAD: PatientHead = { n: 0, u: 0, sn: 0, su: 0, sv: [], v: 0, lf: 0 }

/** How long writers continue to take turns after a collision. */
const TURNS_KEPT_MS = 1000

export async function readPatientHead(table: Table, clinic: ClinicId): Promise<PatientHead> {
  const item = await table.get(patientHeadKey(clinic))
  return (item as unknown as PatientHead | undefined) ?? EMPTY_HEAD
}

/** Whether writers of the head currently wait for their turns. */
export const isContended = ({ q = 0 }: PatientHead, now: number): boolean => q > now

/** Moves the counters of patients and updates, on the condition that they have not changed since they were read. */
export function moveHead(
  table: Table,
  clinic: ClinicId,
  head: PatientHead,
  { n = head.n, u = head.u, inTurn }: { n?: number; u?: number; inTurn: boolean },
): Write {
  return table.updateWrite(patientHeadKey(clinic), {
    UpdateExpression: `SET n = :nextN, u = :nextU${inTurn ? ', q = :until' : ''}`,
    ConditionExpression: 'n = :n AND u = :u',
    ExpressionAttributeValues: {
      ':n': head.n,
      ':u': head.u,
      ':nextN': n,
      ':nextU': u,
      ...(inTurn && { ':until': table.now() + TURNS_KEPT_MS }),
    },
  })
}
