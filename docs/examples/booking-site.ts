/**
 * The server of a booking site. The site's pages get JSON from it, so that the credential stays on the server.
 * Run `node booking-site.ts`.
 *
 * - GET /slots: the free times of the next two weeks
 * - POST /hold: a time as `doctor_id`, `date`, `start_time`. It is kept for ten minutes, in which the visitor fills in the form and pays
 * - POST /release: `hold` and `signature`, when the visitor leaves or chooses another time
 * - POST /book: `booking`, `first_name`, `last_name`, `phone_number`, the time, its `hold` and `signature`, and `payment`, the reference of
 *   the payment at your payment provider, which you check there first
 * - POST /move: `id` and `signature` of an appointment, and another time
 * - POST /cancel: `id` and `signature`
 *
 * Bodies are forms. `booking` is a UUID that a page creates with its form: a form that is submitted twice books once. If the time is lost
 * after the payment, another one can be booked with the same `booking`, without another payment.
 *
 * API and CREDENTIAL are the address and the credential, which needs appointment.read.availability, appointment.read,
 * appointment.write, patient.read, patient.write, invoice.write, finance.read and finance.write. TREATMENT is the id of the treatment, and LINK_SECRET signs appointments.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { ApiError, ConflictError, createClient, NotFoundError } from 'clinic-developer-client'

const { API = '', CREDENTIAL = '', TREATMENT = '', LINK_SECRET = '', PORT = '4600' } = process.env
if (LINK_SECRET.length < 32) throw new Error('LINK_SECRET needs at least 32 characters')
const clinic = createClient({ baseUrl: API, credential: CREDENTIAL })
const { timezone } = (await clinic.clinic()).data
const treatment = (await clinic.treatments.get(TREATMENT)).data

/** A request that the visitor has to correct. */
class InvalidForm extends Error {}

function fieldOf(form: URLSearchParams, name: string): string {
  const value = form.get(name)?.trim()
  if (!value) throw new InvalidForm(`${name} is missing`)
  return value
}

const timeOf = (form: URLSearchParams) => ({
  doctor_id: fieldOf(form, 'doctor_id'),
  appointment_date: fieldOf(form, 'date'),
  start_time: fieldOf(form, 'start_time'),
})

/** A visitor who has it can change the appointment, or use the hold. */
const signatureOf = (id: string): string => createHmac('sha256', LINK_SECRET).update(id).digest('base64url')

function signedId(form: URLSearchParams, name = 'id'): string {
  const id = fieldOf(form, name)
  const expected = Buffer.from(signatureOf(id))
  const received = Buffer.from(fieldOf(form, 'signature'))
  if (received.length !== expected.length || !timingSafeEqual(received, expected))
    throw new InvalidForm('signature is wrong')
  return id
}

/** A request lists up to 1,000 times of all doctors who offer the treatment, on all days; `all` requests further pages. */
async function freeTimes() {
  // Days are added in UTC, where each has 24 hours.
  const today = new Date().toLocaleDateString('sv-SE', { timeZone: timezone })
  const day = (days: number) => new Date(Date.parse(today) + days * 86_400_000).toISOString().slice(0, 10)
  const range = { treatment_id: TREATMENT, date: day(0), date_to: day(13), limit: 1000 }
  const times = []
  for await (const { date, start_time, doctor } of clinic.availability.all(range))
    times.push({ doctor_id: doctor.id, doctor: doctor.full_name, date, start_time })
  return times
}

/** The id of the patient with this name and number, who is created if there is none. */
async function patientOf(booking: string, form: URLSearchParams): Promise<string> {
  const first_name = fieldOf(form, 'first_name')
  // Empty for a person with one name.
  const last_name = form.get('last_name')?.trim() ?? ''
  const phone_number = fieldOf(form, 'phone_number')
  const name = `${first_name} ${last_name}`.trim().toLowerCase()
  // Members of a family can have the same number.
  for await (const patient of clinic.patients.all({ search: phone_number, is_active: true }))
    if (patient.phone_number === phone_number && patient.full_name.toLowerCase() === name) return patient.id
  try {
    const external_id = `site-${booking}`
    return (await clinic.patients.create({ first_name, last_name, phone_number, external_id })).data.id
  } catch (error) {
    return idOfTaken(error)
  }
}

