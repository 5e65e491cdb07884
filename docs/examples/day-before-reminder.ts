/**
 * Reminds patients of tomorrow's appointments in their language, with a link to confirm: by SMS, or by email if they have no phone
 * number or declined SMS. Those who declined both get nothing.
 * Run `node day-before-reminder.ts send` once a day, and `node day-before-reminder.ts serve` as a server for the links.
 * If reminders fail, `send` lists their appointments and exits with 1 after the last one. Run it again on the same day.
 *
 * API and CREDENTIAL are the address and the credential, which needs appointment.read, appointment.write, patient.read,
 * communication.write.sms and communication.write.email. SITE is the public address of the server, and LINK_SECRET signs links.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { ApiError, createClient } from 'clinic-developer-client'

const {
  API = '',
  CREDENTIAL = '',
  SITE = 'http://127.0.0.1:4500',
  LINK_SECRET = '',
  PORT = '4500',
} = process.env
if (LINK_SECRET.length < 32) throw new Error('LINK_SECRET needs at least 32 characters')
const clinic = createClient({ baseUrl: API, credential: CREDENTIAL })

/** The text for each language. Patients with another language, or none, get the English one. */
const REMINDERS: Record<string, (time: string, link: string) => string> = {
  de: (time, link) => `Ihr Termin ist morgen um ${time} Uhr. Bitte bestätigen Sie: ${link}`,
  tr: (time, link) => `Randevunuz yarın saat ${time}. Lütfen onaylayın: ${link}`,
}
const inEnglish = (time: string, link: string) =>
  `Your appointment is tomorrow at ${time}. Please confirm: ${link}`

/** Signs one appointment at one time: after a move, the link confirms nothing. */
const signatureOf = (id: string, at: string): string =>
  createHmac('sha256', LINK_SECRET).update(`${id} ${at}`).digest('base64url')

async function send(): Promise<void> {
  const { data } = await clinic.clinic()
  const today = new Date().toLocaleDateString('sv-SE', { timeZone: data.timezone })
  // The day is added in UTC, where each has 24 hours.
  const tomorrow = new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, 10)
  const filters = { status: 'scheduled', date_from: tomorrow, date_to: tomorrow, expand: 'patient' } as const
  for await (const appointment of clinic.appointments.all(filters)) {
    const { id, patient, appointment_date: date, start_time: time } = appointment
    const channel = patient.phone_number && patient.accepts_sms ? 'sms' : 'email'
    if (channel === 'email' && !patient.accepts_email) continue
    const at = `${date}T${time}`
    const link = `${SITE}/?${new URLSearchParams({ id, at, signature: signatureOf(id, at) })}`
    // `de-CH` is German too.
    const [language = ''] = patient.language?.split('-') ?? []
    const message = (REMINDERS[language] ?? inEnglish)(time, link)
    try {
      // A run that is repeated within 24 hours sends nothing again: it repeats only requests that returned an error.
      const idempotencyKey = `reminder-${id}-${date}-${time}-${channel}`
      const { data } = await clinic.messages.send(
        { channel, patient_id: patient.id, message },
        { idempotencyKey },
      )
      if (data.status === 'failed') reportFailure(id, 'failed')
    } catch (error) {
      // A reminder that cannot be sent does not keep the other patients from being reminded.
      reportFailure(id, reasonOf(error))
    }
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.key}`
  return error instanceof Error ? error.name : 'unknown error'
}

/** Reports the appointment whose reminder failed, and why, without data of the patient. The run continues, and exits with 1. */
function reportFailure(id: string, reason: string): void {
  console.error(`${id}: ${reason}`)
  process.exitCode = 1
}

async function confirm(link: URLSearchParams): Promise<[status: number, text: string]> {
  const [id = '', at = '', signature = ''] = ['id', 'at', 'signature'].map((name) => link.get(name) ?? '')
  const expected = Buffer.from(signatureOf(id, at))
  const received = Buffer.from(signature)
  if (received.length !== expected.length || !timingSafeEqual(received, expected))
    return [404, 'This link is not valid.']
  const { body, etag } = await clinic.appointments.get(id).withResponse()
  const { status, appointment_date, start_time } = body.data
  if (status !== 'scheduled' || `${appointment_date}T${start_time}` !== at)
    return [409, 'The appointment has changed. Please call us.']
  // Confirms the appointment only as it was read: not if it was moved at the same time.
  await clinic.appointments.confirm(id, { ifMatch: etag })
  return [200, 'Thank you. Your appointment is confirmed.']
}

function serve(): void {
  createServer(async (request, response) => {
    const respond = (status: number, html: string) =>
      response
        .writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'referrer-policy': 'no-referrer' })
        .end(html)
    try {
      // Previews of messages open links too: only the button confirms.
      if (request.method !== 'POST')
        return respond(200, '<form method="post"><button>Confirm my appointment</button></form>')
      return respond(...(await confirm(new URL(request.url ?? '/', SITE).searchParams)))
    } catch (error) {
      console.error(reasonOf(error))
      return respond(503, 'Please try again later.')
    }
  }).listen(Number(PORT), '127.0.0.1')
}

if (process.argv[2] === 'serve') serve()
else await send()
