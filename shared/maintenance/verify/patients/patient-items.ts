import { changeIndexKey, changeIndexPartition } from '../../../store/keys/change-index.ts'
import {
  nationalIdSecretKey,
  nationalIdsPartition,
  patientKey,
  patientRowKey,
} from '../../../store/keys/patients.ts'
import { nationalIds } from '../../../store/patients/national-ids.ts'
import { patientWriter } from '../../../store/patients/patient-writer.ts'
import { ConditionFailed } from '../../../store/table/errors.ts'
import { findSecret, requireSecret } from '../../../store/table/secret.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { derivedItemChecker, type VerifiedKind } from '../comparison/derived-items.ts'
import { externalIdChecker } from '../comparison/external-ids.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { decodeStoredPatient, isOrdinal } from '../comparison/patient-image.ts'
import { unrepairedRows } from '../comparison/unrepaired-rows.ts'

/**
 * Verifies that every patient is in the index of changes, and found by national id and by external id, and that no other is. Items of
 * lost patients stay.
 */
export async function checkPatientItems(inspection: Inspection, lost: ReadonlySet<string>): Promise<void> {
  const { table, clinic, count } = inspection
  const { itemOf } = nationalIds({ table })
  const externalIds = externalIdChecker(inspection)
  const secretKey = nationalIdSecretKey(clinic)
  const hasSecret = (await findSecret(table, secretKey)) !== null

  const kind: VerifiedKind = {
    keyOf: (id) => patientKey(clinic, id),
    itemsOf: async (item) => {
      const patient = decodeStoredPatient(item)
      if (!patient || !isOrdinal(patient.ordinal)) return null
      const index = changeIndexKey(clinic, 'P', patient)
      const nationalId = hasSecret ? await itemOf(clinic, patient) : null
      return [index, ...(nationalId ? [nationalId] : [])].map((value) => ({
        pk: value.pk,
        sk: value.sk,
        value,
      }))
    },
    rewrite: async (item) => {
      const patient = decodeStoredPatient(item)
      const row = patient && (await table.get(patientRowKey(clinic, patient.ordinal)))
      if (!row || row.i !== patient.id) throw new ConditionFailed([])
      await patientWriter({ table }).update(clinic, [{ before: patient, after: patient }])
    },
  }
  const items = derivedItemChecker(inspection, kind, unrepairedRows())
  for (const id of lost) items.held.add(id)
  let identified = 0
  for await (const page of partitionPages(table, patientKey(clinic, '').pk)) {
    identified += page.filter(({ ni }) => ni !== undefined).length
    // Unreadable records were reported with their rows.
    await items.expectItems(page.filter(isReadable))
    await externalIds.check('patient', page)
  }
  if (identified > 0) count('national_ids', identified)
  if (identified > 0 && !hasSecret) {
    // National ids are in the records: with another secret, they are hashed again.
    const repair = async () => void (await requireSecret(table, secretKey))
    const left = await inspection.examine(async () =>
      (await findSecret(table, secretKey))
        ? null
        : { differences: [{ kind: 'secret_missing', key: secretKey }], repair },
    )
    if (left.length === 0) return checkPatientItems(inspection, lost)
  }
  const indexes = [
    [changeIndexPartition(clinic, 'P'), 'changes'],
    ...(hasSecret || identified === 0 ? [[nationalIdsPartition(clinic), 'national_id_items']] : []),
  ] as [string, string][]
  for (const [pk, what] of indexes) await items.survey(pk, what)
  if (!items.hasSuspects()) return
  for await (const page of partitionPages(table, patientKey(clinic, '').pk))
    await forEachConcurrent(
      page.filter((item) => isReadable(item) && items.isSuspect(item.sk)),
      ({ sk }) => items.checkRecord(sk),
    )
  for (const [pk, what] of indexes) await items.check(pk, what)
}

const isReadable = (item: Item): boolean => {
  const patient = decodeStoredPatient(item)
  return patient !== null && isOrdinal(patient.ordinal)
}
