import type { ClinicId } from '../../domain/clinic.ts'
import { patientHeadKey } from '../keys/patients.ts'
import type { Table } from '../table/table.ts'

/** The one item that says how many patients a clinic has and how far its search segments have followed. */
export type PatientHead = {
  /** Patients; their ordinals are 0..n-1. */
  readonly n: number
  /** Updates of patients so far; each has an entry of this number in the change log. */
  readonly u: number
  /** Ordinals below this are in the segments. */
  readonly sn: number
  /** Updates up to this one are in the segments. */
  readonly su: number
  /** The least version each segment must have; an older one was read too early. */
  readonly sv: readonly number[]
  /** Counts the snapshots taken; guards their turn at the head. */
  readonly v: number
  /** Change log entries up to this one are deleted. */
  readonly lf: number
}

export const EMPTY_HEAD: PatientHead = { n: 0, u: 0, sn: 0, su: 0, sv: [], v: 0, lf: 0 }

export async function readPatientHead(table: Table, clinic: ClinicId): Promise<PatientHead> {
  const item = await table.get(patientHeadKey(clinic))
  return (item as unknown as PatientHead | undefined) ?? EMPTY_HEAD
}
