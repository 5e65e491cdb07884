/**
 * Every key of the single table, and nothing else makes one.
 *
 * A clinic's items live in partitions that begin with the clinic's short id, so a key cannot be built without a
 * clinic and one clinic's query can never reach another's partition. Only the families at the end are keyed
 * otherwise, each with its reason.
 */
import type { ClinicId } from '../domain/clinic.ts'

/** The attribute by which DynamoDB deletes an item some time after the second it names. */
export const TTL = 'ttl'

export type Key = { readonly pk: string; readonly sk: string }

/** Ordinals and counters as sort keys: ten digits keep their order as text. */
export const sortableNumber = (value: number): string => String(value).padStart(10, '0')

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const ORDERED = '-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz'
const translated = (text: string, from: string, to: string): string =>
  text.replace(/./g, (letter) => to.charAt(from.indexOf(letter)))

/**
 * The 16 bytes of a UUID in 22 characters that sort as the UUID does: ids are a third of a small row's bytes, and
 * bytes are what reads cost.
 */
export const shortId = (uuid: string): string =>
  translated(Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url'), BASE64URL, ORDERED)

/** The UUID of a short id. */
export const longId = (short: string): string =>
  Buffer.from(translated(short, ORDERED, BASE64URL), 'base64url')
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

const partition = (clinic: ClinicId, family: string): string => `${shortId(clinic)}#${family}`

export const clinicKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'C'), sk: 'clinic' })

/** Which credentials a clinic has; the credentials themselves are found by their own key. */
export const clinicCredentialsPartition = (clinic: ClinicId): string => partition(clinic, 'K')
export const clinicCredentialKey = (clinic: ClinicId, key: string): Key => ({
  pk: clinicCredentialsPartition(clinic),
  sk: key,
})

export const doctorsPartition = (clinic: ClinicId): string => partition(clinic, 'DR')
export const doctorKey = (clinic: ClinicId, id: string): Key => ({ pk: doctorsPartition(clinic), sk: id })

export const patientKey = (clinic: ClinicId, id: string): Key => ({ pk: partition(clinic, 'P'), sk: id })

/** Patients in order of entry: dense ordinals 0..n-1, so that a page is a range. */
export const patientListPartition = (clinic: ClinicId): string => partition(clinic, 'PL')
export const patientRowKey = (clinic: ClinicId, ordinal: number): Key => ({
  pk: patientListPartition(clinic),
  sk: sortableNumber(ordinal),
})

/** How many patients there are, and how far the search segments have followed. */
export const patientHeadKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'PH'), sk: 'head' })

/** Search segment `index`, in as many parts as its bytes need. */
export const patientSegmentPartition = (clinic: ClinicId, index: number): string =>
  partition(clinic, `PS#${index}`)
export const patientSegmentKey = (clinic: ClinicId, index: number, part: number): Key => ({
  pk: patientSegmentPartition(clinic, index),
  sk: String(part).padStart(2, '0'),
})

/** Which patient the update with this number changed. */
export const patientChangesPartition = (clinic: ClinicId): string => partition(clinic, 'PC')
export const patientChangeKey = (clinic: ClinicId, update: number): Key => ({
  pk: patientChangesPartition(clinic),
  sk: sortableNumber(update),
})

/** Whose copied name or contacts are owed to other records. */
export const patientOwner = (id: string): string => `patient#${id}`
export const doctorOwner = (id: string): string => `doctor#${id}`
export function ownerOf(owner: string): { kind: 'patient' | 'doctor'; id: string } {
  const [kind, id = ''] = owner.split('#')
  return { kind: kind === 'doctor' ? 'doctor' : 'patient', id }
}

/** Answers kept for repetitions, by credential, route and the caller's own key. */
export const keptAnswersPartition = (clinic: ClinicId): string => partition(clinic, 'R')
export const keptAnswerKey = (clinic: ClinicId, credential: string, route: string, hash: string): Key => ({
  pk: keptAnswersPartition(clinic),
  sk: `${credential}#${route}#${hash}`,
})

/** Debts of copied names, an item for each owner (fan-out.ts). */
export const fanOutPartition = (clinic: ClinicId): string => partition(clinic, 'F')
export const fanOutKey = (clinic: ClinicId, owner: string): Key => ({
  pk: fanOutPartition(clinic),
  sk: owner,
})

/** The lists that go by the calendar (calendar-list.ts), each by its letter. */
export type CalendarLetter = 'A' | 'I' | 'Y' | 'M'

/** Records by id. */
export const calendarPartition = (clinic: ClinicId, letter: CalendarLetter): string =>
  partition(clinic, letter)
