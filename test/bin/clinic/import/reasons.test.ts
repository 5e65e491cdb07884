/** The reasons of rejected rows are in the words of the tool, whatever a row has. */
import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { createAppointment } from '../../../../shared/api/bookings.ts'
import { sendMessage } from '../../../../shared/api/new-message.ts'
import { createPatient } from '../../../../shared/api/new-patient.ts'
import type { ClinicId } from '../../../../shared/domain/clinic.ts'
import type { Table } from '../../../../shared/store/table/table.ts'
import { recordChecker } from '../../../../shared/sync/check-record.ts'
import { importEntities } from '../../../../shared/sync/entities/entities.ts'
import { issueText } from '../../../../shared/sync/outcomes/row-rejected.ts'
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
    const check = recordChecker(entity, clinic, NOW, (kind, id) => `${kind}:${id}`)

    it.each(columns)('say what is wrong with %s', (column) => {
      const reasons = VALUES.flatMap((value) => {
        const checked = check({ line: 2, fields: { [column]: value } })
        return 'issues' in checked ? checked.issues.map(issueText) : []
      })
      expect(reasons.filter((reason) => FOREIGN.test(reason))).toEqual([])
      for (const reason of reasons) expect(reason).toMatch(/^[a-z_]+(\.[\w.]+)? \S/)
    })
  },
)

/** The columns that POST requests have too. Only files take phone numbers with punctuation, codes in capitals, and spaces around them. */
const POSTED = {
  patients: createPatient.body.shape,
  messages: sendMessage.body.shape,
  appointments: createAppointment.body.shape,
} as const

const REJECTED: unknown[] = [
  ' \n',
  'x'.repeat(20_000),
  'a\u0000',
  'a\n',
  'a\u2028b',
  'a\u2029',
  '\ud800',
  'a\ufffd',
  '\u200b',
  '\u202eabc',
  12,
  true,
  {},
  '+49000000000',
  '+4901711234567;ext=5',
  '+491011980',
  '0000000000',
  '01.01.1980',
  '2026-02-30',
  '25:00',
  'ö@example.com',
  'ada@127.1',
  `ada@${'ü'.repeat(60)}.example`,
  'ÄB-1',
]

describe.each(
  Object.entries(POSTED).flatMap(([name, shape]) => {
    const entity = importEntities({} as Table, () => NOW).find((one) => one.name === name)
    if (!entity) throw new Error(`no entity ${name}`)
    const shared = entity.columns.filter((column) => column in shape)
    return shared.map(
      (column) => [name, column, entity, shape[column as keyof typeof shape] as z.ZodType] as const,
    )
  }),
)('%s: %s', (_, column, entity, schema) => {
  it('is rejected in a file if POST rejects it', () => {
    const check = recordChecker(entity, clinic, NOW, (kind, id) => `${kind}:${id}`)
    const isAccepted = (value: unknown): boolean => {
      // The subject of an SMS is rejected whatever it is.
      const checked = check({ line: 2, fields: { channel: 'email', [column]: value } })
      return !('issues' in checked && checked.issues.some(({ field }) => field === column))
    }
    const withoutSpaces = (value: unknown) => (typeof value === 'string' ? value.trim() : value)
    const rejected = REJECTED.filter((value) => !schema.safeParse(withoutSpaces(value)).success)
    expect(rejected).not.toEqual([])
    expect(rejected.filter(isAccepted)).toEqual([])
  })
})
