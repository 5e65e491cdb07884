/** Lists of the active or the inactive patients while an import adds patients. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { inactivePatientsPartition } from '../../../../shared/store/keys/patients.ts'
import { patientWriter } from '../../../../shared/store/patients/patient-writer.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { aPatient, newClinic, tableOfFile } from '../../../support/table.ts'

const db = tableOfFile()

it.each([
  ['all patients', ''],
  ['a search', 'zoe'],
])(
  'counts an inactive patient who is added between two reads as active in no total of %s',
  async (_, query) => {
    const clinic = (await newClinic(db.table)).id
    const zoe = (isActive: boolean) => ({ ...aPatient(), firstName: 'Zoe', isActive })
    await patientWriter(db).createMany(
      clinic,
      Array.from({ length: 6 }, () => zoe(true)),
    )
    let added: Promise<void> | undefined
    const table: Table = {
      ...db.table,
      // Read before the patient is added, while every other item is read after it.
      query: async (range) => {
        const items = await db.table.query(range)
        if (range.pk === inactivePatientsPartition(clinic))
          added ??= patientWriter(db).createMany(clinic, [zoe(false)])
        await added
        return items
      },
      get: async (key) => {
        await sleep(100)
        await added
        return db.table.get(key)
      },
    }
    const { total, items } = await patientSearch({ table }).search(clinic, query, { page: 2, limit: 2 }, true)
    expect([added, total, items.length]).toEqual([expect.any(Promise), 6, 2])
  },
)
