/**
 * A clinic's own system runs a month over HTTP alone, as docs/guides/clinic-system.md says. Patients book with a second credential,
 * of which it learns by events. Its own model agrees with every list, slot and total.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addDays } from '../../shared/domain/clock.ts'
import type { Scope } from '../../shared/domain/scope.ts'
import { issueCredential } from '../support/credentials.ts'
import { type HttpResponse, type RunningStack, runStack, send } from '../support/local-stack.ts'
import { seeded } from '../support/random.ts'
import { rounds } from '../support/scale.ts'
import { expectedRejection, expectedSlots, formatMinute, wallClockAt } from '../support/slot-oracle.ts'
import { newClinic } from '../support/table.ts'

const DAYS = rounds(7, 31)
const BOOKINGS_A_DAY = rounds(3, 10)
/** How far ahead patients book, and times change. */
const DAYS_AHEAD = rounds(3, 9)
const DAY_MS = 86_400_000
/** In the next March that has not begun. Clocks change at its end. */
const START = Date.UTC(new Date(Date.now() + 306 * DAY_MS).getUTCFullYear(), 2, rounds(24, 1), 5)

const clockOffset = new Float64Array(new SharedArrayBuffer(8))
let stack: RunningStack
beforeAll(async () => {
  stack = await runStack({ demo: false, clockOffset })
})
afterAll(() => stack?.close())

/** Records of the model have the fields that lists show. */
type Fields = HttpResponse['body']
type Records = Map<string, Fields>
type Week = Record<string, { start_time: string; end_time: string }[]>

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3))
const window = (start_time: string, end_time: string) => [{ start_time, end_time }]
const weekdays = (start: string, end: string): Week =>
  Object.fromEntries(['mon', 'tue', 'wed', 'thu', 'fri'].map((day) => [day, window(start, end)]))
const forOracle = (week: Week) =>
  Object.fromEntries(
    Object.entries(week).map(([day, list]) => [
      day,
      list.map((one) => ({ start: one.start_time, end: one.end_time })),
    ]),
  )
/** Hundredths of a percent of an amount in minor units, rounded half up. */
const share = (amount: number, hundredths: number) => Math.floor((amount * hundredths * 2 + 10_000) / 20_000)

/** A program with a credential, and the ids of its requests. */
function programOf(pair: string) {
  const own = new Set<unknown>()
  const request = async (method: string, path: string, body?: object) => {
    const json = body && { body: JSON.stringify(body) }
    const headers = {
      authorization: `Developer ${pair}`,
      ...(json && { 'content-type': 'application/json' }),
    }
    const response = await send(`${stack.api}${path}`, { method, headers, ...json })
    if (method !== 'GET') own.add(response.headers['x-request-id'])
    return response
  }
  /** @throws for a response that is not a success */
  const ask = async (...[method, path, body]: Parameters<typeof request>): Promise<Fields> => {
    const { status, text, body: received } = await request(method, path, body)
    if (status < 300) return received
    throw new Error(`${method} ${path} ${JSON.stringify(body)}: ${status} ${text}`)
  }
  return { own, request, ask }
}

