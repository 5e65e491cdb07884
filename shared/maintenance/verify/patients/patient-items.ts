import { isDeepStrictEqual } from 'node:util'
import { isUuid } from '../../../domain/uuid.ts'
import { changeIndexKey, changeIndexPartition } from '../../../store/keys/change-index.ts'
import { type Key, keyText, sortableNumber } from '../../../store/keys/key.ts'
import {
  nationalIdSecretKey,
  nationalIdsPartition,
  patientKey,
  patientListPartition,
  patientRowKey,
} from '../../../store/keys/patients.ts'
import { headWrite, readPatientHead } from '../../../store/patients/head.ts'
import { nationalIds } from '../../../store/patients/national-ids.ts'
import { patientWriter } from '../../../store/patients/patient-writer.ts'
import type { StoredPatient } from '../../../store/patients/patients.ts'
import { findSecret, requireSecret } from '../../../store/table/secret.ts'
import { withoutEvents } from '../../../store/table/table.ts'
import type { Item, Write } from '../../../store/table/write-requests.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import {
  type DerivedList,
  unrepairedItems,
  type VerifiedKind,
  verifyDerivedItems,
} from '../comparison/derived-items.ts'
import type { Difference } from '../comparison/difference.ts'
import { externalIdChecker } from '../comparison/external-ids.ts'
import { type Finding, findingOf, type Inspection } from '../comparison/inspection.ts'
import {
  decodeStoredPatient,
  holdsPatient,
  isOrdinal,
  listRowOf,
  withNameOfRow,
} from '../comparison/patient-image.ts'

/**
 * Verifies that every patient is listed at the record's position with the record's data, is in the index of changes, and found by
 * national id and by external id, that no other is, and that the list has no gaps. Returns the highest position in any record.
 */
