/** The demo as the API shows it. */
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { loadDemo } from '../../../bin/demo/demo.ts'
import type { ReadyClinic } from '../../../bin/demo/load.ts'
import { APPOINTMENT_STATUSES } from '../../../shared/domain/booking/appointment.ts'
import { CHANNELS, MESSAGE_STATUSES } from '../../../shared/domain/messages/message.ts'
import { INVOICE_STATUSES } from '../../../shared/domain/money/invoice.ts'
import { PAYMENT_METHODS, PAYMENT_STATUSES, PAYMENT_TYPES } from '../../../shared/domain/money/payment.ts'
import { SCOPES } from '../../../shared/domain/scope.ts'
import type { Table } from '../../../shared/store/table/table.ts'
import { request, stubFunctionEnvironment } from '../../support/functions.ts'
import { freshTable } from '../../support/table.ts'

const LISTS = {
  appointments: { status: APPOINTMENT_STATUSES },
  invoices: { status: INVOICE_STATUSES },
  payments: { status: PAYMENT_STATUSES, type: PAYMENT_TYPES, payment_method: PAYMENT_METHODS },
  messages: { status: MESSAGE_STATUSES, channel: CHANNELS },
} as const

// The next day has begun in one of the clinics.
const NOW = '2027-03-01T20:00:00Z'

describe('the demo', () => {
  let table: Table
  let clinics: ReadyClinic[]
  const lists = new Map<string, any[]>()

  beforeAll(async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(NOW) })
    const db = await freshTable()
    table = db.table
    stubFunctionEnvironment(db.name)
    clinics = await loadDemo(table)
    for (const { name } of clinics)
      for (const list of [...Object.keys(LISTS), 'patients', 'doctors', 'treatments', 'rooms'])
        lists.set(`${name} ${list}`, await everything(name, list))
    return () => vi.useRealTimers()
  })

  async function everything(clinic: string, list: string): Promise<any[]> {
    const credentials = clinics.find(({ name }) => name === clinic)?.credentials
    const { status, body } = await request(`list-${list}`, {
      query: { limit: '100' },
      headers: { authorization: `Developer ${credentials?.full}` },
    })
    expect([status, body.meta?.total ?? body.data.length]).toEqual([200, body.data.length])
    return body.data
  }

  it('has two clinics in different time zones and currencies, and at most 700 records', () => {
    expect(clinics.map(({ name, timezone }) => [name, timezone])).toEqual([
      ['Bosphorus Family Clinic', 'Europe/Istanbul'],
      ['Patan Dental Care', 'Asia/Kathmandu'],
    ])
    expect(clinics.map(({ name }) => lists.get(`${name} invoices`)?.[0].currency)).toEqual(['TRY', 'NPR'])
    const sizes = [...lists.values()].map(({ length }) => length)
    expect(sizes.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(700)
    for (const { credentials } of clinics)
      expect(Object.keys(credentials).sort()).toEqual(['full', 'none', ...SCOPES].sort())
  })

  it('has records of every status and kind in each clinic', () => {
    for (const { name } of clinics)
      for (const [list, fields] of Object.entries(LISTS))
        for (const [field, values] of Object.entries(fields)) {
          const found = new Set(lists.get(`${name} ${list}`)?.map((record) => record[field]))
          expect([name, list, field, [...found].sort()]).toEqual([name, list, field, [...values].sort()])
        }
  })

  it('has a doctor who is away for a part of tomorrow', async () => {
    const [clinic] = clinics as [ReadyClinic]
    const away = lists.get(`${clinic.name} doctors`)?.find(({ full_name }) => full_name === 'Dr. Emre Koç')
    const { body } = await request('list-time-off', {
      path: { id: away.id },
      headers: { authorization: `Developer ${clinic.credentials.full}` },
    })
    const block = { from: '2027-03-02', start_time: '14:00', end_time: '15:00', reason: 'Team meeting' }
    expect(body.data).toMatchObject([block])
  })

  it('has a treatment of two doctors, patients of several languages, and one who declined SMS', () => {
    for (const { name } of clinics) {
      const of = (list: string): any[] => lists.get(`${name} ${list}`) ?? []
      expect(of('treatments').map(({ doctor_ids }) => doctor_ids.length)).toContain(2)
      expect(new Set(of('patients').map(({ language }) => language)).size).toBeGreaterThan(1)
      expect(of('patients').filter(({ accepts_sms }) => !accepts_sms)).toHaveLength(1)
    }
  })

  it('has past appointments that took place or did not, and appointments of the next weeks', () => {
    for (const { name, timezone } of clinics) {
      const today = new Date(Date.parse(NOW)).toLocaleDateString('sv', { timeZone: timezone })
      const appointments = lists.get(`${name} appointments`) ?? []
      for (const { appointment_date: date, status } of appointments)
        expect(date < today ? ['completed', 'cancelled', 'no_show'] : ['scheduled', 'cancelled']).toContain(
          status,
        )
      const ahead = appointments.filter(({ status }) => status === 'scheduled')
      expect(ahead.length).toBeGreaterThan(5)
    }
    for (const { created_at } of [...lists.values()].flat())
      if (created_at) expect(Date.parse(created_at)).toBeLessThan(Date.parse(NOW))
  })

  it('has invoices whose balances follow from their payments', () => {
    for (const invoice of clinics.flatMap(({ name }) => lists.get(`${name} invoices`) ?? [])) {
      if (invoice.status === 'paid') expect(invoice.balance_due).toBe(0)
      if (invoice.status === 'partially_paid')
        expect([invoice.balance_due > 0, invoice.paid_amount > 0]).toEqual([true, true])
      if (invoice.status === 'refunded') expect([invoice.paid_amount, invoice.paid_at]).toEqual([0, null])
    }
  })

  it('has the same ids and credentials in another table, and is unchanged when it is loaded again', async () => {
    const { table: another } = await freshTable()
    expect(await loadDemo(another)).toEqual(clinics)
    expect(await loadDemo(table)).toEqual(clinics)
    for (const { name } of clinics)
      expect(await everything(name, 'payments')).toEqual(lists.get(`${name} payments`))
  })
})
