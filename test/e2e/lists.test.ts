/** Lists over HTTP: every filter is compared with an oracle that filters the full list of the demo clinic. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReadyClinic } from '../../bin/demo/load.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { get as getFrom, type RunningStack, runStack } from '../support/local-stack.ts'
import { rounds } from '../support/scale.ts'

type Shown = Record<string, any>
type Filter = Record<string, string>

let stack: RunningStack
/** The larger clinic of the demo in `npm run prove`, and the smaller one otherwise; and the other one. */
let [mine, _other]: (ReadyClinic | undefined)[] = []
const all: Record<string, Shown[]> = {}
const get = (path: string, clinic = mine) => getFrom(stack, path, clinic?.credentials.full)

beforeAll(async () => {
  stack = await runStack()
  ;[mine, _other] = rounds(0, 1) ? stack.clinics : stack.clinics.toReversed()
  for (const { path } of LISTS) all[path] = await readAll(path, {}, 100)
})
afterAll(() => stack.close())

/** A list: its sort key, newest first, and a predicate on records for each of its filters. */
type List = {
  path: string
  order: (record: Shown) => string
  fields: Record<string, (record: Shown, wanted: string) => boolean>
}

const day = (from: string, to: string, date: (record: Shown) => string): List['fields'] => ({
  [from]: (record, wanted) => date(record) >= wanted,
  [to]: (record, wanted) => date(record) <= wanted,
})

const LISTS: List[] = [
  {
    path: '/appointments',
    order: (one) => `${one.appointment_date} ${one.start_time} ${one.id}`,
    fields: {
      patient_id: (one, id) => one.patient.id === id,
      doctor_id: (one, id) => one.doctor.id === id,
      status: (one, status) => one.status === status,
      ...day('date_from', 'date_to', (one) => one.appointment_date),
    },
  },
  {
    path: '/invoices',
    order: (one) => `${one.issue_date} ${one.id}`,
    fields: {
      patient_id: (one, id) => one.patient.id === id,
      status: (one, status) => one.status === status,
      ...day('from', 'to', (one) => one.issue_date),
    },
  },
  {
    path: '/payments',
    order: (one) => `${one.payment_date} ${Date.parse(one.created_at)} ${one.id}`,
    fields: {
      patient_id: (one, id) => one.patient.id === id,
      invoice_id: (one, id) => one.invoice_id === id,
      status: (one, status) => one.status === status,
      ...day('from', 'to', (one) => one.payment_date),
    },
  },
  {
    // Sorted and filtered by the time of acceptance, which messages do not show, so results are compared as sets.
    path: '/messages',
    order: () => '',
    fields: {
      patient_id: (one, id) => one.patient.id === id,
      channel: (one, channel) => one.channel === channel,
    },
  },
]

async function readAll(path: string, filter: Filter, limit: number): Promise<Shown[]> {
  const found: Shown[] = []
  for (let page = 1; ; page++) {
    const query = new URLSearchParams({ ...filter, page: String(page), limit: String(limit) })
    const { status, body } = await get(`${path}?${query}`)
    expect(status).toBe(200)
    found.push(...body.data)
    if (page >= body.meta.total_pages) {
      expect([found.length, new Set(found.map(({ id }) => id)).size]).toEqual([
        body.meta.total,
        body.meta.total,
      ])
      return found
    }
  }
}

/** Values for a filter, some with and some without matches. */
function valuesOf(name: string, records: Shown[]): string[] {
  const at = (share: number) => records[Math.floor((records.length - 1) * share)] as Shown
  if (name === 'patient_id') return [at(0.1).patient.id, at(0.7).patient.id, newUuid()]
  if (name === 'doctor_id')
    return [...new Set(records.map(({ doctor }) => doctor.id))].slice(0, 3).concat(newUuid())
  if (name === 'invoice_id') return [at(0.3).invoice_id, newUuid()]
  if (name === 'status' || name === 'channel') return [...new Set(records.map((record) => record[name]))]
  const date = (one: Shown) => one.appointment_date ?? one.issue_date ?? one.payment_date
  return name.includes('from') ? [date(at(0.9)), date(at(0.5)), '2031-01-01'] : [date(at(0.1)), date(at(0.4))]
}

describe.each(LISTS.map((list) => [list.path, list] as const))('GET %s', (path, { fields, order }) => {
  it('returns every record once and in order for every page size', async () => {
    const records = all[path] ?? []
    expect(records.length).toBeGreaterThan(50)
    expect(records.map(order)).toEqual(records.map(order).sort().reverse())
    for (const limit of [7, 20]) expect(await readAll(path, {}, limit)).toEqual(records)
  })

  it('returns what the oracle returns for every combination of filters', async () => {
    const records = all[path] ?? []
    const names = Object.keys(fields)
    let combinations: Filter[] = [{}]
    for (const name of names) {
      const values = valuesOf(name, records)
      combinations = combinations.flatMap((filter) => [
        filter,
        ...values.map((value) => ({ ...filter, [name]: value })),
      ])
    }
    const ascending = combinations.filter(
      ({ from, to, date_from, date_to }) => (from ?? date_from ?? '') <= (to ?? date_to ?? '9'),
    )
    const step = Math.max(1, Math.floor(ascending.length / rounds(20, 5_000)))
    for (const filter of ascending.filter((_, at) => at % step === 0)) {
      const expected = records.filter((record) =>
        Object.entries(filter).every(([name, value]) => fields[name]?.(record, value)),
      )
      const pages = Math.ceil(expected.length / 20)
      for (const page of new Set([1, Math.ceil(pages / 2) || 1, pages || 1])) {
        const query = new URLSearchParams({ ...filter, page: String(page) })
        const { body } = await get(`${path}?${query}`)
        expect([filter, body.meta.total]).toEqual([filter, expected.length])
        expect(body.data.map(({ id }: Shown) => id)).toEqual(
          expected.slice((page - 1) * 20, page * 20).map(({ id }) => id),
        )
      }
    }
  })
})

describe('GET /invoices/{id}', () => {
  it('returns the listed invoice with its payments, newest first, which add up to the paid amount', async () => {
    for (const invoice of (all['/invoices'] ?? []).slice(0, 60)) {
      const { status, body } = await get(`/invoices/${invoice.id}`)
      expect(status).toBe(200)
      const { payments, ...shown } = body.data
      expect(shown).toEqual(invoice)
      expect(payments).toEqual((all['/payments'] ?? []).filter(({ invoice_id }) => invoice_id === invoice.id))
      const signed = payments
        .filter((one: Shown) => one.status === 'completed')
        .map((one: Shown) => (one.type === 'refund' ? -one.amount : one.amount))
      expect(Math.round(signed.reduce((sum: number, amount: number) => sum + amount, 0) * 100)).toBe(
        Math.round(invoice.paid_amount * 100),
      )
      expect(Math.round((invoice.total_amount - invoice.paid_amount) * 100)).toBe(
        Math.round(invoice.balance_due * 100),
      )
    }
  })
})

describe('GET /messages', () => {
  it('filters by the clinic-local day of acceptance', async () => {
    const messages = all['/messages'] ?? []
    const sent = messages.find(({ sent_at }) => sent_at !== null) as Shown
    const date = sent.sent_at.slice(0, 10)
    const found = await readAll('/messages', { from: date, to: date }, 100)
    expect(found.map(({ id }) => id)).toContain(sent.id)
  })
})
