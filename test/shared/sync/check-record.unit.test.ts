import { expect, it } from 'vitest'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { recordChecker } from '../../../shared/sync/check-record.ts'
import { importEntities } from '../../../shared/sync/entities/entities.ts'
import type { ImportableEntity } from '../../../shared/sync/entities/entity.ts'
import { NOW } from '../../support/table.ts'

const patients = importEntities({} as Table, () => NOW).find(
  ({ name }) => name === 'patients',
) as ImportableEntity
const check = recordChecker(patients, { timezone: 'Europe/Berlin' } as ClinicInfo, NOW, () => 'p')

it('reads codes in any case', () => {
  const fields = { external_id: '1', first_name: 'Ada', last_name: 'Lovelace', gender: ' Female' }
  expect(check({ line: 1, fields })).toMatchObject({ row: { fields: { gender: 'female' } } })
})

it('says which word is probably meant', () => {
  const fields = { external_id: '1', first_name: 'Ada', last_name: 'Lovelace', gender: 'femal' }
  expect(check({ line: 1, fields })).toMatchObject({
    issues: [
      { field: 'gender', issue: expect.stringMatching(/^must be one of .* \(did you mean female\?\)$/) },
    ],
  })
})
