import { type Channel, type MessageStatus, PROVIDERS } from '../../shared/domain/message.ts'
import { deck, type Random } from './random.ts'

/** The outcome of sending a message, as columns of the importer. */
type SendResult = {
  readonly status: MessageStatus
  readonly provider: 'sns' | 'ses'
  readonly provider_message_id: string | null
  readonly error_message: string | null
  readonly sent_at: string | null
  readonly created_at: string
}

const ERRORS = {
  sms: { rejected: 'The number is on the opt-out list', failed: 'The phone could not be reached' },
  email: { rejected: 'The address is on the suppression list', failed: 'Bounce: no such mailbox' },
}
const COMPLAINT = 'Complaint: the recipient marked the message as spam'

/** Deals outcomes of messages; `at` returns the time that many seconds after acceptance. */
export function sendResultDealer(random: Random) {
  const cards = { delivered: 24, sent: 6, failed: 2, rejected: 1 }
  const decks = { sms: deck(random, cards), email: deck(random, { ...cards, complaint: 1 }) }
  return (channel: Channel, isQueued: boolean, at: (seconds: number) => string): SendResult => {
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
const providerId = (random: Random): string =>
  [8, 4, 4, 4, 12]
    .map((length) => Array.from({ length }, () => random.integer(0, 15).toString(16)).join(''))
    .join('-')
