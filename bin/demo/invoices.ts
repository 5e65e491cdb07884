import { addDays } from '../../shared/domain/clock.ts'
import type { InvoiceStatus } from '../../shared/domain/invoice.ts'
import { earlier, timestamp } from './days.ts'
import { outcomeDealer, type PaymentStep } from './invoice-outcomes.ts'
import { type LineItemRow, lineItemsOf } from './line-items.ts'
import type { DemoPatient } from './patients.ts'
import { bySpecialty, type Practice } from './practice.ts'
import { type Random, seeded } from './random.ts'
import type { Visit } from './visits.ts'

/** A row of the importer's invoices. */
export type DemoInvoice = {
  readonly external_id: string
  readonly patient_external_id: string
  readonly invoice_number: string
  readonly status: InvoiceStatus
  readonly issue_date: string
  readonly due_date: string | null
  readonly subtotal: number
  readonly discount_amount: number
  readonly tax_amount: number
  readonly total_amount: number
  readonly line_items: readonly LineItemRow[]
  readonly created_at: string
}

/** An invoice with its total and the payments to make. */
export type Bill = {
  readonly row: DemoInvoice
  readonly patient: DemoPatient
  /** Minor units. */
  readonly total: number
  /** Time of issue, in minutes since midnight. */
  readonly issuedAt: number
  readonly steps: readonly PaymentStep[]
}

const DAYS_TO_PAY = 30

/** Invoices for most completed visits, numbered per year in order of issue. */
export function billsOf(practice: Practice, visits: readonly Visit[]): Bill[] {
  const random = seeded(practice.seed + 1)
  const dealOutcome = outcomeDealer(random)
  const numbers = new Map<string, number>()
  const issued = visits
    .filter(({ row }) => row.status === 'completed' && random.chance(practice.billedShare))
    .map((visit) => ({ visit, ...issueTime(random, visit, practice.today) }))
    .sort((a, b) => (a.date === b.date ? a.minutes - b.minutes : a.date < b.date ? -1 : 1))
  return issued.map(({ visit, date, minutes }, index) => {
    const year = date.slice(0, 4)
    const number = (numbers.get(year) ?? 0) + 1
    numbers.set(year, number)
    const due = addDays(date, DAYS_TO_PAY)
    const { status, steps } = dealOutcome(due < practice.today)
    const { amounts, total } = lineItemsOf(
      random,
      bySpecialty(practice.prices, visit.doctor),
      practice.currency,
    )
    const row: DemoInvoice = {
      external_id: `i${index + 1}`,
      patient_external_id: visit.patient.external_id,
      invoice_number: `${year}-${String(number).padStart(6, '0')}`,
      status,
      issue_date: date,
      due_date: status === 'draft' ? null : due,
      ...amounts,
      created_at: timestamp(date, minutes, practice.offset),
    }
    return { row, patient: visit.patient, total, issuedAt: minutes, steps }
  })
}

/** When a visit is billed: usually right after it, sometimes days later. */
function issueTime(random: Random, { row, end }: Visit, today: string): { date: string; minutes: number } {
  const date = earlier(addDays(row.appointment_date, random.pick([0, 0, 0, 0, 0, 1, 2])), addDays(today, -1))
  const isSameDay = date === row.appointment_date
  return { date, minutes: isSameDay ? end + random.integer(2, 15) : random.integer(9 * 60, 17 * 60) }
}
