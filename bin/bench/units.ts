/** `npm run bench -- --units`: units and round trips of requests and deliveries. */
import type { Route } from '../../shared/api/route.ts'
import { ENDPOINTS } from '../../shared/api/routes.ts'
import type { Clinic } from '../../shared/domain/clinic.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { roomStore, treatmentStore } from '../../shared/store/catalogue.ts'
import { eventFanOut } from '../../shared/store/events/fan-out.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { aRoom, aTreatment } from '../../test/support/catalogue.ts'
import { createWebhook, deliverySimulation, httpResponse } from '../../test/support/deliveries.ts'
import { aPatient, newClinic } from '../../test/support/table.ts'
import { buildClinic, clinicRows } from './clinic-files.ts'
import { type BenchRequest, environment, type Send, sender } from './functions.ts'
import { createAppointments, createDoctors, TOMORROW } from './records.ts'
import { type Bench, type Measured, sectionOf } from './report.ts'
import { type Bound, startTableProxy } from './table-proxy.ts'

/** Each with 5 appointments, and 2 invoices with a payment each. */
const PATIENTS = 2_000
/** Round trips of any page and search: one for the credential, and three of the list. */
const ROUND_TRIPS = 4
/** Long enough that calls made side by side overlap. */
const DELAY_MS = 150

type Query = NonNullable<BenchRequest['query']>

/** Measures work that alone uses the table. Of several pieces of work, the highest figures count. */
type Measure = (label: string, bound: Bound, ...works: (() => Promise<unknown>)[]) => Promise<void>

/** What a request may cost. The label of a list has its limit; the first, a middle and the last page are measured. */
type Row = readonly [bound: Bound, request: BenchRequest & { readonly isList?: boolean }, note?: string]

export async function measureUnits(bench: Bench): Promise<Measured> {
  const { endpoint, tableName, table: unmeasured } = bench
  const proxy = await startTableProxy(endpoint, DELAY_MS)
  Object.assign(process.env, environment(tableName, proxy.url))
  const rows: (string | number)[][] = []
  const failures: string[] = []
  const measure: Measure = async (label, bound, ...works) => {
    const costs: Bound[] = []
    for (const work of works) costs.push(await proxy.measure(work))
    const cost = bound.map((_, at) => Math.max(...costs.map((one) => one[at] ?? 0)))
    rows.push([label, ...cost.flatMap((figure, at) => [figure, bound[at] ?? 0])])
    if (cost.some((figure, at) => figure > (bound[at] ?? 0)))
      failures.push(`${label}: ${cost[0]} read units, ${cost[1]} write units, ${cost[2]} round trips`)
  }
  try {
    const clinic = await buildClinic(bench, PATIENTS)
    const empty = await newClinic(unmeasured)
    const send = await sender(unmeasured, clinic)
    const prepared = await prepare(unmeasured, clinic, send)
    for (const row of requestRows(prepared)) await measureRequest(measure, send, row)
    const table = openTable(documentClient(), tableName)
    await measureDeliveries(measure, await sender(unmeasured, empty), table, empty)
  } finally {
    await proxy.close()
  }
  return { section: sectionOf(INTRODUCTION, HEAD, rows), failures }
}

/** Measures a request, or pages of a list, which is not the first of its minute: that one costs more. */
async function measureRequest(measure: Measure, send: Send, [bound, request, note = '']: Row): Promise<void> {
  const requests: BenchRequest[] = [request]
  const { to, query = {}, isList } = request
  if (isList) {
    const { meta } = await send({ to, query: { ...query, limit: '1' } })
    const last = Math.max(1, Math.ceil(meta.total / Number(query.limit)))
    for (const page of [Math.ceil(last / 2), last])
      requests.push({ to, query: { ...query, page: String(page) } })
  }
  await send({ to: 'get-me' })
  await measure(`${labelOf(request)}${note}`, bound, ...requests.map((one) => () => send(one)))
}

/** The method, the path and the query of a request, without ids. */
function labelOf({ to, query = {} }: BenchRequest): string {
  const { method, path } = ENDPOINTS.find(({ id }) => id === to) as Route
  const shown = Object.entries(query).map(([name, value]) =>
    /_id|date/.test(name) ? name : `${name}=${value}`,
  )
  return `${method} ${path}${shown.length > 0 ? `?${shown.join('&')}` : ''}`
}