it.each([
  ['Europe/Berlin', 'JPY', 0],
  ['Asia/Kathmandu', 'EUR', 2],
  ['America/St_Johns', 'KWD', 3],
])('a month in %s with amounts in %s agrees with the model', async (timezone, currency, decimals) => {
  const random = seeded(Number(process.env.SEED ?? decimals))
  const some = <T>(items: Iterable<T>): T => random.pick([...items] as [T, ...T[]])
  const clinic = await newClinic(stack.table, { timezone, currency })
  const program = async (...scopes: Scope[][]) => {
    const { key, secret } = await issueCredential(stack.table, clinic, ...scopes)
    return programOf(`${key}:${secret}`)
  }
  const staff = await program()
  const site = await program(['appointment.read.availability', 'appointment.write', 'patient.write'])
  /** An amount in minor units as it is sent and shown. */
  const money = (units: number): number => units / 10 ** decimals

  let [now, today, range] = ['', '', '']
  const doctors: Records = new Map()
  const treatments: Records = new Map()
  const bookings: Records = new Map()
  const patients = new Set<string>()
  const holidays: Fields[] = []
  const invoices: Fields[] = []
  const payments: Fields[] = []

  /** A day of a doctor, with what is booked if it counts. */
  function dayOf(id: string, date: string, isBooked = true) {
    const { hours, breaks, exceptions, timeOff }: Fields = doctors.get(id)
    const week = { hours: forOracle(hours), breaks: forOracle(breaks), exceptions: forOracle(exceptions) }
    const isTaking = ({ doctor, appointment_date, status }: Fields) =>
      doctor.id === id && appointment_date === date && /scheduled|completed/.test(status)
    const taking = isBooked ? [...bookings.values()].filter(isTaking) : []
    const blocks = timeOff.filter((one: Fields) => one.from === date && one.start_time)
    const times = [...taking, ...blocks].map((one) => [one.start_time, one.end_time].map(minuteOf))
    const busy = times.map(([from = 0, to = 0]) => ({ from, to }))
    const off = [...timeOff.filter((one: Fields) => !one.start_time), ...holidays]
    return { doctor: { ...week, isActive: true, timeOff: off }, date, timezone, busy }
  }

  /** Creates a record, and returns what the model has of it. */
  async function create(path: string, body: object): Promise<Fields> {
    const { data } = await staff.ask('POST', path, body)
    return { ...body, id: data.id }
  }
  async function expectList(path: string, expected: Iterable<Fields>) {
    const records: Fields[] = []
    for (let page = 1, pages = 1; page <= pages; page++) {
      const query = `${path.includes('?') ? '&' : '?'}limit=100&page=${page}`
      const { data, meta } = await staff.ask('GET', path + query)
      records.push(...data)
      pages = meta.total_pages
    }
    const sorted = (list: Iterable<Fields>) => [...list].sort((a, b) => (a.id < b.id ? -1 : 1))
    expect([path, sorted(records)]).toMatchObject([path, sorted(expected)])
  }
  async function act(appointment: Fields, action: string, status: string) {
    await staff.ask('POST', `/appointments/${appointment.id}/${action}`, {})
    appointment.status = status
  }

  /** New hours cancel nothing: staff cancel what they leave outside. */
  async function cancelOutside() {
    const isOutside = ({ doctor, appointment_date: date, start_time, end_time }: Fields) => {
      const from = minuteOf(start_time)
      return expectedRejection(dayOf(doctor.id, date, false), from, minuteOf(end_time) - from) !== null
    }
    const upcoming = ({ status, appointment_date: date, start_time }: Fields) =>
      status === 'scheduled' && `${date} ${start_time}` > now
    const outside = [...bookings.values()].filter((one) => upcoming(one) && isOutside(one))
    const days = `date_from=${today}&date_to=${addDays(today, 30)}`
    const ids = outside.map(({ id }) => ({ id }))
    await expectList(`/appointments?outside_hours=true&${days}`, ids)
    for (const one of outside) await act(one, 'cancel', 'cancelled')
  }
  const update = (doctor: Fields, body: object) =>
    staff.ask('PATCH', `/doctors/${doctor.id}`, Object.assign(doctor, body) && body)
  const away = async ({ id, timeOff }: Fields, body: object) =>
    timeOff.push({ to: Object.values(body)[0], ...(await create(`/doctors/${id}/time-off`, body)) })
  /** Changes of the schedule and of the catalogue, in turn. */
  const changes: ((doctor: Fields, date: string) => Promise<unknown>)[] = [
    (doctor) => update(doctor, { hours: weekdays('07:00', some(['13:00', '16:30'])) }),
    (doctor, date) => update(doctor, { exceptions: { [date]: some([[], window('10:00', '19:00')]) } }),
    (doctor, from) => away(doctor, { from, start_time: '10:15', end_time: '12:00' }),
    (doctor, from) => away(doctor, { from, to: addDays(from, 1), reason: 'Congress' }),
    async (_, from) => holidays.push(await create('/clinic/holidays', { from, to: from, name: 'Festival' })),
    async ({ id, timeOff }) => {
      for (const one of timeOff.splice(0, 1)) await staff.ask('DELETE', `/doctors/${id}/time-off/${one.id}`)
    },
    async () => {
      const treatment = some(treatments.values())
      treatment.price = money(random.integer(1000, 99_999))
      await staff.ask('PATCH', `/clinic/treatments/${treatment.id}`, { price: treatment.price })
    },
  ]

  /** Bills a completed appointment, and records what is paid, refunded or voided. */
  async function bill({ id, patient, doctor, treatments: [treatment] }: Fields) {
    const { price: unit_price } = treatments.get(treatment.id)
    const price = Math.round(unit_price * 10 ** decimals)
    const quantity = random.integer(1, 30_000)
    const [discount, tax] = [random.integer(0, 3000), random.integer(0, 2500)]
    const material = share(price, quantity) - share(share(price, quantity), discount)
    const total = price + material + share(material, tax)
    const rates = { discount_rate: discount / 100, tax_rate: tax / 100 }
    const body = { patient_id: patient.id, appointment_id: id, doctor_id: doctor.id }
    const lines = [
      { description: 'Treatment', quantity: 1, unit_price, treatment_id: treatment.id },
      { description: 'Material', quantity: quantity / 10_000, unit_price, ...rates },
    ]
    const { data } = await staff.ask('POST', '/invoices', { ...body, line_items: lines.slice(1) })
    const path = `/invoices/${data.id}`
    await staff.ask('PATCH', path, { line_items: lines })
    await staff.ask('POST', `${path}/send`, {})
    const invoice_number = `${today.slice(0, 4)}-${String(invoices.length + 1).padStart(6, '0')}`
    const first = random.integer(1, total - 1)
    const rest = total - first
    // A negative amount is refunded. The last payment of the last way is a mistake.
    const ways = [[], [first], [first, rest], [total, -first], [total, -total], [first, rest]]
    const way = random.integer(0, ways.length - 1)
    const amounts = ways[way] ?? []
    for (const units of amounts) {
      const type = units < 0 ? 'refund' : 'payment'
      const sent = { invoice_id: data.id, type, amount: money(Math.abs(units)), payment_method: 'cash' }
      payments.push({ ...(await create('/payments', sent)), status: 'completed' })
    }
    if (way === 0) await staff.ask('POST', `${path}/cancel`, {})
    if (way === 5) {
      await staff.ask('POST', `/payments/${payments.at(-1)?.id}/void`, {})
      payments.at(-1).status = 'failed'
      amounts.pop()
    }
    const paid = amounts.reduce((sum, units) => sum + units, 0)
    const partly = 'partially_paid'
    const status = ['cancelled', partly, 'paid', partly, 'refunded', partly][way]
    const sums = { total_amount: money(total), paid_amount: money(paid), balance_due: money(total - paid) }
    invoices.push({ id: data.id, invoice_number, status, ...sums })
  }

  const slotsOf = async ({ ask }: typeof staff, { id }: Fields): Promise<Fields[]> =>
    (await ask('GET', `/availability?treatment_id=${id}&${range}`)).data
  /** Patients book what is offered, and cancel some of it. */
  async function book() {
    for (let count = 0; count < BOOKINGS_A_DAY; count++) {
      const { data: patient } = await site.ask('POST', '/patients', { first_name: 'Bo', last_name: 'Lind' })
      const treatment = some(treatments.values())
      const { date, start_time, doctor } = some(await slotsOf(site, treatment))
      const ids = { patient_id: patient.id, doctor_id: doctor.id, treatment_ids: [treatment.id] }
      const { data } = await site.ask('POST', '/appointments', { ...ids, appointment_date: date, start_time })
      if (random.chance(0.1)) await site.ask('POST', `/appointments/${data.id}/cancel`, {})
    }
  }

  let cursor = ''
  const seen = new Set<unknown>()
  /** Copies what others have changed. Returns how many of their requests have no event yet. */
  async function readEvents() {
    for (let more = true; more; ) {
      const { data, meta } = await staff.ask('GET', `/events?limit=100${cursor && `&after=${cursor}`}`)
      for (const { event, data: record, request_id } of data) {
        seen.add(request_id)
        if (staff.own.has(request_id)) continue
        if (event === 'patient.created') patients.add(record.id)
        else bookings.set(record.id, (await staff.ask('GET', `/appointments/${record.id}`)).data)
      }
      cursor = meta.next_after
      more = meta.has_more
    }
    return site.own.difference(seen).size
  }

  /** Every slot of the model is offered and no other, and any time can be booked exactly if the model has it free. */
  async function checkSlots(treatment: Fields) {
    const minutes = treatment.duration_minutes
    const days = Array.from({ length: DAYS_AHEAD }, (_, at) => addDays(today, at + 1))
    const expected = days.flatMap((date) =>
      [...doctors.keys()].flatMap((id) =>
        expectedSlots(dayOf(id, date), minutes).map((from) => `${date} ${formatMinute(from)} ${id}`),
      ),
    )
    const slots = await slotsOf(staff, treatment)
    const offered = slots.map(({ date, start_time, doctor }) => `${date} ${start_time} ${doctor.id}`)
    expect(offered.sort()).toEqual(expected.sort())
    const [doctor_id, appointment_date] = [some(doctors.keys()), some(days)]
    const from = 5 * random.integer(12, 240)
    const rejection = expectedRejection(dayOf(doctor_id, appointment_date), from, minutes)
    const ids = { patient_id: some(patients), doctor_id, treatment_ids: [treatment.id] }
    const time = { appointment_date, start_time: formatMinute(from) }
    const { status, body } = await staff.request('POST', '/appointments', { ...ids, ...time })
    expect([time, status < 300]).toEqual([time, rejection === null])
    if (rejection === null) bookings.set(body.data.id, body.data)
  }

  const department = await create('/clinic/departments', { name: 'Dentistry' })
  const room = await create('/clinic/rooms', { name: 'Room 1', department_id: department.id })
  const night = { sun: window('00:30', '05:30') }
  for (const hours of [weekdays('08:00', '16:00'), weekdays('09:30', '18:00'), night]) {
    const week = { hours, breaks: { wed: window('12:00', '12:45') }, exceptions: {} }
    const doctor = await create('/doctors', { full_name: `Dr. ${doctors.size}`, ...week })
    doctors.set(doctor.id, { ...doctor, timeOff: [] })
  }
  for (const duration_minutes of [25, 45, 60]) {
    const offered = { name: `Care ${duration_minutes}`, duration_minutes, doctor_ids: [...doctors.keys()] }
    const treatment = await create('/clinic/treatments', { ...offered, price: money(12_345) })
    treatments.set(treatment.id, treatment)
  }
  const items = [...treatments.keys()].map((treatment_id) => ({ treatment_id, price: money(999) }))
  const prices = await create('/clinic/price-lists', { name: 'Members', items })

  for (let day = 0; day < DAYS; day++) {
    clockOffset[0] = START + day * DAY_MS - Date.now()
    now = wallClockAt(START + day * DAY_MS, timezone)
    today = now.slice(0, 10)
    range = `date=${addDays(today, 1)}&date_to=${addDays(today, DAYS_AHEAD)}`
    for (const one of bookings.values())
      if (one.status === 'scheduled' && one.appointment_date < today) {
        const isMissed = random.chance(0.15)
        await act(one, isMissed ? 'no-show' : 'complete', isMissed ? 'no_show' : 'completed')
        if (!isMissed) await bill(one)
      }
    await changes[day % changes.length]?.(
      some(doctors.values()),
      addDays(today, random.integer(1, DAYS_AHEAD)),
    )
    await cancelOutside()
    await book()
    await expect.poll(readEvents).toBe(0)
    for (const treatment of treatments.values()) await checkSlots(treatment)
  }

  expect(invoices.length).toBeGreaterThan(DAYS / 2)
  for (const { timeOff, id } of doctors.values()) await expectList(`/doctors/${id}/time-off`, timeOff)
  const model = {
    '/clinic/departments': [department],
    '/clinic/rooms': [room],
    '/clinic/price-lists': [prices],
    '/clinic/treatments': treatments.values(),
    '/clinic/holidays': holidays,
    '/doctors': [...doctors.values()].map(({ timeOff: _, ...doctor }) => doctor),
    '/patients': [...patients].map((id) => ({ id })),
    '/appointments': [...bookings.values()].map(({ id, status }) => ({ id, status })),
    '/invoices': invoices,
    '/payments': payments,
  }
  for (const [path, expected] of Object.entries(model)) await expectList(path, expected)
})
