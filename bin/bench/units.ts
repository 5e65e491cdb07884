/** `npm run bench -- --units`: units and round trips of requests and deliveries. */
import type { Route } from '../../shared/api/route.ts'
import { ENDPOINTS } from '../../shared/api/routes.ts'
import { parseWeeklyHours } from '../../shared/domain/booking/working-hours.ts'
import type { ClinicId } from '../../shared/domain/clinic.ts'
import { addDays } from '../../shared/domain/clock.ts'
import { newUuid } from '../../shared/domain/uuid.ts'
import { documentClient } from '../../shared/runtime/document-client.ts'
import { appointmentStore } from '../../shared/store/calendar/appointments.ts'
import { roomStore, treatmentStore } from '../../shared/store/catalogue.ts'
import { patientWriter } from '../../shared/store/patients/patient-writer.ts'
import { Changeset } from '../../shared/store/table/changeset.ts'
import { openTable, type Table } from '../../shared/store/table/table.ts'
import { type Bound, ROUND_TRIPS } from './bounds.ts'
import { buildClinic } from './clinic-files.ts'
import { measureDeliveries } from './deliveries.ts'
import { type BenchRequest, environment, eventOf, loadFunction, quietly, type Send } from './functions.ts'
import { createClinic, createDoctors, issueCredential, newAppointment, newPatient } from './records.ts'
import { type Measure, startTableProxy } from './table-proxy.ts'

/** Each with 5 appointments, and 2 invoices with a payment each. */
const PATIENTS = 2_000
/** Long enough that calls made side by side overlap. */
const DELAY_MS = 100
const TODAY = new Date().toISOString().slice(0, 10)
const TOMORROW = addDays(TODAY, 1)

type Line = { readonly label: string; readonly cost: Bound; readonly bound: Bound }

export async function measureUnits(endpoint: string, tableName: string, unmeasured: Table) {
  const proxy = await startTableProxy(endpoint, DELAY_MS)
  Object.assign(process.env, environment(tableName, proxy.url))
  const lines: Line[] = []
  const measure: Measure = async (label, bound, ...works) => {
    const costs: Bound[] = []
    for (const work of works) costs.push(await proxy.measure(work))
    const most = (at: 0 | 1 | 2) => Math.max(...costs.map((cost) => cost[at]))
    lines.push({ label, cost: [most(0), most(1), most(2)], bound })
  }
  try {
    const { id } = await buildClinic(unmeasured, PATIENTS)
    const catalogue = await addCatalogue(unmeasured, id)
    const empty = await createClinic(unmeasured)
    const table = openTable(documentClient(), tableName)
    await quietly(async () => {
      await measureRequests(measure, await sender(unmeasured, id), catalogue)
      await measureDeliveries(measure, await sender(unmeasured, empty), table, empty)
    })
  } finally {
    proxy.close()
  }
  return { section: sectionOf(lines), failures: lines.flatMap(brokenBounds) }
}

async function sender(table: Table, clinic: ClinicId): Promise<Send> {
  const { authorization } = await issueCredential(table, clinic)
  return async (request) => {
    const call = await loadFunction(request.to)
    const { statusCode, body } = await call(eventOf(authorization, request, newUuid()))
    if (statusCode >= 300) throw new Error(`${request.to}: ${statusCode} ${body}`)
    return JSON.parse(body || '{}')
  }
}