/** Creates what the requests of {@link requestRows} need, and returns its ids. */
async function prepare(table: Table, clinic: Clinic, send: Send) {
  const patient = aPatient()
  const doctors = await createDoctors(table, clinic, 490, 'mon-sun 09:00-17:00')
  const doctorIds = doctors.map(({ id }) => id)
  const room = aRoom()
  const treatments = [20, 100, doctors.length].map((count) =>
    aTreatment({ currency: clinic.currency, doctorIds: doctorIds.slice(0, count) }),
  )
  const [ofTwenty, ofHundred, ofAll] = treatments.map(({ id }) => id) as [string, string, string]
  await patientWriter({ table }).createMany(clinic.id, [patient])
  await roomStore({ table }).save(clinic.id, [{ before: null, after: room }])
  for (const after of treatments) await treatmentStore({ table }).save(clinic.id, [{ before: null, after }])
  const times = { date: TOMORROW, startTime: '16:00', endTime: '16:30' }
  await createAppointments(table, clinic, patient, doctors, times)

  const first = async (to: string, query: Query = {}) =>
    (await send<[First]>({ to, query: { ...query, limit: '1' } })).data[0]
  const make = async (to: string, body: object) => (await send({ to, body })).data.id
  const invoice = await first('list-invoices')
  const other = await first('list-invoices', { page: '2' })
  const ids = { doctor: doctors[0].id, patient: invoice.patient.id, invoice: invoice.id, room: room.id }
  // Of the most active doctors that a clinic can have, one makes room for another.
  const { id: former } = await first('list-doctors')
  await send({ to: 'update-doctor', path: { id: former }, body: { is_active: false } })
  // The first national id of a clinic makes the secret of their hashes.
  await send({ to: 'update-patient', path: { id: ids.patient }, body: { national_id: '12345678951' } })
  const time = { doctor_id: ids.doctor, appointment_date: TOMORROW, duration: 30 }
  const booking = { patient_id: patient.id, ...time }
  const items = [{ description: 'Check-up', quantity: 1, unit_price: 10, treatment_id: ofTwenty }]
  const billed = { patient_id: patient.id, doctor_id: ids.doctor, line_items: items }
  const payment = { invoice_id: ids.invoice, amount: 1, payment_method: 'cash' }
  const inRoom = { ...booking, treatment_ids: [ofTwenty], room_id: room.id }
  const prices = { name: 'Members', is_default: true, items: [{ treatment_id: ofTwenty, price: 5 }] }
  return {
    ...{ ...ids, doctorIds, ofTwenty, ofHundred, ofAll, time, booking, inRoom, billed, payment, prices },
    appointment: await first('list-appointments', { patient_id: ids.patient }),
    booked: await make('create-appointment', { ...inRoom, start_time: '10:30' }),
    hold: await make('create-hold', { ...time, start_time: '11:00' }),
    unused: await make('create-hold', { ...time, start_time: '11:30', room_id: room.id }),
    draft: await make('create-invoice', billed),
    paid: await make('create-payment', { ...payment, invoice_id: other.id, type: 'refund' }),
    priceList: await make('create-price-list', prices),
  }
}

type First = { readonly id: string; readonly patient: { id: string }; readonly doctor: { id: string } }

/** Rows of pages of 20 and of 100 records, with the read units of each. */
const pages = (units: readonly [number, number], to: string, query: Query = {}, note = ''): Row[] =>
  units.map((reads, at) => [
    [reads, 1, query.expand ? ROUND_TRIPS + 1 : ROUND_TRIPS],
    { to, query: { ...query, limit: at === 0 ? '20' : '100' }, isList: true },
    note,
  ])

const PAGE = [17, 29] as const
const NAMES = { first_name: 'Ada', last_name: 'Kaya' }
const PHONE = { phone_number: '+905321234567' }
const EXTERNAL_ID = { external_id: 'BENCH-1' }
const MONTH = { date_from: '2026-03-01', date_to: '2026-03-31' }
const PARTS_OF_MONTHS = { date_from: '2025-03-16', date_to: '2026-03-16' }
const MONTH_AHEAD = { date: TOMORROW, date_to: addDays(TOMORROW, 30) }

const search = (text: string, limit: number): BenchRequest => ({
  to: 'list-patients',
  query: { search: text, limit: String(limit) },
})

const availability = (query: Query): BenchRequest => ({
  to: 'get-availability',
  query: { date: TOMORROW, ...query },
})

