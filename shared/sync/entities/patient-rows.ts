/** Shared by the imports of appointments, invoices, payments and messages. */

import type { StoredRecord } from '../../store/calendar/calendar-entity.ts'
import type { RecordStore } from '../../store/calendar/calendar-list.ts'
import { type Provenance, setProvenance } from '../../store/external-ids/provenance.ts'
import { calendarKey, type EntityCode } from '../../store/keys/calendar.ts'
import { patientKey } from '../../store/keys/patients.ts'
import { patientStore, type StoredPatient } from '../../store/patients/patients.ts'
import { Changeset } from '../../store/table/changeset.ts'
import { commitPacked, type Unit } from '../../store/table/commit-packed.ts'
import type { Table } from '../../store/table/table.ts'
import { isSameRecord } from '../../store/table/updated-at-codec.ts'
import { type ColumnValues, requireConfirmed } from '../external-ids/overwrite-check.ts'
import { findReferenced, requireKnown } from '../external-ids/resolve-references.ts'
import type { RowWrite } from '../outcomes/batch-outcomes.ts'
import { RowRejectedError, requireKnownId } from '../outcomes/row-rejected.ts'
import type { ImportRow, ImportRun } from './entity.ts'
import { rejectNewLinks, requireUnlinked } from './links.ts'

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

type Decided<Fields> = {
  readonly row: ImportRow<Fields>
  readonly changes: Changeset
  readonly write: RowWrite
}

/**
 * Writes a batch of rows that belong to patients. `prepare` reads the other records that rows refer to, and returns
 * how their records are built. Each write is conditional on the version of the patient that was read, so that no outdated
 * name is written.
 */
export async function writePatientRows<R, Fields extends WithPatient>(
  { table, entityCode, list, valuesOf, accept }: Target<R, Fields>,
  { clinic: { id: clinic }, outcomes, overwritePolicy }: ImportRun,
  batch: readonly ImportRow<Fields>[],
  prepare: (rows: readonly ImportRow<Fields>[]) => Promise<BuildRecord<R, Fields>>,
): Promise<void> {
  const patients = patientStore({ table })

  /**
   * The changes of rows, each as it was decided by one reading: rows without changes have their outcome then. The records
   * that rows depend on are read first. Each row is decided when the caller asks for it.
   */
  async function* decide(
    rows: readonly ImportRow<Fields>[],
    isRepeated = false,
  ): AsyncGenerator<Decided<Fields>, undefined> {
    const ids = rows.map(({ id }) => id)
    const [known, existing, build] = await Promise.all([
      findReferenced(patients, clinic, rows, ({ patient }) => [patient]),
      list.findMany(clinic, ids),
      prepare(rows),
    ])
    for (const row of rows) {
      const one = await decideRow(row, known, existing.get(row.id) ?? null, build, isRepeated)
      if (one) yield one
    }
  }

  async function decideRow(
    row: ImportRow<Fields>,
    known: ReadonlyMap<string, StoredPatient>,
    stored: StoredRecord<R> | null,
    build: BuildRecord<R, Fields>,
    isRepeated: boolean,
  ): Promise<Decided<Fields> | null> {
    if (stored && overwritePolicy.isImported(row, stored)) {
      outcomes.unchanged(row.id)
      return null
    }
    const changes = new Changeset(table, clinic)
    try {
      requireKnownId(row, stored)
      const column = 'patient_external_id'
      const patient = requireKnown(known.get(row.fields.patient), row.columnOf(column), 'patient')
      requireUnerased(patient, row.columnOf(column))
      const after = await build(row, patient, stored?.record ?? null, changes)
      const before = stored && valuesOf(stored.record)
      const provenance = overwritePolicy.check(row, stored, before, valuesOf(after))
      const isSame = stored && isSameRecord(stored.record, after)
      if (!isSame) requireConfirmed(row, column, patient)
      await accept?.(row, stored?.record ?? null, changes, isRepeated)
      if (isSame) return confirmed(row, stored, provenance)
      list.change(changes, stored, after, provenance)
      if (!stored && entityCode === 'A') requireUnlinked(changes, [row.id])
      changes.requireVersion(patientKey(clinic, patient.id), patient.version)
      return { row, changes, write: stored ? 'updated' : 'imported' }
    } catch (error) {
      return outcomes.rejectedBy(row.id, error)
    }
  }

  /** The record is as the row has it; that it was imported is stored with it. */
  function confirmed(
    row: ImportRow<Fields>,
    stored: StoredRecord<R>,
    provenance: Provenance,
  ): Decided<Fields> {
    const changes = new Changeset(table, clinic)
    setProvenance(changes, calendarKey(clinic, entityCode, row.id), stored.version, provenance)
    return { row, changes, write: 'unchanged' }
  }

  function unitOf({ row, changes, write }: Decided<Fields>): Unit {
    let latest = write
    return {
      changes,
      rebuild: async () => {
        if (write === 'imported') await rejectNewLinks(table, clinic, [row.id])
        const { value: again } = await decide([row], true).next()
        if (again) latest = again.write
        return again?.changes ?? null
      },
      onCommit: (outcome) => outcomes.committed(row.id, latest, outcome),
    }
  }

  async function* units(): AsyncGenerator<Unit> {
    for await (const one of decide(batch)) yield unitOf(one)
  }

  await commitPacked(table, clinic, units())
}

/** @throws RowRejectedError for an erased patient */
export function requireUnerased({ erasedAt }: StoredPatient, field = ''): void {
  if (erasedAt) throw new RowRejectedError({ field, issue: 'erased' }, 'the patient was erased')
}
