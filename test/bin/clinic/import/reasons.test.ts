/** The reasons of rejected rows are in the words of the tool, whatever a row has. */
import { describe, expect, it } from 'vitest'
import { importEntities } from '../../../../bin/clinic/import/entities/entities.ts'
import { rowMap } from '../../../../bin/clinic/import/maps/row-map.ts'
import { rowChecker } from '../../../../bin/clinic/import/run/check-row.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { NOW } from '../../../support/table.ts'

const clinic = {
  id: 'c' as ClinicId,
  name: 'Clinic',
  timezone: 'Europe/Berlin',
  currency: 'EUR',
  appointmentMinutes: 30,
  createdAt: new Date(NOW).toISOString(),
}

const VALUES: unknown[] = [
  null,
  '',
  'x',
  '-1',
  'x'.repeat(20_000),
  -1,
  1.5,
  Number.MAX_VALUE,
  Number.MAX_SAFE_INTEGER + 1,
  true,
  [],
  [1],
  [null],
  [{}],
  [{ description: 1, unit_price: {}, extra: 1 }],
  [{ treatment_external_id: [], price: null }],
  Array(300).fill({ description: 'Consultation', unit_price: 1 }),
  {},
  { a: { b: 1 } },
]

/** Parts of zod's own messages. */
const FOREIGN = /invalid|expected|too (big|small)|unrecognized|undefined|NaN|\[object/i

describe.each(importEntities({} as Table, () => NOW).map((entity) => [entity.name, entity] as const))(
  'the reasons of rejected rows of %s',
  (_, entity) => {
    const columns = ['external_id', ...entity.columns]
    const check = rowChecker(
      entity,
      clinic,
      NOW,
      (kind, id) => `${kind}:${id}`,
      rowMap(columns, entity.name, undefined, { timezone: 'UTC', currency: 'EUR' }),
    )

    it.each(columns)('say what is wrong with %s', (column) => {
      const reasons = VALUES.flatMap((value) => {
        const checked = check({ line: 2, values: { [column]: value } })
        return 'reasons' in checked ? checked.reasons : []
      })
      expect(reasons.filter((reason) => FOREIGN.test(reason))).toEqual([])
      for (const reason of reasons) expect(reason).toMatch(/^[a-z_]+(\.[\w.]+)? \S/)
    })
  },
)
