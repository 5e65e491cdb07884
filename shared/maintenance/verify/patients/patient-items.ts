import { isDeepStrictEqual } from 'node:util'
import { isUuid } from '../../../domain/uuid.ts'
import { changeIndexKey, changeIndexPartition } from '../../../store/keys/change-index.ts'
import { keyText, sortableNumber } from '../../../store/keys/key.ts'
import {
  nationalIdSecretKey,
  nationalIdsPartition,
  patientKey,
  patientListPartition,
  patientRowKey,
} from '../../../store/keys/patients.ts'
import { readPatientHead } from '../../../store/patients/head.ts'
import { nationalIds } from '../../../store/patients/national-ids.ts'
import { patientWriter } from '../../../store/patients/patient-writer.ts'
import type { StoredPatient } from '../../../store/patients/patients.ts'
import { findSecret, requireSecret } from '../../../store/table/secret.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import {
  type DerivedList,
  unrepairedItems,
  type VerifiedKind,
  verifyDerivedItems,
} from '../comparison/derived-items.ts'
import { externalIdChecker } from '../comparison/external-ids.ts'
import { findingOf, type Inspection } from '../comparison/inspection.ts'
import { decodeStoredPatient, holdsPatient, isOrdinal, listRowOf } from '../comparison/patient-image.ts'

/**
 * Verifies that every patient is listed at the record's position with the record's data, is in the index of changes, and found by
 * national id and by external id, that no other is, and that the list has no gaps. Returns the highest position in any record.
 */
export async function checkPatientItems(inspection: Inspection): Promise<number> {
  const { table, clinic, count, examineAll } = inspection
  const { patients } = await readPatientHead(table, clinic)
  const externalIds = externalIdChecker(inspection)
  const unrepaired = unrepairedItems()
  const areHashed = await checkNationalIdSecret(inspection)
  let highest = -1
  /** Positions without a row. */
  const gaps: number[] = []
  let next = 0
  const addGaps = ({ sk }: Item): void => {
    const ordinal = Number(sk)
    if (!(ordinal < patients)) return
    for (; next < ordinal; next++) gaps.push(next)
    next = ordinal + 1
  }

  /** Rows come before the items that are only kept if a row holds their patient. */
  async function* lists(): AsyncGenerator<readonly DerivedList[]> {
    yield [{ pk: patientListPartition(clinic), what: 'patient_rows', onItem: addGaps }]
    yield [
      { pk: changeIndexPartition(clinic, 'P'), what: 'changes', keysOnly: true },
      ...(areHashed ? [{ pk: nationalIdsPartition(clinic), what: 'national_id_items', keysOnly: true }] : []),
    ]
  }

  await verifyDerivedItems(
    inspection,
    {
      ...recordsOf(inspection, areHashed),
      onRecords: async (items) => {
        const identified = items.filter(({ ni }) => ni !== undefined).length
        if (identified > 0) count('national_ids', identified)
        await externalIds.check('patient', items)
        // A position far beyond the others is damaged and does not tell how many patients there are.
        for (const { o } of items) if (isOrdinal(o) && o < patients) highest = Math.max(highest, o)
      },
      lists,
    },
    unrepaired,
  )
  const missing = gaps.map((ordinal) => patientRowKey(clinic, ordinal))
  await examineAll(
    missing.filter((key) => !unrepaired.has(key)),
    async (key, read) => ((await read.get(key)) ? null : findingOf('patient_ordinal_missing', key)),
  )
  return highest
}

/** The records of patients, and the items that belong to each. */
function recordsOf(
  { table, clinic }: Inspection,
  areHashed: boolean,
): Omit<VerifiedKind, 'onRecords' | 'lists'> {
  const { itemOf } = nationalIds({ table })

  /** The row of a patient. One without a position has none: its key is that of no row. */
  function listedAs(patient: StoredPatient): Item {
    if (isOrdinal(patient.ordinal)) return listRowOf(clinic, patient)
    return { pk: patientListPartition(clinic), sk: `no position ${patient.id}` }
  }

  /** Whether a row belongs to another patient whose record has the same position. */
  async function belongsToOther({ i }: Item, { id, ordinal }: StoredPatient): Promise<boolean> {
    if (typeof i !== 'string' || i === '' || i === id) return false
    return (await table.get(patientKey(clinic, i)))?.o === ordinal
  }

  return {
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
    rewrite: async (item) => {
      const patient = decodeStoredPatient(item) as StoredPatient
      await patientWriter({ table }).update(clinic, [{ before: patient, after: patient }])
    },
    checkRecord: async (item, stored) => {
      const patient = decodeStoredPatient(item) as StoredPatient
      const expected = listedAs(patient)
      const row = stored.get(keyText(expected))
      if (isDeepStrictEqual(row, expected)) return null
      const { patients } = await readPatientHead(table, clinic)
      const isOwn = row ? !(await belongsToOther(row, patient)) : patient.ordinal < patients
      if (isOrdinal(patient.ordinal) && isOwn) return null
      return findingOf('patient_ordinal_wrong', item, null, `position ${patient.ordinal}`)
    },
    findKept: async (_, item, record) => {
      if (item.pk !== patientListPartition(clinic)) return null
      const { patients } = await readPatientHead(table, clinic)
      const ordinal = Number(item.sk)
      const isPosition = ordinal < patients && item.sk === sortableNumber(ordinal)
      const isLast = !record && holdsPatient(item)
      return isPosition || isLast ? findingOf('patient_row_without_record', item) : null
    },
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
