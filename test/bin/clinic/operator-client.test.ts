import { expect, it } from 'vitest'
import { UnavailableError } from '../../../shared/store/table/errors.ts'
import { freshRealisticTable } from '../../support/realistic-table.ts'

it('continues after failures of a call at which a function gives up', async () => {
  const { table, operatorTable, dynamodb } = await freshRealisticTable()
  const key = { pk: 'a', sk: 'b' }
  const failures = { kind: 'error-before-commit', operation: 'GetItem', times: 4 } as const
  dynamodb.faults.next(failures)
  await expect(table.get(key)).rejects.toThrow(UnavailableError)
  dynamodb.faults.clear()
  dynamodb.faults.next(failures)
  expect(await operatorTable.get(key)).toBeUndefined()
  expect(dynamodb.faults.pending()).toBe(0)
})
