import type { ClinicId } from '../../domain/clinic.ts'
import { patientTurnsKey } from '../keys/patients.ts'
import type { Changeset } from '../table/changeset.ts'
import { ConditionFailed } from '../table/errors.ts'
import type { Table } from '../table/table.ts'
import { Contended, retryInTurns } from '../table/turns.ts'
import { isContended, moveHead, nextHead, type PatientHead, readPatientHead } from './head.ts'

type HeadAccess = {
  readonly readHead: () => Promise<PatientHead>
  /** False when a condition other than the head's failed: a record exists already, or was changed. */
  readonly commit: (
    changes: Changeset,
    head: PatientHead,
    counters: { readonly n: number } | { readonly u: number },
  ) => Promise<boolean>
}

/** Commits changes that move the heads of clinics. */
export function headWriter({ table }: { table: Table }) {
  /** The head as this writer left it, so that a run of writes by one writer reads it once. */
  const heads = new Map<ClinicId, PatientHead>()

  /** Runs work that moves the head. If another writer was faster, runs it again in a turn, with a fresh head. */
  function inTurns<T>(clinic: ClinicId, work: (head: HeadAccess) => Promise<T>): Promise<T> {
    const readProgress = async () => (await readPatientHead(table, clinic)).t ?? 0
    return retryInTurns({ table, key: patientTurnsKey(clinic), readProgress }, (turn) =>
      work({
        readHead: async () => {
          const known = turn ? undefined : heads.get(clinic)
          const head = known ?? (await readPatientHead(table, clinic))
          if (turn ? !turn.hasBegun(head.t ?? 0) : isContended(head)) throw new Contended()
          return head
        },
        commit: (changes, head, counters) => commit(changes, head, nextHead(head, counters, turn)),
      }),
    )
  }

  async function commit(changes: Changeset, head: PatientHead, next: PatientHead): Promise<boolean> {
    const { clinic } = changes
    const writes = changes.writes()
    heads.delete(clinic)
    changes.requireRecent()
    try {
      await table.tryTransact([...writes, moveHead(table, clinic, head, next)])
      heads.set(clinic, next)
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

  const latest = (clinic: ClinicId): PatientHead | undefined => heads.get(clinic)

  return { inTurns, forget, latest }
}