/** Each request finds what those before it have left. */
function requestRows(ids: Awaited<ReturnType<typeof prepare>>): readonly Row[] {
  const { doctor, appointment, ofTwenty, booking, inRoom, billed, payment, prices } = ids
  const one = (id: string) => ({ path: { id }, body: {} })
  const newName = { to: 'update-patient', path: { id: ids.patient }, body: { last_name: 'New' } }
  const [, otherDoctor] = ids.doctorIds as [string, string]
  const moved = { appointment_date: addDays(TOMORROW, 1), start_time: '11:00', doctor_id: otherDoctor }
  const email = { channel: 'email', patient_id: ids.patient, subject: 'Bench', message: 'Bench' }
  const block = { from: TOMORROW, start_time: '12:00', end_time: '13:00' }
  const ofOwn = { ...billed, ...EXTERNAL_ID, invoice_number: 'B-1', appointment_id: ids.booked }
  const offer = { name: 'Filling', duration_minutes: 30, price: 10, doctor_ids: ids.doctorIds.slice(0, 20) }
  return [
    [[1, 1, 2], { to: 'get-me' }],
    [[2, 1, 2], { to: 'get-patient', path: { id: ids.patient } }],
    [[2, 1, 2], { to: 'get-appointment', path: { id: appointment.id } }],
    [[3, 1, 2], { to: 'get-invoice', path: { id: ids.invoice } }],
    [[10, 1, ROUND_TRIPS], search('ozturk', 20), ', the first search of a process'],
    ...[20, 100].flatMap((limit) =>
      ['ozturk', '0532', 'zz'].map((text): Row => [[limit + 3, 1, ROUND_TRIPS], search(text, limit)]),
    ),
    ...pages([4, 11], 'list-patients'),
    ...pages([24, 104], 'list-patients', { is_active: 'true' }),
    ...pages([55, 55], 'list-doctors'),
    ...pages(PAGE, 'list-appointments'),
    ...pages(PAGE, 'list-appointments', { order: 'asc' }),
    ...pages(PAGE, 'list-appointments', { status: 'completed' }),
    ...pages(PAGE, 'list-appointments', { status: 'completed,no_show' }),
    ...pages(PAGE, 'list-appointments', { doctor_id: appointment.doctor.id }),
    ...pages(PAGE, 'list-appointments', { doctor_id: appointment.doctor.id, status: 'completed' }),
    ...pages(PAGE, 'list-appointments', MONTH, ', a month'),
    ...pages(PAGE, 'list-appointments', PARTS_OF_MONTHS, ', parts of months'),
    ...pages([3, 3], 'list-appointments', { patient_id: ids.patient }),
    ...pages([175, 175], 'list-appointments', { ...MONTH, room_id: ids.room }),
    ...pages([37, 129], 'list-appointments', { expand: 'patient' }),
    ...pages(PAGE, 'list-invoices'),
    ...pages([3, 3], 'list-invoices', { invoice_number: 'none' }),
    ...pages(PAGE, 'list-payments'),
    ...pages(PAGE, 'list-messages'),
    [[4, 1, 3], { to: 'list-events', query: { limit: '20' } }],

    [[11, 1, ROUND_TRIPS], availability({ doctor_id: doctor })],
    [[45, 1, ROUND_TRIPS], availability({ treatment_id: ofTwenty }), ', 20 doctors'],
    [[160, 1, ROUND_TRIPS], availability({ treatment_id: ids.ofHundred }), ', 100 doctors'],
    [
      [560, 1, ROUND_TRIPS],
      availability({ ...MONTH_AHEAD, treatment_id: ids.ofAll, room_id: ids.room }),
      `, the first page of ${ids.doctorIds.length} doctors`,
    ],
    [[3, 1, 2], { to: 'get-schedule', path: { id: doctor }, query: MONTH_AHEAD }, ', 31 days'],

    [[3, 13, 4], { to: 'create-patient', body: { ...NAMES, date_of_birth: '1980-01-02', ...PHONE } }],
    [[7, 17, 6], { to: 'create-patient', body: { ...NAMES, ...EXTERNAL_ID } }, ', external id'],
    [[5, 1, ROUND_TRIPS], { to: 'list-patients', query: EXTERNAL_ID }],
    [[24, 1, ROUND_TRIPS], search('ada', 20), ', after a creation'],
    [[30, 105, 28], newName, ', a name, which nine records have'],
    [[4, 17, 5], { ...newName, body: { notes: 'Prefers afternoons' } }, ', notes'],
    [[5, 17, 6], { ...newName, body: { phone_number: '+905321234568' } }, ', a phone number'],
    [[4, 17, 5], { ...newName, body: { national_id: '12345678950' } }, ', a national id'],

    [[5, 27, 4], { to: 'create-appointment', body: { ...booking, start_time: '09:00' } }],
    [
      [10, 31, 6],
      { to: 'create-appointment', body: { ...booking, ...EXTERNAL_ID, start_time: '09:30' } },
      ', external id',
    ],
    [
      [9, 33, 4],
      { to: 'create-appointment', body: { ...inRoom, start_time: '10:00' } },
      ', treatment and room',
    ],
    [[5, 27, 4], { to: 'create-hold', body: { ...ids.time, start_time: '13:00' } }],
    [
      [7, 29, 5],
      { to: 'create-appointment', body: { patient_id: booking.patient_id, hold_id: ids.hold } },
      ', of a hold',
    ],
    [[3, 1, 2], { to: 'get-hold', path: { id: ids.unused } }],
    [[5, 10, 5], { to: 'delete-hold', path: { id: ids.unused } }, ', in a room'],
    [[9, 50, 5], { to: 'update-appointment', ...one(ids.booked), body: moved }, ', doctor and day'],
    [[5, 20, 5], { to: 'confirm-appointment', ...one(ids.booked) }],
    [[5, 37, 5], { to: 'cancel-appointment', ...one(ids.booked) }],
    [[6, 24, 4], { to: 'send-message', body: email }],

    [
      [65, 17, 11],
      { to: 'create-doctor', body: { full_name: 'Dr. Bench', ...EXTERNAL_ID } },
      ', external id',
    ],
    [[7, 9, 8], { to: 'update-doctor', path: { id: doctor }, body: { hours: {} } }, ', hours'],
    [[7, 9, 8], { to: 'create-time-off', path: { id: otherDoctor }, body: block }],
    [[440, 740, 60], { to: 'create-holiday', body: { from: '2199-12-25' } }, ', 500 doctors'],

    [[7, 37, 5], { to: 'create-payment', body: { ...payment, type: 'refund' } }, ', a refund'],
    [[7, 37, 5], { to: 'create-payment', body: payment }],
    [[8, 41, 6], { to: 'void-payment', ...one(ids.paid) }],
    [[7, 27, 6], { to: 'create-invoice', body: billed }],
    [[9, 25, 7], { to: 'create-invoice', body: ofOwn }, ', own number, appointment, external id'],
    [[8, 30, 6], { to: 'update-invoice', ...one(ids.draft), body: { invoice_number: 'B-2' } }, ', a number'],
    [[6, 25, 5], { to: 'send-invoice', ...one(ids.draft) }],
    [[6, 25, 5], { to: 'cancel-invoice', ...one(ids.draft) }],

    [[7, 10, 7], { to: 'create-department', body: { name: 'Surgery' } }],
    [[7, 10, 8], { to: 'create-room', body: { name: 'Room 2', ...EXTERNAL_ID } }, ', external id'],
    [[33, 12, 8], { to: 'create-treatment', body: offer }, ', 20 doctors'],
    [[32, 12, 7], { to: 'update-treatment', ...one(ofTwenty), body: { price: 20 } }, ', 20 doctors'],
    [[7, 12, 8], { to: 'create-price-list', body: prices }, ', in place of the default'],
    [[4, 8, 6], { to: 'delete-price-list', path: { id: ids.priceList } }],
    [[980, 575, 22], synced('patients'), ', 50 patients'],
    [[246, 1190, 15], synced('appointments'), ', 50 appointments'],
    [[223, 990, 63], synced('invoices'), ', 50 invoices'],
    [[4, 17, 5], { to: 'deactivate-patient', ...one(ids.patient) }],
  ]
}