async function measureRequests(
  measure: Measure,
  send: Send,
  { doctors, room, treatment, ofHundred, ofAll }: Catalogue,
) {
  /** Measures a request, which is not the first of its minute: that one costs more. `others` have the same label. */
  const add = async (bound: Bound, request: BenchRequest, note = '', others: BenchRequest[] = []) => {
    await send({ to: 'get-me' })
    const works = [request, ...others].map((one) => () => send(one))
    await measure(`${labelOf(request)}${note}`, bound, ...works)
  }
  /** Measures pages of 20 and of 100 records. */
  const list = async (to: string, query: Query, reads: readonly number[], note = '') => {
    const { meta } = await send({ to, query: { ...query, limit: 1 } })
    for (const [at, limit] of [20, 100].entries()) {
      const last = Math.max(1, Math.ceil(meta.total / limit))
      const page = (number: number) => ({ to, query: { ...query, limit, page: number } })
      const others = [page(Math.ceil(last / 2)), page(last)]
      const roundTrips = query.expand ? ROUND_TRIPS + 1 : ROUND_TRIPS
      await add([reads[at] as number, 1, roundTrips], page(1), note, others)
    }
  }
  const first = async (to: string, query: Query = {}) =>
    ((await send({ to, query: { ...query, limit: 1 } })) as unknown as { data: [First] }).data[0]
  const { id: invoice, patient } = await first('list-invoices')
  const appointment = await first('list-appointments', { patient_id: patient.id })
  const [doctor, otherDoctor] = doctors as [string, string]

  await add([1, 1, 2], { to: 'get-me' })
  await add([2, 1, 2], { to: 'get-patient', path: { id: patient.id } })
  await add([2, 1, 2], { to: 'get-appointment', path: { id: appointment.id } })
  await add([3, 1, 2], { to: 'get-invoice', path: { id: invoice } })
  await add([10, 1, ROUND_TRIPS], search('ozturk', 20), ', the first search of a process')
  for (const limit of [20, 100])
    for (const text of SEARCHES) await add([limit + 3, 1, ROUND_TRIPS], search(text, limit))
  await list('list-patients', {}, [4, 11])
  await list('list-patients', { is_active: 'true' }, [24, 104])
  await list('list-doctors', {}, [55, 55])
  await list('list-appointments', {}, PAGE)
  await list('list-appointments', { order: 'asc' }, PAGE)
  await list('list-appointments', { status: 'completed' }, PAGE)
  await list('list-appointments', { status: 'completed,no_show' }, PAGE)
  await list('list-appointments', { doctor_id: appointment.doctor.id }, PAGE)
  await list('list-appointments', { doctor_id: appointment.doctor.id, status: 'completed' }, PAGE)
  const month = { date_from: MONTH, date_to: addDays(MONTH, 30) }
  await list('list-appointments', month, PAGE, ', a month')
  const parts = { date_from: addDays(MONTH, -350), date_to: addDays(MONTH, 15) }
  await list('list-appointments', parts, PAGE, ', parts of months')
  await list('list-appointments', { patient_id: patient.id }, [3, 3])
  await list('list-appointments', { ...month, room_id: room }, [175, 175])
  await list('list-appointments', { expand: 'patient' }, [37, 129])
  await list('list-invoices', {}, PAGE)
  await list('list-invoices', { invoice_number: 'none' }, [3, 3])
  await list('list-payments', {}, PAGE)
  await list('list-messages', {}, PAGE)
  await add([4, 1, 3], { to: 'list-events', query: { limit: 20 } })

  const day = { date: TOMORROW }
  await add([11, 1, ROUND_TRIPS], { to: 'get-availability', query: { ...day, doctor_id: doctor } })
  const byTreatment = (id: string) => ({ to: 'get-availability', query: { ...day, treatment_id: id } })
  await add([45, 1, ROUND_TRIPS], byTreatment(treatment), ', 20 doctors')
  await add([160, 1, ROUND_TRIPS], byTreatment(ofHundred), ', 100 doctors')
  const dates = { ...day, date_to: addDays(TOMORROW, 30) }
  const days = { ...dates, treatment_id: ofAll, room_id: room }
  const note = `, the first page of ${doctors.length} doctors`
  await add([560, 1, ROUND_TRIPS], { to: 'get-availability', query: days }, note)
  await add([3, 1, 2], { to: 'get-schedule', path: { id: doctor }, query: dates }, ', 31 days')

  const created = { ...NAMES, date_of_birth: '1980-01-02', phone_number: '+905321234567' }
  await add([3, 13, 4], { to: 'create-patient', body: created })
  const externalId = { external_id: 'BENCH-1' }
  await add([7, 17, 6], { to: 'create-patient', body: { ...NAMES, ...externalId } }, ', external id')
  await add([5, 1, ROUND_TRIPS], { to: 'list-patients', query: externalId })
  await add([24, 1, ROUND_TRIPS], search('ada', 20), ', after a creation')
  const change = (body: object, id = patient.id) => ({ to: 'update-patient', path: { id }, body })
  // The first national id of a clinic makes the secret of their hashes.
  await send(change({ national_id: '12345678951' }))
  await add([30, 105, 28], change({ last_name: 'New' }), ', a name, which nine records have')
  await add([4, 17, 5], change({ notes: 'Prefers afternoons' }), ', notes')
  await add([5, 17, 6], change({ phone_number: '+905321234568' }), ', a phone number')
  await add([4, 17, 5], change({ national_id: '12345678950' }), ', a national id')
  await add([4, 17, 5], { to: 'deactivate-patient', path: { id: patient.id }, body: {} })
  await send({ to: 'activate-patient', path: { id: patient.id }, body: {} })

  const booking = { patient_id: patient.id, doctor_id: doctor, appointment_date: TOMORROW, duration: 30 }
  const book = (start_time: string, facts = {}) => ({
    to: 'create-appointment',
    body: { ...booking, start_time, ...facts },
  })
  await add([5, 27, 4], book('09:00'))
  await add([10, 31, 6], book('09:30', { external_id: 'BENCH-1' }), ', external id')
  const full = { treatment_ids: [treatment], room_id: room }
  await add([9, 33, 4], book('10:00', full), ', treatment and room')
  const { data } = await send(book('10:30', full))
  const path = { id: data.id }
  const moved = { appointment_date: addDays(TOMORROW, 1), start_time: '11:00', doctor_id: otherDoctor }
  await add([9, 50, 5], { to: 'update-appointment', path, body: moved }, ', doctor and day')
  await add([5, 20, 5], { to: 'confirm-appointment', path, body: {} })
  await add([5, 37, 5], { to: 'cancel-appointment', path, body: {} })
  const email = { channel: 'email', patient_id: patient.id, subject: 'Bench', message: 'Bench' }
  await add([6, 24, 4], { to: 'send-message', body: email })

  // Of the most active doctors that a clinic can have, one makes room for another.
  const body = { full_name: 'Dr. Bench', external_id: 'BENCH-1' }
  await send({ to: 'update-doctor', path: { id: doctors.at(-1) as string }, body: { is_active: false } })
  await add([65, 17, 11], { to: 'create-doctor', body }, ', external id')
  await add([7, 9, 8], { to: 'update-doctor', path: { id: doctor }, body: { hours: {} } }, ', hours')
  const block = { from: TOMORROW, start_time: '12:00', end_time: '13:00' }
  await add([7, 9, 8], { to: 'create-time-off', path: { id: otherDoctor }, body: block })
  await add([420, 700, 120], { to: 'create-holiday', body: { from: '2199-12-25' } }, ', 500 doctors')

  const payment = { invoice_id: invoice, amount: 1, payment_method: 'cash' }
  await add([7, 37, 5], { to: 'create-payment', body: { ...payment, type: 'refund' } }, ', a refund')
  await add([7, 37, 5], { to: 'create-payment', body: payment })
  const { data: paid } = await send({ to: 'create-payment', body: { ...payment, type: 'refund' } })
  await add([8, 41, 6], { to: 'void-payment', path: { id: paid.id }, body: {} })

  const lines = [{ description: 'Check-up', quantity: 1, unit_price: 10, treatment_id: treatment }]
  const billed = { patient_id: patient.id, doctor_id: doctor, line_items: lines }
  await add([7, 27, 6], { to: 'create-invoice', body: billed })
  const ofOwn = { ...billed, invoice_number: 'B-1', appointment_id: data.id, external_id: 'BENCH-1' }
  await add([9, 25, 7], { to: 'create-invoice', body: ofOwn }, ', own number, appointment, external id')
  const { data: draft } = await send({ to: 'create-invoice', body: billed })
  const one = { id: draft.id }
  await add([8, 30, 6], { to: 'update-invoice', path: one, body: { invoice_number: 'B-2' } }, ', a number')
  await add([6, 25, 5], { to: 'send-invoice', path: one, body: {} })
  await add([6, 25, 5], { to: 'cancel-invoice', path: one, body: {} })

  await add([7, 10, 7], { to: 'create-department', body: { name: 'Surgery' } })
  await add(
    [7, 10, 8],
    { to: 'create-room', body: { name: 'Room 2', external_id: 'BENCH-1' } },
    ', external id',
  )
  const offer = { name: 'Filling', duration_minutes: 30, price: 10, doctor_ids: doctors.slice(0, 20) }
  await add([33, 12, 8], { to: 'create-treatment', body: offer }, ', 20 doctors')
  await add(
    [32, 12, 7],
    { to: 'update-treatment', path: { id: treatment }, body: { price: 20 } },
    ', 20 doctors',
  )
  const prices = { name: 'Members', is_default: true, items: [{ treatment_id: treatment, price: 5 }] }
  const { data: former } = await send({ to: 'create-price-list', body: prices })
  await add([7, 12, 8], { to: 'create-price-list', body: prices }, ', in place of the default')
  await add([4, 8, 6], { to: 'delete-price-list', path: { id: former.id } })
}

