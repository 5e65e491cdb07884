/** Shared by the imports of appointments, invoices, payments and messages. */

import type { ClinicId } from '../../domain/clinic.ts'
import type { StoredRecord } from '../../store/calendar/calendar-entity.ts'
import type { RecordStore } from '../../store/calendar/calendar-list.ts'
import { type Provenance, setProvenance } from '../../store/external-ids/provenance.ts'
import { calendarKey, type EntityCode } from '../../store/keys/calendar.ts'
import type { Key } from '../../store/keys/key.ts'
import { patientKey } from '../../store/keys/patients.ts'
import { patientStore, type StoredPatient } from '../../store/patients/patients.ts'
import { Changeset } from '../../store/table/changeset.ts'
import { commitPacked, type Unit } from '../../store/table/commit-packed.ts'
import type { Table } from '../../store/table/table.ts'
import { isSameRecord } from '../../store/table/updated-at-codec.ts'
import { rejectNewLinks, requireUnlinked } from '../external-ids/new-links.ts'
import { type ColumnValues, type RowSource, requireConfirmed } from '../external-ids/overwrite-check.ts'
import { findReferenced, requireKnown } from '../external-ids/resolve-references.ts'
import type { RowWrite } from '../outcomes/batch-outcomes.ts'
import { RowRejectedError, requireKnownId } from '../outcomes/row-rejected.ts'
import type { ImportRow, ImportRun } from './entity.ts'

type WithPatient = { readonly patient: string }

/**
 * Builds the record of a row from the records that it refers to, and requires their versions of the changes. May throw
 * {@link RowRejectedError}.
 */
export type BuildRecord<R, Fields> = (
  row: ImportRow<Fields>,
  patient: StoredPatient,
  before: R | null,
  changes: Changeset,
) => R | Promise<R>

/** The records that the rows of a batch become. */
type Target<R, Fields> = {
  readonly table: Table
  readonly entityCode: EntityCode
  readonly list: RecordStore<R>
  readonly valuesOf: (record: R) => ColumnValues
  /** The records of the rows, if they were read already. */
  readonly stored?: ReadonlyMap<string, StoredRecord<R>>
  /**
   * Called last, for a row that nothing else rejects, with the changes of its record. May throw {@link RowRejectedError}.
   * @param isRepeated whether another writer was faster
   */
  readonly accept?: (
    row: ImportRow<Fields>,
    before: R | null,
    changes: Changeset,
    isRepeated: boolean,
  ) => Promise<void>
}

/** The changes of a row. */
export type Decided = { readonly changes: Changeset; readonly write: RowWrite }

/** Decides on a row from what was read. Returns null if it was rejected. @throws RowRejectedError */
type Decide<Row, Stored> = (row: Row, stored: Stored | null) => Promise<Decided | null>

/**
 * Commits rows, each as it was decided by one reading; decided again if it is outdated by then. Rows without changes have their outcome
 * then. Each row is decided when the transaction before it is being committed.
 * @param read what the rows depend on, for all of them together; again if another writer was faster
 */
export async function commitRows<Row extends RowSource, Stored extends Provenance>(
  table: Table,
  { clinic: { id: clinic }, outcomes, overwritePolicy }: ImportRun,
  batch: readonly Row[],
  read: (
    rows: readonly Row[],
    isRepeated: boolean,
  ) => Promise<{ readonly stored: ReadonlyMap<string, Stored>; readonly decide: Decide<Row, Stored> }>,
): Promise<void> {
  async function* decideAll(rows: readonly Row[], isRepeated = false) {
    const { stored, decide } = await read(rows, isRepeated)
    for (const row of rows) {
      const before = stored.get(row.id) ?? null
      if (before && overwritePolicy.isImported(row, before)) outcomes.unchanged(row.id)
      else {
        const one = await decide(row, before).catch((error) => outcomes.rejectedBy(row.id, error))
        if (one) yield { row, ...one }
      }
    }
  }

  async function* units(): AsyncGenerator<Unit> {
    for await (const { row, changes, write } of decideAll(batch)) {
      let latest = write
      yield {
        changes,
        rebuild: async () => {
          if (write === 'imported') await rejectNewLinks(table, clinic, [row.id])
          const { value: again } = await decideAll([row], true).next()
          if (again) latest = again.write
          return again?.changes ?? null
        },
        onCommit: (outcome) => outcomes.committed(row.id, latest, outcome),
      }
    }
  }

  await commitPacked(table, clinic, units())
}

/**
 * Writes a batch of rows that belong to patients. `prepare` reads the other records that rows refer to, and returns
 * how their records are built. Each write is conditional on the version of the patient that was read, so that no outdated
 * name is written.
 */
export function writePatientRows<R, Fields extends WithPatient>(
  { table, entityCode, list, valuesOf, stored: read, accept }: Target<R, Fields>,
  run: ImportRun,
  batch: readonly ImportRow<Fields>[],
  prepare: (rows: readonly ImportRow<Fields>[]) => Promise<BuildRecord<R, Fields>>,
): Promise<void> {
  const { id: clinic } = run.clinic
  return commitRows<ImportRow<Fields>, StoredRecord<R>>(table, run, batch, async (rows, isRepeated) => {
    const ids = rows.map(({ id }) => id)
    const [known, existing, build] = await Promise.all([
      findReferenced(patientStore({ table }), clinic, rows, ({ patient }) => [patient]),
      (!isRepeated && read) || list.findMany(clinic, ids),
      prepare(rows),
    ])

    const decide = async (row: ImportRow<Fields>, stored: StoredRecord<R> | null): Promise<Decided> => {
      const changes = new Changeset(table, clinic)
      requireKnownId(row, stored)
      const column = 'patient_external_id'
      const patient = requireKnown(known.get(row.fields.patient), row.columnOf(column), 'patient')
      requireUnerased(patient, row.columnOf(column))
      const after = await build(row, patient, stored?.record ?? null, changes)
      const before = stored && valuesOf(stored.record)
      const provenance = run.overwritePolicy.check(row, stored, before, valuesOf(after))
      const isSame = stored && isSameRecord(stored.record, after)
      if (!isSame) requireConfirmed(row, column, patient)
      await accept?.(row, stored?.record ?? null, changes, isRepeated)
      if (isSame) return confirmed(table, clinic, calendarKey(clinic, entityCode, row.id), stored, provenance)
      list.change(changes, stored, after, provenance)
      if (!stored && entityCode === 'A') requireUnlinked(changes, [row.id])
      changes.requireVersion(patientKey(clinic, patient.id), patient.version)
      return { changes, write: stored ? 'updated' : 'imported' }
    }
    return { stored: existing, decide }
  })
}

/** The record is as the row has it; that it was imported is stored with it. */
export function confirmed(
  table: Table,
  clinic: ClinicId,
  key: Key,
  { version }: { readonly version: number },
  provenance: Provenance,
): Decided {
  const changes = new Changeset(table, clinic)
  setProvenance(changes, key, version, provenance)
  return { changes, write: 'unchanged' }
}

/** @throws RowRejectedError for an erased patient */
export function requireUnerased({ erasedAt }: StoredPatient, field = ''): void {
  if (erasedAt) throw new RowRejectedError({ field, issue: 'erased' }, 'the patient was erased')
}
