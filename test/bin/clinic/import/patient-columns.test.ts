import { describe, expect, it } from 'vitest'
import { patientsByNationalId } from '../../../../shared/store/patients/national-ids.ts'
import { patientStore } from '../../../../shared/store/patients/patients.ts'
import { patientSearch } from '../../../../shared/store/patients/search.ts'
import { runVerification } from '../../../shared/maintenance/verify/practice.ts'
import { FIRST, importedClinic } from './calendar-fixtures.ts'

const imported = importedClinic()
const { load } = imported

describe('the columns is_active, national_id and notes of an import', () => {
  const row = { external_id: 9, first_name: 'Ece', last_name: 'Kaya' }
  const inactive = () => patientSearch(imported.db).search(imported.clinic.id, 'ece', FIRST, false)
  const found = (id: string) => patientsByNationalId(imported.db).page(imported.clinic.id, id, FIRST)
  const stored = async () => {
    const { items } = await patientSearch(imported.db).search(imported.clinic.id, 'ece', FIRST)
    return patientStore(imported.db).find(imported.clinic.id, items[0]?.id ?? '')
  }

  it('create, change and clear the fields, and what finds patients by them', async () => {
    await load('patients', [{ ...row, is_active: 'false', national_id: 'TR-1', notes: 'Likes mornings' }])
    expect(await stored()).toMatchObject({ isActive: false, nationalId: 'TR-1', notes: 'Likes mornings' })
    expect([(await inactive()).total, (await found('TR-1')).total]).toEqual([1, 1])
    await load('patients', [{ ...row, is_active: true, national_id: 'TR-2' }])
    expect(await stored()).toMatchObject({ isActive: true, nationalId: 'TR-2', notes: 'Likes mornings' })
    await load('patients', [{ ...row, national_id: null, notes: null }])
    expect(await stored()).toMatchObject({ isActive: true, nationalId: null, notes: null })
    for (const id of ['TR-1', 'TR-2']) expect((await found(id)).total).toBe(0)
    expect((await inactive()).total).toBe(0)
    expect((await runVerification(imported.db.table, imported.clinic.id)).found).toEqual([])
  })
})