type First = { readonly id: string; readonly patient: { id: string }; readonly doctor: { id: string } }
type Query = NonNullable<BenchRequest['query']>

const NAMES = { first_name: 'Ada', last_name: 'Kaya' }
const MONTH = '2026-03-01'
const SEARCHES = ['ozturk', '0532', 'zz']

/** Read units of a page of 20 and of 100 records. */
const PAGE = [17, 29]

const search = (text: string, limit: number): BenchRequest => ({
  to: 'list-patients',
  query: { search: text, limit },
})

type Catalogue = Awaited<ReturnType<typeof addCatalogue>>

/** Adds a room, and doctors who offer a treatment and have an appointment tomorrow. */
async function addCatalogue(table: Table, clinic: ClinicId) {
  const patient = newPatient()
  const doctors = await createDoctors(table, clinic, 490, parseWeeklyHours('mon-sun 09:00-17:00'))
  const doctorIds = doctors.map(({ id }) => id)
  const room = { id: newUuid(), name: 'Room 1', departmentId: null, isActive: true }
  const offer = { code: null, description: null, minutes: 30, price: 0, currency: 'TRY', isActive: true }
  const treatmentOf = (ids: string[]) => ({ ...offer, id: newUuid(), name: 'Check-up', doctorIds: ids })
  const treatments = [20, 100, doctors.length].map((count) => treatmentOf(doctorIds.slice(0, count)))
  const [treatment, ofHundred, ofAll] = treatments.map(({ id }) => id) as [string, string, string]
  await patientWriter({ table }).createMany(clinic, [patient])
  await roomStore({ table }).save(clinic, [{ before: null, after: room }])
  for (const after of treatments) await treatmentStore({ table }).save(clinic, [{ before: null, after }])
  for (const doctor of doctors) {
    const times = { date: TOMORROW, startTime: '16:00', endTime: '16:30' }
    const changes = new Changeset(table, clinic)
    appointmentStore({ table }).change(changes, null, newAppointment(patient, doctor, times))
    await changes.commit()
  }
  return { doctors: doctorIds, room: room.id, treatment, ofHundred, ofAll }
}

