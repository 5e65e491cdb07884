import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { recordChecker } from '../../../shared/sync/check-record.ts'
import { importEntities } from '../../../shared/sync/entities/entities.ts'
import type { ImportableEntity } from '../../../shared/sync/entities/entity.ts'
import { NOW } from '../../support/table.ts'

const entities = new Map(importEntities({} as Table, () => NOW).map((entity) => [entity.name, entity]))
const clinic = { timezone: 'Europe/Berlin' } as ClinicInfo
const checkerOf = (name: string) =>
  recordChecker(entities.get(name) as ImportableEntity, clinic, NOW, () => 'p')
const check = checkerOf('patients')

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

const ODD = { toString: 1 }
const invoice = { invoice_number: '1', issue_date: '2026-01-05', patient_id: randomUUID() }

it.each([
  ['gender', 'patients', { first_name: 'Ada', gender: ODD }],
  ['created_at', 'patients', { first_name: 'Ada', created_at: ODD }],
  ['constructor', 'patients', { first_name: 'Ada', constructor: ' ' }],
  ['paid_amount', 'invoices', { ...invoice, paid_amount: ODD }],
  ['line_items.0.id', 'invoices', { ...invoice, line_items: [{ id: ODD, unit_price: 1, description: 'x' }] }],
])('rejects a value that %s cannot have', (field, entity, fields) => {
  const record = { line: 1, fields: { external_id: '1', ...fields } }
  expect(checkerOf(entity)(record)).toMatchObject({ issues: [{ field }] })
})
