/** Removes patients, which only a restore of a clinic does. Nothing but erasures may write to the clinic's patients at the same time. */
import type { ClinicId } from '../../domain/clinic.ts'
import { externalIds } from '../external-ids/links.ts'
import { changeIndexKey } from '../keys/change-index.ts'
import { formerExternalIdRange } from '../keys/external-ids.ts'
import { sortableNumber } from '../keys/key.ts'
import {
  patientChangesPartition,
  patientKey,
  patientListPartition,
  patientRowKey,
  patientSegmentPartition,
} from '../keys/patients.ts'
import { Changeset } from '../table/changeset.ts'
import { retryOnConflict } from '../table/retries.ts'
import type { Table } from '../table/table.ts'
import { headWrite, type PatientHead, readPatientHead } from './head.ts'
import { inactivePatients } from './inactive-patients.ts'
import { nationalIds } from './national-ids.ts'
import { patientStore, recordItem, rowItem, type StoredPatient } from './patients.ts'
import { patientSnapshots } from './snapshots.ts'

/** Rows that are read at a time. */
const PAGE_SIZE = 500

/** More than a segment, or what is known of one patient, has. */
const MAX_ITEMS = 10_000

export function patientRemoval({ table }: { table: Table }) {
  const patients = patientStore({ table })
  const identified = nationalIds({ table })
  const inactive = inactivePatients({ table })
  const external = externalIds({ table })
  const { snapshotAll } = patientSnapshots({ table })

  /**
   * Removes a patient as it was read. The list has a gap until {@link closeGaps}.
   * @throws ConditionFailed when the patient was changed since
   */
  async function remove(clinic: ClinicId, patient: StoredPatient): Promise<void> {
    const { id, ordinal, version, externalId } = patient
    const changes = new Changeset(table, clinic)
    await identified.move(changes, patient, { ...patient, nationalId: null })
    await external.move(changes, 'patient', id, externalId, null)
    if (!patient.isActive) await inactive.move(changes, [{ ordinal, isActive: true }])
    changes.remove(patientKey(clinic, id), version)
    changes.remove(patientRowKey(clinic, ordinal))
    changes.remove(changeIndexKey(clinic, 'P', patient))
    await changes.commit()
    await table.deleteMany(await table.query({ ...formerExternalIdRange(clinic, id), limit: MAX_ITEMS }))
  }

  /**
   * Moves the patients after gaps up, in their order, so that positions are consecutive again, and begins the search index again. It
   * can be stopped after any write and repeated.
   */
  async function closeGaps(clinic: ClinicId): Promise<void> {
    const n = await moveUp(clinic)
    await restartSearch(clinic, n)
    await snapshotAll(clinic)
  }

  /** Returns the number of patients. */
  async function moveUp(clinic: ClinicId): Promise<number> {
    const pk = patientListPartition(clinic)
    let next = 0
    for (let from = 0; ; ) {
      const rows = await table.query({ pk, from: sortableNumber(from), limit: PAGE_SIZE })
      const moved = rows.filter((row, at) => Number(row.sk) !== next + at)
      const found = await patients.findMany(
        clinic,
        moved.flatMap(({ i }) => i ?? []),
      )
      for (const row of rows) {
        const patient = found.get(row.i ?? '')
        if (patient) await moveTo(clinic, patient, next)
        next++
      }
      const last = rows.at(-1)
      if (!last || rows.length < PAGE_SIZE) return next
      from = Number(last.sk) + 1
    }
  }

  /** Moves a patient, also one who is erased at the same time. */
  const moveTo = (clinic: ClinicId, { id, ...read }: StoredPatient, ordinal: number): Promise<void> =>
    retryOnConflict(async (attempt) => {
      const found = attempt === 1 ? { id, ...read } : await patients.find(clinic, id)
      // The response of an attempt may have been lost.
      if (found && found.ordinal !== ordinal) await move(clinic, found, ordinal)
    })

  /** Moves a patient to a free position. It does not count as a change. */
  async function move(clinic: ClinicId, before: StoredPatient, ordinal: number): Promise<void> {
    const after = { ...before, ordinal, version: before.version + 1 }
    const changes = new Changeset(table, clinic)
    changes.put(recordItem(patientKey(clinic, after.id), after), { version: before.version })
    changes.remove(patientRowKey(clinic, before.ordinal))
    changes.put(rowItem(patientRowKey(clinic, ordinal), after), 'new')
    const nationalId = await identified.itemOf(clinic, after)
    if (nationalId) changes.put(nationalId)
    if (!after.isActive)
      await inactive.move(changes, [
        { ordinal: before.ordinal, isActive: true },
        { ordinal, isActive: false },
      ])
    await changes.commit()
  }

  /** Corrects the number of patients, and removes the segments and the log, which have lines of removed patients. */
  async function restartSearch(clinic: ClinicId, n: number): Promise<void> {
    const head = await retryOnConflict(async () => {
      const read = await readPatientHead(table, clinic)
      return read.patients === n ? read : resetHead(clinic, read, n)
    })
    const surplus: number[] = []
    for (let index = head.segmentVersions.length; (await segmentItems(clinic, index)).length > 0; index++)
      surplus.unshift(index)
    // From the last one on, so that those that a stopped run has left are found again.
    for (const index of surplus) await table.deleteMany(await segmentItems(clinic, index))
    const to = sortableNumber(head.deletedUpdates)
    for (;;) {
      const log = await table.query({ pk: patientChangesPartition(clinic), to, limit: MAX_ITEMS })
      if (log.length === 0) return
      await table.deleteMany(log)
    }
  }

  const segmentItems = (clinic: ClinicId, index: number) =>
    table.query({ pk: patientSegmentPartition(clinic, index), limit: MAX_ITEMS, keysOnly: true })

  /** A head without segments: search reads the rows until the next snapshot. Its update makes functions drop what they have in memory. */
  async function resetHead(clinic: ClinicId, read: PatientHead, count: number): Promise<PatientHead> {
    const { patients, updates, snapshots } = read
    const reset: PatientHead = {
      patients: count,
      updates: updates + 1,
      indexedPatients: 0,
      indexedUpdates: updates + 1,
      segmentVersions: [],
      snapshots: snapshots + 1,
      deletedUpdates: updates + 1,
    }
    await table.transact([headWrite(table, clinic, reset, { patients, updates, snapshots })])
    return reset
  }

  return { remove, closeGaps }
}