export const calendarKey = (clinic: ClinicId, letter: CalendarLetter, id: string): Key => ({
  pk: calendarPartition(clinic, letter),
  sk: id,
})

/** Rows by facet and time: of the whole clinic, or of one doctor. */
export const calendarListPartition = (
  clinic: ClinicId,
  letter: CalendarLetter,
  doctor: string | null,
): string => partition(clinic, doctor === null ? `${letter}L` : `${letter}D#${shortId(doctor)}`)
/** Day counts of the same, an item for each month. */
export const tallyPartition = (clinic: ClinicId, letter: CalendarLetter, doctor: string | null): string =>
  partition(clinic, doctor === null ? `${letter}T` : `${letter}T#${shortId(doctor)}`)

/** Rows by time: of one patient, or of one invoice's payments. */
export const ownerPartition = (
  clinic: ClinicId,
  letter: CalendarLetter,
  owner: 'patient' | 'invoice',
  id: string,
): string => partition(clinic, `${letter}${owner === 'patient' ? 'P' : 'I'}#${shortId(id)}`)

/** Where a record stands in time: its day, its moment in the day, its id. */
export const calendarSort = (date: string, moment: string, id: string): string =>
  `${date}#${moment}#${shortId(id)}`
/** The same in a list that goes by facet first. */
export const facetSort = (facet: string, sort: string): string => `${facet}#${sort}`
/** After every sort key of a day. */
export const dayEnd = (date: string): string => `${date}#~`

/** What takes a doctor's time on a date. */
export const doctorDayPartition = (clinic: ClinicId, doctor: string): string =>
  partition(clinic, `D#${shortId(doctor)}`)
export const doctorDayKey = (clinic: ClinicId, doctor: string, date: string): Key => ({
  pk: doctorDayPartition(clinic, doctor),
  sk: date,
})

/** How many messages a clinic sent on one of its days. */
export const messageQuotaKey = (clinic: ClinicId, date: string): Key => ({
  pk: partition(clinic, 'MQ'),
  sk: date,
})

export const webhooksPartition = (clinic: ClinicId): string => partition(clinic, 'W')
export const webhookKey = (clinic: ClinicId, id: string): Key => ({ pk: webhooksPartition(clinic), sk: id })
/** How many webhooks there are. */
export const webhookCountKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'WN'), sk: 'count' })
/** How an endpoint behaves; beside the webhook, since deliveries write it all the time. */
export const webhookHealthKey = (clinic: ClinicId, id: string): Key => ({
  pk: partition(clinic, 'WS'),
  sk: id,
})

/** Deliveries to one endpoint by id, which begins with the time it was made. */
export const deliveriesPartition = (clinic: ClinicId, webhook: string): string =>
  partition(clinic, `WD#${shortId(webhook)}`)
export const deliveryKey = (clinic: ClinicId, webhook: string, id: string): Key => ({
  pk: deliveriesPartition(clinic, webhook),
  sk: id,
})
/** Deliveries of a record to an endpoint that were not attempted yet, in the order of its events. */
export const firstAttemptsPartition = (clinic: ClinicId, webhook: string): string =>
  partition(clinic, `WF#${shortId(webhook)}`)
export const firstAttemptKey = (
  clinic: ClinicId,
  webhook: string,
  record: string,
  sequence: number,
): Key => ({
  pk: firstAttemptsPartition(clinic, webhook),
  sk: `${shortId(record)}#${sortableNumber(sequence)}`,
})

/** Events in the order in which they became readable: dense places 1..n. */
export const eventsPartition = (clinic: ClinicId): string => partition(clinic, 'E')
export const eventKey = (clinic: ClinicId, place: number): Key => ({
  pk: eventsPartition(clinic),
  sk: sortableNumber(place),
})
/** How many events there have been. */
export const eventHeadKey = (clinic: ClinicId): Key => ({ pk: partition(clinic, 'EH'), sk: 'head' })

// Families outside a clinic's partitions.

/** Prefix of credential partitions. A request knows its credential's key before it knows its clinic. */
export const CREDENTIAL_PARTITIONS = 'credential#'
export const credentialKey = (key: string): Key => ({
  pk: `${CREDENTIAL_PARTITIONS}${key}`,
  sk: 'credential',
})
/** Requests of one credential in one minute since the epoch. */
export const credentialMinuteKey = (key: string, minute: number): Key => ({
  pk: `${CREDENTIAL_PARTITIONS}${key}`,
  sk: `minute#${sortableNumber(minute)}`,
})

/** Every clinic's id, for the operator's `clinic list`; no request can read it. */
export const CLINIC_DIRECTORY = 'clinics'
export const clinicDirectoryKey = (clinic: ClinicId): Key => ({ pk: CLINIC_DIRECTORY, sk: clinic })

