import type { ClinicId } from '../../domain/clinic.ts'
import { patientHeadKey } from '../keys/patients.ts'
import type { Table } from '../table/table.ts'
import type { Write } from '../table/write-requests.ts'

/** The one item that says how many patients a clinic has and how far its search segments have followed. */
export type PatientHead = {
  /** Number of patients; their ordinals are 0..n-1. */
  readonly n: number
  /** Number of updates of patients so far; each has an entry of this number in the change log. */
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
  /** Until when writers take turns, in milliseconds since the epoch; absent until writers first collided. */
  readonly q?: number
}

export const EMPTY_HEAD: PatientHead = { n: 0, u: 0, sn: 0, su: 0, sv: [], v: 0, lf: 0 }

/** How long writers keep taking turns after one of them had to. */
const TURNS_KEPT_MS = 1000

export async function readPatientHead(table: Table, clinic: ClinicId): Promise<PatientHead> {
  const item = await table.get(patientHeadKey(clinic))
  return (item as unknown as PatientHead | undefined) ?? EMPTY_HEAD
}

/** Whether writers of the head wait for their turns at present. */
export const isContended = ({ q = 0 }: PatientHead, now: number): boolean => q > now

/** Moves the counters of patients and updates, under the condition that they are as they were read. */
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
