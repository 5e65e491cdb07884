/** The demo as the API shows it, after the importer has loaded it. */
import { beforeAll, describe, expect, it } from 'vitest'
import { type DemoClinic, demoClinics } from '../../../bin/demo/clinics.ts'
import { loadClinic, type ReadyClinic } from '../../../bin/demo/load.ts'
import { APPOINTMENT_STATUSES } from '../../../shared/domain/booking/appointment.ts'
import { CHANNELS } from '../../../shared/domain/messages/message.ts'
import { INVOICE_STATUSES } from '../../../shared/domain/money/invoice.ts'
import { PAYMENT_STATUSES } from '../../../shared/domain/money/payment.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import { appointmentStore } from '../../../shared/store/calendar/appointments.ts'
import { invoiceStore } from '../../../shared/store/calendar/invoices.ts'
import { paymentStore } from '../../../shared/store/calendar/payments.ts'
import { doctorStore } from '../../../shared/store/doctors.ts'
import { messageStore } from '../../../shared/store/messages/messages.ts'
import { patientStore } from '../../../shared/store/patients/patients.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { call } from '../../support/event.ts'
import { handlerOf, stubFunctionEnvironment } from '../../support/functions.ts'
import { rounds } from '../../support/scale.ts'
import { freshTable } from '../../support/table.ts'
import { withoutUpdatedAt } from '../../support/without-updated-at.ts'

const TODAY = '2026-11-20'
/** All clinics in `npm run prove`, and the smallest one otherwise. */
const demos = demoClinics(TODAY).slice(rounds(1, 0))
let table: Table
let ready: ReadyClinic[]

beforeAll(async () => {
  const db = await freshTable()
  table = db.table
  stubFunctionEnvironment(db.name)
  ready = await Promise.all(demos.map((demo) => loadClinic(table, demo)))
})

/** The first page of a list as the API answers it. */
async function shown(at: number, list: string, query: Record<string, string> = {}) {
  const headers = { authorization: `Developer ${ready[at]?.credentials.full}` }
  const { status, body } = await call(await handlerOf({ id: `list-${list}` }), { query, headers })
  expect(status).toBe(200)
  return body
}

const LISTS = {
  appointments: ['status', APPOINTMENT_STATUSES],
  invoices: ['status', INVOICE_STATUSES],
  payments: ['status', PAYMENT_STATUSES],
  messages: ['channel', CHANNELS],
} as const
type ListName = keyof typeof LISTS

describe.each(demos.map((demo, at) => ({ demo, at, name: demo.name })))('$name', ({ demo, at }) => {
  it.each(Object.keys(LISTS) as ListName[])('lists its %s in every status or channel', async (list) => {
    const rows: readonly object[] = demo[list]
    const [field, values] = LISTS[list]
    expect((await shown(at, list)).meta.total).toBe(rows.length)
    for (const value of values) {
      const { data, meta } = await shown(at, list, { [field]: value, limit: '1' })
      expect(data).toMatchObject([{ [field]: value }])
      // Amounts that follow from the payments are the amounts in the clinic's files.
      const same = rows.filter((row) => (row as Record<string, unknown>)[field] === value)
      expect(meta.total).toBe(same.length)
    }
  })

  it('balances its invoices', async () => {
    const [paid] = (await shown(at, 'invoices', { status: 'paid', limit: '1' })).data
    expect(paid).toMatchObject({ balance_due: 0, paid_amount: paid.total_amount, currency: demo.currency })
    const [refunded] = (await shown(at, 'invoices', { status: 'refunded', limit: '1' })).data
    expect(refunded).toMatchObject({ paid_amount: 0, paid_at: null })
  })

  it('has a credential for each scope, one for all and one for none', () => {
    expect(Object.keys(ready[at]?.credentials ?? {}).sort()).toEqual(['full', 'none', ...SCOPES].sort())
  })
})

describe('loading again', () => {
  const small = demos.at(-1) as DemoClinic
  const ALL = { page: 1, limit: 1000 }

  async function everything(table: Table) {
    const { id } = small
    const lists = [appointmentStore, invoiceStore, messageStore, paymentStore].map((store) =>
      store({ table }).page(id, {}, ALL),
    )
    const pages = await Promise.all([...lists, patientStore({ table }).page(id, ALL)])
    const doctors = await doctorStore({ table }).list(id)
    return [...pages.map(({ items }) => items), doctors].map((records) => records.map(withoutUpdatedAt))
  }

  it('creates the same lists and credentials in another table, and adds nothing to a table that has them', async () => {
    const before = await everything(table)
    const { table: another } = await freshTable()
    expect(await loadClinic(another, small)).toEqual(ready.at(-1))
    expect(await everything(another)).toEqual(before)
    expect(await loadClinic(table, small)).toEqual(ready.at(-1))
    expect(await everything(table)).toEqual(before)
  })
})