/** The id of the record that has the external id: the same form was submitted before. Throws any other error. */
function idOfTaken(error: unknown): string {
  const taken = error instanceof ConflictError && error.key === 'external_id_taken' && error.details[0]
  if (taken) return taken.id
  throw error
}

async function hold(form: URLSearchParams) {
  const { data } = await clinic.holds.create({ ...timeOf(form), treatment_ids: [TREATMENT] })
  return { hold: data.id, signature: signatureOf(data.id), expires_at: data.expires_at }
}

async function release(form: URLSearchParams) {
  await clinic.holds.delete(signedId(form, 'hold')).catch((error) => {
    if (!(error instanceof NotFoundError)) throw error
  })
  return {}
}

/** Records the visitor's payment of the treatment, once for each `booking`. */
async function recordPayment(booking: string, patient_id: string, description: string) {
  const external_id = `site-${booking}`
  const line = {
    description: treatment.name,
    quantity: 1,
    unit_price: treatment.price,
    treatment_id: treatment.id,
  }
  const invoice = { patient_id, line_items: [line], status: 'sent' as const, external_id }
  const invoice_id = await clinic.invoices.create(invoice).then(({ data }) => data.id, idOfTaken)
  const { balance_due: amount } = (await clinic.invoices.get(invoice_id)).data
  if (amount === 0) return
  const payment = { invoice_id, amount, payment_method: 'card' as const, description }
  await clinic.payments.create(payment, { idempotencyKey: `payment-${booking}` })
}

async function book(form: URLSearchParams) {
  const booking = fieldOf(form, 'booking')
  if (!/^[\da-f-]{36}$/.test(booking)) throw new InvalidForm('booking must be a UUID')
  const time = timeOf(form)
  const hold_id = signedId(form, 'hold')
  const payment = fieldOf(form, 'payment')
  const patient_id = await patientOf(booking, form)
  await recordPayment(booking, patient_id, payment)
  // The external id prevents a second appointment. The idempotency key is new for each submission: with the same key, a
  // time that was taken would stay so for 24 hours, even if it is free again.
  const appointment = { patient_id, treatment_ids: [TREATMENT], external_id: `site-${booking}`, ...time }
  const { data } = await clinic.appointments
    .book({ ...appointment, hold_id })
    .catch((error) => {
      // The time may still be free.
      if (isHoldOver(error)) return clinic.appointments.book(appointment)
      throw error
    })
    .catch((error) => clinic.appointments.get(idOfTaken(error)))
  return {
    id: data.id,
    signature: signatureOf(data.id),
    status: data.status,
    date: data.appointment_date,
    start_time: data.start_time,
  }
}

const isHoldOver = (error: unknown): boolean =>
  error instanceof ApiError && (error.key === 'hold_expired' || error.key === 'hold_not_found')

async function move(form: URLSearchParams) {
  const { data } = await clinic.appointments.update(signedId(form), timeOf(form))
  return { date: data.appointment_date, start_time: data.start_time }
}

async function cancel(form: URLSearchParams) {
  const { data } = await clinic.appointments.cancel(signedId(form), { reason: 'Cancelled on the website' })
  return { status: data.status }
}

const ACTIONS = new Map<string, (form: URLSearchParams) => Promise<object>>([
  ['GET /slots', freeTimes],
  ['POST /hold', hold],
  ['POST /release', release],
  ['POST /book', book],
  ['POST /move', move],
  ['POST /cancel', cancel],
])

/** The response to an error: the visitor chooses another time, corrects the form, or tries again later. */
function failure(error: unknown): [status: number, body: object] {
  if (error instanceof InvalidForm) return [422, { error: error.message }]
  if (error instanceof ConflictError && error.key === 'slot_unavailable')
    return [409, { error: 'This time has just been taken.', alternatives: error.details }]
  if (error instanceof ApiError && [400, 404, 409, 422].includes(error.status))
    return [error.status, { error: error.key, details: error.details }]
  console.error(error instanceof Error ? error.name : 'unknown error')
  return [503, { error: 'Please try again later.' }]
}

createServer(async (request, response) => {
  const respond = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const action = ACTIONS.get(`${request.method} ${request.url}`)
  if (!action) return respond(404, { error: 'not found' })
  try {
    respond(200, await action(new URLSearchParams(await text(request))))
  } catch (error) {
    respond(...failure(error))
  }
}).listen(Number(PORT), '127.0.0.1')
