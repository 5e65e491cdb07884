/** Compares the records of erased patients with what their erasures leave of the records in the copy. */
import type { ClinicId } from '../../../domain/clinic.ts'
import { patientStore } from '../../../store/patients/patients.ts'
import { chunked } from '../../../store/table/chunked.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { VERIFIED_LISTS } from '../../verify/calendar/verified-lists.ts'
import { type ClinicTables, type DifferingRecord, patientOf } from './comparison.ts'
import { isRestored, isSamePatient, restoredPatient, restoredStates } from './restored-states.ts'

/** Records that are read together. */
const BATCH_SIZE = 50

const LISTS = [
  ['appointment', 'appointments'],
  ['payment', 'payments'],
  ['invoice', 'invoices'],
] as const

type ReplayedErasures = {
  /** The records that differ, with the state that the erasure leaves of the former one. */
  readonly changed: readonly DifferingRecord[]
  /** The records that have this state already. */
  readonly kept: readonly DifferingRecord[]
  /** The patients who do not exist now. They are not created again. */
  readonly missing: ReadonlySet<string>
}

/** @param records those of the copy whose patients are in the ledger of erasures */
export async function compareErased(
  tables: ClinicTables,
  clinic: ClinicId,
  records: readonly DifferingRecord[],
): Promise<ReplayedErasures> {
  const current = patientStore({ table: tables.table })
  const earlier = patientStore({ table: tables.copy })
  const states = restoredStates(tables, clinic)
  const changed: DifferingRecord[] = []
  const kept: DifferingRecord[] = []
  const missing = new Set<string>()
  for (const batch of chunked(records, BATCH_SIZE)) {
    const ids = [...new Set(batch.map((record) => patientOf(record, record.then)))]
    const [now, then] = [await current.findMany(clinic, ids), await earlier.findMany(clinic, ids)]
    for (const id of ids) if (!now.has(id)) missing.add(id)
    const isMissing = (record: DifferingRecord) => missing.has(patientOf(record, record.then))
    // These refer to a patient who is missing.
    changed.push(...batch.filter((record) => record.kind !== 'patient' && isMissing(record)))
    const found = batch.filter((record) => !isMissing(record))
    for (const record of found.filter(({ kind }) => kind === 'patient')) {
      const [before, former] = [now.get(record.id), then.get(record.id)]
      if (!before || !former) continue
      if (isSamePatient(before, restoredPatient(before, former))) kept.push(record)
      else changed.push(withFormer(record, {}))
    }
    for (const [kind, name] of LISTS) {
      const ofKind = found.filter((record) => record.kind === kind)
      const read = await states.read(
        name,
        ofKind.map(({ id }) => id),
      )
      for (const record of ofKind) {
        const state = read.get(record.id)
        if (!state || isRestored(state)) kept.push(record)
        else {
          const updatedAt = state.before?.record.updatedAt ?? ''
          const attributes = VERIFIED_LISTS[name].entity.encode({ ...state.after, updatedAt })
          changed.push(withFormer(record, attributes))
        }
      }
    }
  }
  return { changed, kept, missing }
}

/** The record with other former attributes, and without its external id, which an erasure removes. */
function withFormer(record: DifferingRecord, attributes: object): DifferingRecord {
  const { pk, sk } = record.then as Item
  const then = { pk, sk, ...attributes }
  return { ...record, then }
}