/** The method, the path and the query of a request, without ids and pages. */
function labelOf({ to, query = {} }: BenchRequest): string {
  const { method, path } = ENDPOINTS.find(({ id }) => id === to) as Route
  const shown = Object.entries(query).flatMap(([name, value]) =>
    name === 'page' ? [] : [/_id|date/.test(name) ? name : `${name}=${value}`],
  )
  return `${method} ${path}${shown.length > 0 ? `?${shown.join('&')}` : ''}`
}

const brokenBounds = ({ label, cost, bound }: Line): string[] =>
  cost.some((figure, at) => figure > (bound[at] as number))
    ? [`${label}: ${cost[0]} read units, ${cost[1]} write units, ${cost[2]} round trips`]
    : []

const sectionOf = (lines: readonly Line[]): string =>
  [
    `A clinic of ${PATIENTS.toLocaleString('en')} patients, 5 times as many appointments and twice as many invoices, on the embedded engine. Each request includes the read`,
    'of its credential and the write that counts it, and each change its idempotency key and its event. Of lists, the highest figures of the',
    'first, a middle and the last page. Dates and ids are left out.',
    '',
    '| | read units | bound | write units | bound | round trips | bound |',
    '|---|---:|---:|---:|---:|---:|---:|',
    ...lines.map(({ label, cost, bound }) => {
      const cells = cost.flatMap((figure, at) => [figure, bound[at]])
      return `| ${label} | ${cells.join(' | ')} |`
    }),
    '',
  ].join('\n')