export async function checkPatientItems(inspection: Inspection): Promise<number> {
  const { table, clinic, count, examineAll } = inspection
  const { itemOf } = nationalIds({ table })
  const externalIds = externalIdChecker(inspection)
  const unrepaired = unrepairedItems()
  const areHashed = await checkNationalIdSecret(inspection)
  let highest = -1
  /** Positions without a row. */
  let gaps: number[] = []

  const kind: VerifiedKind = {
    name: 'patients',
    keyOf: (id) => patientKey(clinic, id),
    itemsOf: async (item) => {
      // An item whose key is no id is not a record that any store reads.
      const patient = isUuid(item.sk) ? decodeStoredPatient(item) : null
      if (!patient) return null
      const nationalId = areHashed ? await itemOf(clinic, patient) : null
      const items = [
        listedAs(patient),
        changeIndexKey(clinic, 'P', patient),
        ...(nationalId ? [nationalId] : []),
      ]
      return items.map((value) => ({ pk: value.pk, sk: value.sk, value }))
    },
    onRecords: async (items) => {
      const identified = items.filter(({ ni }) => ni !== undefined).length
      if (identified > 0) count('national_ids', identified)
      await externalIds.check('patient', items)
      const head = await readPatientHead(table, clinic)
      // A position far beyond the others is damaged and does not tell how many patients there are.
      for (const { o } of items) if (isOrdinal(o) && o < head.patients) highest = Math.max(highest, o)
    },
    lists: readLists,
    rewrite: async (item) => {
      const patient = decodeStoredPatient(item) as StoredPatient
      await patientWriter({ table }).update(clinic, [{ before: patient, after: patient }])
    },
    checkRecord,
    findKept: async (_, item, record) => {
      if (item.pk !== patientListPartition(clinic)) return null
      const { patients: count } = await readPatientHead(table, clinic)
      const ordinal = Number(item.sk)
      const isPosition = ordinal < count && item.sk === sortableNumber(ordinal)
      const isLast = !record && holdsPatient(item)
      return isPosition || isLast ? findingOf('patient_row_without_record', item) : null
    },
  }

  await verifyDerivedItems(inspection, kind, unrepaired)
  const missing = gaps.map((ordinal) => patientRowKey(clinic, ordinal))
  await examineAll(
    missing.filter((key) => !unrepaired.has(key)),
    async (key, read) => ((await read.get(key)) ? null : findingOf('patient_ordinal_missing', key)),
  )
  return highest

  /** The row of a patient. One without a position has none: its key is that of no row. */
  function listedAs(patient: StoredPatient): Item {
    if (isOrdinal(patient.ordinal)) return listRowOf(clinic, patient)
    return { pk: patientListPartition(clinic), sk: `no position ${patient.id}` }
  }

  /** Rows come before the items that are only kept if a row holds their patient. */
  async function* readLists(): AsyncGenerator<readonly DerivedList[]> {
    const { patients: count } = await readPatientHead(table, clinic)
    let next = 0
    gaps = []
    const onItem = ({ sk }: Item): void => {
      const ordinal = Number(sk)
      if (!(ordinal < count)) return
      for (; next < ordinal; next++) gaps.push(next)
      next = ordinal + 1
    }
    yield [{ pk: patientListPartition(clinic), what: 'patient_rows', onItem }]
    yield [
      { pk: changeIndexPartition(clinic, 'P'), what: 'changes' },
      ...(areHashed ? [{ pk: nationalIdsPartition(clinic), what: 'national_id_items' }] : []),
    ]
  }

  /** Whether the name or the position in the record is wrong, and not the row. */
  async function checkRecord(
    item: Item,
    stored: ReadonlyMap<string, Item>,
    differences: readonly Difference[],
  ): Promise<Finding | null> {
    const patient = decodeStoredPatient(item) as StoredPatient
    const wanted = listedAs(patient)
    const row = stored.get(keyText(wanted))
    if (isDeepStrictEqual(row, wanted)) return null
    const right = row && (await withNameOfRow(inspection, patient, row))
    if (right) {
      // As if the record had had that name before: its copies are not stale, and it makes no event.
      const { update } = patientWriter({ table: withoutEvents(table) })
      return findingOf('patient_record_wrong', item, () => update(clinic, [{ before: right, after: right }]))
    }
    const { patients: count } = await readPatientHead(table, clinic)
    const isOwn = row ? !(await belongsToOther(row, patient)) : patient.ordinal < count
    if (isOrdinal(patient.ordinal) && isOwn) return null
    const others = differences.filter(({ kind }) => kind === 'change_missing')
    const { differences: own, repair } = await ordinalFinding(patient, item)
    return { differences: [...own, ...others], repair }
  }

  /** Whether a row belongs to another patient whose record has the same position. */
  async function belongsToOther({ i }: Item, { id, ordinal }: StoredPatient): Promise<boolean> {
    if (typeof i !== 'string' || i === '' || i === id) return false
    return (await table.get(patientKey(clinic, i)))?.o === ordinal
  }

  /** The record's position is invalid or another patient's. The patient may be listed elsewhere or not at all. */
  async function ordinalFinding(patient: StoredPatient, key: Key): Promise<Finding> {
    const listed = await findRow(patient.id)
    const note = `place ${patient.ordinal}`
    if (listed === null) return findingOf('patient_row_missing', key, () => appendToList(patient), note)
    const repair = () => table.transact([ordinalWrite(patient, listed)])
    return findingOf('patient_ordinal_wrong', key, repair, `${note}, listed at ${listed}`)
  }

  /** The position of the patient's row; null if there is none. */
  async function findRow(id: string): Promise<number | null> {
    for await (const rows of partitionPages(table, patientListPartition(clinic))) {
      const row = rows.find(({ i }) => i === id)
      if (row) return Number(row.sk)
    }
    return null
  }

  async function appendToList(patient: StoredPatient): Promise<void> {
    const { patients: ordinal } = await readPatientHead(table, clinic)
    await table.transact([
      ordinalWrite(patient, ordinal),
      table.putWrite(listRowOf(clinic, { ...patient, ordinal }), 'new'),
      headWrite(table, clinic, { patients: ordinal + 1 }, { patients: ordinal }),
    ])
  }

  function ordinalWrite({ id, version }: StoredPatient, ordinal: number): Write {
    return table.updateWrite(patientKey(clinic, id), {
      UpdateExpression: 'SET o = :ordinal, v = :next',
      ConditionExpression: 'v = :read',
      ExpressionAttributeValues: { ':ordinal': ordinal, ':next': version + 1, ':read': version },
    })
  }
}

/**
 * Verifies that the secret of national ids is there if any patient has one. Returns whether the items of national ids can be compared.
 * National ids are in the records: with another secret, they are hashed again.
 */
async function checkNationalIdSecret({ table, clinic, examine }: Inspection): Promise<boolean> {
  const key = nationalIdSecretKey(clinic)
  if (await findSecret(table, key)) return true
  for await (const items of partitionPages(table, patientKey(clinic, '').pk))
    if (items.some(({ ni }) => ni !== undefined)) {
      const left = await examine(async () => {
        if (await findSecret(table, key)) return null
        return findingOf('secret_missing', key, () => requireSecret(table, key))
      })
      return left.length === 0
    }
  return true
}
