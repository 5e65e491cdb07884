import { expect, it } from 'vitest'
import { withOwnIdColumns } from '../../../../../bin/clinic/import/external-ids/resolve-references.ts'
import { rowMap } from '../../../../../bin/clinic/import/maps/row-map.ts'
import { checkHeader } from '../../../../../bin/clinic/import/run/header.ts'

const payments = { name: 'payments', columns: ['invoice_external_id', 'amount', 'method'], required: [] }

/** The problem with a header. */
function problemOf(header: string[]): string {
  const map = rowMap(withOwnIdColumns(['external_id', ...payments.columns]), payments.name, undefined, {
    timezone: 'Europe/Berlin',
    currency: 'EUR',
  })
  const format = { kind: 'csv', encoding: 'utf-8', delimiter: ',', headerLine: 1 } as const
  try {
    checkHeader(payments, { ...format, hasSeparatorLine: false, header }, map, 'payments.csv')
    return ''
  } catch (error) {
    return (error as Error).message.replace(/; valid columns.*/, '')
  }
}

it.each([
  ['amont', ' (did you mean amount?)'],
  // A number of another system would be read as the id of a record.
  ['invoice_nr', ''],
])('suggests a column for %s, unless it is an id of this system', (name, suggestion) => {
  const header = ['external_id', 'invoice_external_id', 'method', name]
  expect(problemOf(header)).toBe(`payments.csv:1: column "${name}" is neither read nor ignored${suggestion}`)
})