/** Prefix of what is swept over all clinics, every minute, by when it is due: a clinic's own partitions would cost a
 * read for each clinic there is. Ids only; spread, since all clinics write here. */
export const DUE_PARTITIONS = 'due#'
/** Messages that are on their way to a provider. */
export const DUE_MESSAGE_PARTITIONS = [0, 1, 2, 3].map((shard) => `${DUE_PARTITIONS}message#${shard}`)
/** Messages whose claim ended without a word: there are few, and the operator looks through all. */
export const UNRESOLVED_MESSAGES = `${DUE_PARTITIONS}unresolved`

/** Prefix of partitions of events that were announced in their record's transaction and have no place yet. */
export const ANNOUNCED_PARTITIONS = `${DUE_PARTITIONS}event#`
const ANNOUNCED_SHARDS = 8
export const ALL_ANNOUNCED_PARTITIONS = Array.from(
  { length: ANNOUNCED_SHARDS },
  (_, shard) => `${ANNOUNCED_PARTITIONS}${shard}`,
)
/** All of a clinic's events are in one of them, next to each other. */
export const announcedPartition = (clinic: ClinicId): string =>
  ALL_ANNOUNCED_PARTITIONS[Number.parseInt(clinic.slice(-2), 16) % ANNOUNCED_SHARDS] as string
export const announcedKey = (clinic: ClinicId, record: string, sequence: number): Key => ({
  pk: announcedPartition(clinic),
  sk: `${shortId(clinic)}#${shortId(record)}#${sortableNumber(sequence)}`,
})
/** The range of a clinic's announced events in their partition. */
export const announcedRange = (clinic: ClinicId): { from: string; to: string } => ({
  from: `${shortId(clinic)}#`,
  to: `${shortId(clinic)}#~`,
})
/** Whose event was announced, which record's, and the how-manieth. */
export function announcedOf({ sk }: Key): { clinic: ClinicId; record: string; sequence: number } {
  const [clinic = '', record = '', sequence = ''] = sk.split('#')
  return { clinic: longId(clinic) as ClinicId, record: longId(record), sequence: Number(sequence) }
}

/** What is due, or was: whose and when, in milliseconds since the epoch. */
export type Due = { readonly clinic: ClinicId; readonly id: string; readonly at: number }

const dueSort = ({ clinic, id, at }: Due): string => `${dueTime(at)}#${shortId(clinic)}#${shortId(id)}`
const dueTime = (at: number): string => String(at).padStart(15, '0')
/** After every sort key of what is due by then. */
export const dueUntil = (at: number): string => `${dueTime(at)}#~`

export const dueMessageKey = (due: Due): Key => ({
  pk: DUE_MESSAGE_PARTITIONS[Number.parseInt(due.id.slice(-1), 16) % DUE_MESSAGE_PARTITIONS.length] as string,
  sk: dueSort(due),
})
/** Deliveries to webhooks, by when they are to be looked at. */
export const DUE_DELIVERY_PARTITIONS = [0, 1, 2, 3].map((shard) => `${DUE_PARTITIONS}delivery#${shard}`)
export type DueDelivery = Due & { readonly webhook: string }
export const dueDeliveryKey = (due: DueDelivery): Key => ({
  pk: DUE_DELIVERY_PARTITIONS[
    Number.parseInt(due.id.slice(-1), 16) % DUE_DELIVERY_PARTITIONS.length
  ] as string,
  sk: `${dueSort(due)}#${shortId(due.webhook)}`,
})
export const dueDeliveryOf = (key: Key): DueDelivery => ({
  ...dueOf(key),
  webhook: longId(key.sk.slice(key.sk.lastIndexOf('#') + 1)),
})
/** All families of what is due but the announced events. */
export const DUE_PARTITIONS_BUT_EVENTS = ['message#', 'delivery#', 'unresolved'].map(
  (family) => `${DUE_PARTITIONS}${family}`,
)
export const unresolvedMessageKey = (due: Due): Key => ({ pk: UNRESOLVED_MESSAGES, sk: dueSort(due) })

/** The inverse of a due item's sort key. */
export function dueOf({ sk }: Key): Due {
  const [at = '', clinic = '', id = ''] = sk.split('#')
  return { at: Number(at), clinic: longId(clinic) as ClinicId, id: longId(id) }
}

/** Prefix of partitions by a provider's own id of a message: its receipts tell nothing else. */
export const PROVIDER_PARTITIONS = 'provider#'
export const providerMessageKey = (provider: string, id: string): Key => ({
  pk: `${PROVIDER_PARTITIONS}${provider}#${id}`,
  sk: 'message',
})