/** A request with 50 new records of the clinic's own system. */
function synced(entity: 'patients' | 'appointments' | 'invoices') {
  const records = clinicRows(50)
    [entity].slice(0, 50)
    .map((row, at) => ({
      ...row,
      external_id: `sync-${at}`,
      ...('invoice_number' in row && { invoice_number: `SYNC-${at}` }),
    }))
  return { to: 'sync-records' as const, body: { entity, records } }
}

const WEBHOOKS = 2
/** Longer than the first retry is delayed. */
const RETRY_DELAY_MS = 60_000

/** Measures the deliveries of an event to two endpoints, one after the other, from the fan-out on. */
async function measureDeliveries(measure: Measure, send: Send, table: Table, clinic: Clinic) {
  let status = 200
  const simulation = deliverySimulation(table, () => httpResponse(status))
  const deliver = async () => {
    await eventFanOut({ table, now: () => simulation.now, newId: newUuid }).fanOut(clinic.id, (deliveries) =>
      simulation.push('quick', deliveries),
    )
    await simulation.drain()
  }
  const createPatient = () => send({ to: 'create-patient', body: { first_name: 'Ada' } })
  for (let at = 0; at < WEBHOOKS; at++) await createWebhook(table, clinic.id, { events: ['patient.created'] })
  await createPatient()
  await measure('deliver an event to two webhook endpoints', [18, 24, 16], deliver)
  await createPatient()
  await measure('the same, if the first attempts fail', [30, 32, 30], async () => {
    status = 500
    await deliver()
    simulation.now += RETRY_DELAY_MS
    status = 200
    await simulation.drain()
  })
  const attempts = simulation.received.length
  if (attempts !== 3 * WEBHOOKS) throw new Error(`${attempts} deliveries were attempted.`)
}

const HEAD = ['', 'read units', 'bound', 'write units', 'bound', 'round trips', 'bound']
const INTRODUCTION = `A clinic of ${PATIENTS.toLocaleString('en')} patients, 5 times as many appointments and twice as many invoices, on the embedded engine. Each request includes the read
of its credential and the write that counts it, and each change its idempotency key and its event. Of lists, the highest figures of the
first, a middle and the last page. Dates and ids are left out.`
