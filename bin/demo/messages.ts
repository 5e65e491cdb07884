import { addDays } from '../../shared/domain/clock.ts'
import { parseTime } from '../../shared/domain/interval.ts'
import { type Channel, PROVIDERS } from '../../shared/domain/messages/message.ts'
import type { PlannedAppointment } from './appointments.ts'
import type { Bill } from './invoices.ts'
import type { DemoPatient } from './patients.ts'
import { type Practice, timestamp } from './practice.ts'
import { deck, type SeededRandom, seeded } from './random.ts'
import { advice, confirmation, invoiceReady, type MessageContent, reminder, results } from './texts.ts'

/** A message to a patient and its time. */
type Draft = {
  readonly content: MessageContent
  readonly patient: DemoPatient
  readonly date: string
  readonly minutes: number
  /** Probability of SMS, for patients with both a phone number and an email address. */
  readonly bySms: number
}

/** The communication log up to yesterday, oldest first. */
export function messagesOf(
  practice: Practice,
  appointments: readonly PlannedAppointment[],
  bills: readonly Bill[],
) {
  const random = seeded(practice.seed + 3)
  const drafts = [
    ...appointments.flatMap((appointment) => appointmentDrafts(random, practice, appointment)),
    ...bills.filter(() => random.chance(0.05)).map((bill) => invoiceDraft(practice, bill)),
  ]
    .filter(({ date, patient }) => date < practice.today && (patient.phone_number ?? patient.email_address))
    .sort((a, b) => (a.date === b.date ? a.minutes - b.minutes : a.date < b.date ? -1 : 1))
  const send = sendResultDealer(random)
  return drafts.map(({ content: letter, patient, date, minutes, bySms }, index) => {
    const channel = channelFor(random, patient, bySms)
    const at = (seconds: number) => timestamp(date, minutes, practice.offset, seconds)
    return {
      external_id: `m${index + 1}`,
      patient_external_id: patient.external_id,
      channel,
      type: letter.type,
      recipient: (channel === 'sms' ? patient.phone_number : patient.email_address) ?? '',
      subject: channel === 'email' ? letter.subject : null,
      message: letter.text,
      ...send(channel, drafts.length - index <= QUEUED_COUNT, at),
    }
  })
}

/** Number of newest messages that are still queued. */
const QUEUED_COUNT = 2

const channelFor = (random: SeededRandom, patient: DemoPatient, bySms: number): Channel => {
  if (patient.phone_number === null) return 'email'
  return patient.email_address === null || random.chance(bySms) ? 'sms' : 'email'
}

function appointmentDrafts(
  random: SeededRandom,
  practice: Practice,
  appointment: PlannedAppointment,
): Draft[] {
  const { patient, row, end } = appointment
  const date = row.appointment_date
  const bookedOn = row.created_at.slice(0, 10)
  const bookedAt = parseTime(row.created_at.slice(11, 16))
  const drafts: Draft[] = []
  if (random.chance(0.12)) {
    const letter = confirmation(practice, appointment)
    drafts.push({ content: letter, patient, date: bookedOn, minutes: bookedAt + 1, bySms: 0.4 })
  }
  const dayBefore = addDays(date, -1)
  if (row.status !== 'cancelled' && bookedOn < dayBefore && random.chance(0.5)) {
    const letter = reminder(practice, appointment)
    drafts.push({
      content: letter,
      patient,
      date: dayBefore,
      minutes: 600 + random.integer(0, 9),
      bySms: 0.8,
    })
  }
  if (row.status === 'completed' && random.chance(0.05)) {
    const letter = results(practice, appointment)
    drafts.push({
      content: letter,
      patient,
      date: addDays(date, random.integer(1, 4)),
      minutes: 720,
      bySms: 0.6,
    })
  }
  if (row.status === 'completed' && patient.email_address !== null && random.chance(0.01)) {
    drafts.push({ content: advice(practice, appointment), patient, date, minutes: end + 20, bySms: 0 })
  }
  return drafts
}

const invoiceDraft = (practice: Practice, bill: Bill): Draft => ({
  content: invoiceReady(practice, bill),
  patient: bill.patient,
  date: bill.row.issue_date,
  minutes: bill.issuedAt + 5,
  bySms: 0.2,
})

const ERRORS = {
  sms: { rejected: 'The number is on the opt-out list', failed: 'The phone could not be reached' },
  email: { rejected: 'The address is on the suppression list', failed: 'Bounce: no such mailbox' },
}
const COMPLAINT = 'Complaint: the recipient marked the message as spam'

/** Deals outcomes of messages; `at` returns the time that many seconds after acceptance. */
function sendResultDealer(random: SeededRandom) {
  const cards = { delivered: 24, sent: 6, failed: 2, rejected: 1 }
  const decks = { sms: deck(random, cards), email: deck(random, { ...cards, complaint: 1 }) }
  return (channel: Channel, isQueued: boolean, at: (seconds: number) => string) => {
    const outcome = isQueued ? 'queued' : decks[channel]()
    const provider = PROVIDERS[channel]
    const accepted = { provider, created_at: at(random.integer(0, 20)) }
    if (outcome === 'queued' || outcome === 'rejected') {
      return {
        ...accepted,
        status: outcome === 'queued' ? 'queued' : 'failed',
        provider_message_id: null,
        error_message: outcome === 'queued' ? null : ERRORS[channel].rejected,
        sent_at: null,
      }
    }
    return {
      ...accepted,
      status: outcome === 'complaint' ? 'delivered' : outcome,
      provider_message_id: providerId(random),
      error_message:
        outcome === 'failed' ? ERRORS[channel].failed : outcome === 'complaint' ? COMPLAINT : null,
      sent_at: at(random.integer(21, 45)),
    }
  }
}

/** Message ids of both providers look like UUIDs. */
const providerId = (random: SeededRandom): string =>
  [8, 4, 4, 4, 12]
    .map((length) => Array.from({ length }, () => random.integer(0, 15).toString(16)).join(''))
    .join('-')
