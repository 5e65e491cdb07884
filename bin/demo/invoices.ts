import { addDays } from '../../shared/domain/clock.ts'
import { lineAmount, percentageOf, subtotalOf } from '../../shared/domain/money/invoice.ts'
import { RATIO_SCALE, renderMoney } from '../../shared/domain/money/money.ts'
import type { PlannedAppointment } from './appointments.ts'
import { outcomeDealer } from './invoice-outcomes.ts'
import { bySpecialty, earlier, type Practice, timestamp } from './practice.ts'
import type { PricedService, PriceList } from './price-lists.ts'
import { type SeededRandom, seeded } from './random.ts'

/** A row of the importer, with its patient, its total in minor units, its time in minutes since midnight, and the payments to make. */
export type Bill = ReturnType<typeof billsOf>[number]

const DAYS_TO_PAY = 30

/** Invoices for most completed appointments, numbered per year in order of issue. */
export function billsOf(practice: Practice, appointments: readonly PlannedAppointment[]) {
  const random = seeded(practice.seed + 1)
  const dealOutcome = outcomeDealer(random)
  const numbers = new Map<string, number>()
  const issued = appointments
    .filter(({ row }) => row.status === 'completed' && random.chance(practice.billedShare))
    .map((appointment) => ({ appointment, ...issueTime(random, appointment, practice.today) }))
    .sort((a, b) => (a.date === b.date ? a.minutes - b.minutes : a.date < b.date ? -1 : 1))
  return issued.map(({ appointment, date, minutes }, index) => {
    const year = date.slice(0, 4)
    const number = (numbers.get(year) ?? 0) + 1
    numbers.set(year, number)
    const due = addDays(date, DAYS_TO_PAY)
    const { status, steps } = dealOutcome(due < practice.today)
    const { amounts, total } = lineItemsOf(
      random,
      bySpecialty(practice.prices, appointment.doctor),
      practice.currency,
    )
    const row = {
      external_id: `i${index + 1}`,
      patient_external_id: appointment.patient.external_id,
      invoice_number: `${year}-${String(number).padStart(6, '0')}`,
      status,
      issue_date: date,
      due_date: status === 'draft' ? null : due,
      ...amounts,
      created_at: timestamp(date, minutes, practice.offset),
    }
    return { row, patient: appointment.patient, total, issuedAt: minutes, steps }
  })
}

/** When an appointment is billed: usually right after it, sometimes days later. */
function issueTime(
  random: SeededRandom,
  { row, end }: PlannedAppointment,
  today: string,
): { date: string; minutes: number } {
  const date = earlier(addDays(row.appointment_date, random.pick([0, 0, 0, 0, 0, 1, 2])), addDays(today, -1))
  const isSameDay = date === row.appointment_date
  return { date, minutes: isSameDay ? end + random.integer(2, 15) : random.integer(9 * 60, 17 * 60) }
}

const SHARE_DISCOUNTED = 0.1

/** The line items of an invoice and their sums in units of the currency, and `total` in minor units. */
function lineItemsOf(random: SeededRandom, { appointments, extras }: PriceList[string], currency: string) {
  const more = extras.filter(() => random.chance(0.18)).slice(0, 3)
  const lines = [random.pick(appointments), ...more].map((service) => lineItemOf(random, service))
  const sum = (of: 'discount' | 'tax') => lines.reduce((total, line) => total + line[of], 0)
  const subtotal = subtotalOf(lines)
  const total = subtotal - sum('discount') + sum('tax')
  const money = (minor: number) => renderMoney(minor, currency)
  const amounts = {
    subtotal: money(subtotal),
    discount_amount: money(sum('discount')),
    tax_amount: money(sum('tax')),
    total_amount: money(total),
    line_items: lines.map((line) => ({
      description: line.name,
      quantity: line.quantity / RATIO_SCALE,
      unit_price: money(line.unitPrice),
      discount_amount: money(line.discount),
      tax_rate: line.taxRate / RATIO_SCALE,
      tax_amount: money(line.tax),
      total_amount: money(line.amount - line.discount + line.tax),
    })),
  }
  return { amounts, total }
}

function lineItemOf(
  random: SeededRandom,
  { name, price: unitPrice, tax: percent, quantities = [1] }: PricedService,
) {
  const quantity = random.pick(quantities) * RATIO_SCALE
  const amount = lineAmount({ quantity, unitPrice })
  const discount = random.chance(SHARE_DISCOUNTED) ? Math.round(amount * random.pick([0.05, 0.1, 0.25])) : 0
  const taxRate = percent * RATIO_SCALE
  return {
    name,
    quantity,
    unitPrice,
    amount,
    discount,
    taxRate,
    tax: percentageOf(amount - discount, taxRate),
  }
}
