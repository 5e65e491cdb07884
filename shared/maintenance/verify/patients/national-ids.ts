import { nationalIdsPartition, parseNationalIdKey, patientKey } from '../../../store/keys/patients.ts'
import { nationalIds } from '../../../store/patients/national-ids.ts'
import type { StoredPatient } from '../../../store/patients/patients.ts'
import type { Item } from '../../../store/table/write-requests.ts'
import { forEachConcurrent } from '../../walk/for-each-concurrent.ts'
import { partitionPages } from '../../walk/partition-pages.ts'
import { requireUnchanged } from '../comparison/conditions.ts'
import type { Recheck } from '../comparison/difference.ts'
import type { Inspection } from '../comparison/inspection.ts'
import { decodeStoredPatient, isOrdinal } from '../comparison/patient-image.ts'
import { keyText } from '../comparison/record-image.ts'

/** Verifies that every patient with a national id is found by it, and no other is. */
export async function checkNationalIds({ table, clinic, count, examine }: Inspection): Promise<void> {
  const { itemOf } = nationalIds({ table })

  /** The item that a record requires; null for none. */
  async function wantedItem(record: Item | undefined): Promise<Item | null> {
    const patient = readable(record)
    return patient && itemOf(clinic, patient)
  }

  for await (const records of partitionPages(table, patientKey(clinic, '').pk)) {
    const wanted = (await Promise.all(records.map(wantedItem))).filter((item) => item !== null)
    count('national_ids', wanted.length)
    const stored = new Map((await table.getMany(wanted)).map((item) => [keyText(item), item]))
    const suspects = wanted.filter((item) => stored.get(keyText(item))?.o !== item.o)
    await forEachConcurrent(suspects, (item) => examine(recheckMissing(parseNationalIdKey(item))))
  }
  for await (const items of partitionPages(table, nationalIdsPartition(clinic))) {
    const ids = new Set(items.map(parseNationalIdKey))
    const read = await table.getMany([...ids].map((id) => patientKey(clinic, id)))
    const records = new Map(read.map((record) => [record.sk, record]))
    const suspects: Item[] = []
    for (const item of items) {
      const wanted = await wantedItem(records.get(parseNationalIdKey(item)))
      if (wanted?.sk !== item.sk) suspects.push(item)
    }
    await forEachConcurrent(suspects, (item) => examine(recheckStray(item)))
  }

  function recheckMissing(patient: string): Recheck {
    return async () => {
      const key = patientKey(clinic, patient)
      const record = await table.get(key)
      const wanted = await wantedItem(record)
      const stored = wanted && (await table.get({ pk: wanted.pk, sk: wanted.sk }))
      if ((await table.get(key))?.v !== record?.v) return 'moving'
      if (!wanted || stored?.o === wanted.o) return null
      return {
        differences: [{ kind: 'national_id_missing', key }],
        repair: () => table.transact([table.putWrite(wanted), requireUnchanged(table, key, record)]),
      }
    }
  }

  function recheckStray({ pk, sk }: Item): Recheck {
    return async () => {
      const key = patientKey(clinic, parseNationalIdKey({ pk, sk }))
      const record = await table.get(key)
      const stored = await table.get({ pk, sk })
      const wanted = await wantedItem(record)
      if ((await table.get(key))?.v !== record?.v) return 'moving'
      if (!stored || wanted?.sk === sk || (record && !readable(record))) return null
      return {
        differences: [{ kind: 'national_id_stray', key: { pk, sk } }],
        repair: () => table.transact([table.deleteWrite({ pk, sk }), requireUnchanged(table, key, record)]),
      }
    }
  }
}

/** Null for a record that other checks report as damaged. */
function readable(record: Item | undefined): StoredPatient | null {
  const patient = record ? decodeStoredPatient(record) : null
  return patient && isOrdinal(patient.ordinal) ? patient : null
}
