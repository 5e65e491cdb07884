import { describe, expect, it } from 'vitest'
import {
  acceptMessage,
  type MessageFacts,
  type MessageRequest,
} from '../../../../shared/domain/messages/accept-message.ts'
import type { Patient } from '../../../../shared/domain/patients/patient.ts'
import { anSms, aPerson } from '../../../support/sample-records.ts'

const NOW = Date.parse('2026-05-01T21:30:00.000Z')

const request: MessageRequest = {
  id: 'm1',
  claimToken: 'c1',
  channel: 'sms',
  patient: 'p1',
  subject: null,
  clinicName: 'Praxis Nord',
  text: 'See you at ten',
  now: NOW,
  date: '2026-05-02',
  defaultLimits: { smsPerDay: 2, emailsPerDay: 3, messagesPerRecipient: 2, smsCountries: ['TR'] },
}

const patient = aPerson({ phoneNumber: '+905321234567', emailAddress: 'ada@example.com' })

const facts: MessageFacts = { patient, limits: null, sentToday: 0, sentToRecipient: 0 }

const accept = (changed: Partial<MessageRequest> = {}, changedFacts: Partial<MessageFacts> = {}) =>
  acceptMessage({ ...request, ...changed }, { ...facts, ...changedFacts })

describe('acceptMessage', () => {
  it('accepts an SMS as queued and claimed for 20 seconds', () => {
    expect(accept()).toEqual({
      kind: 'accepted',
      dailyLimit: 2,
      recipientLimit: 2,
      message: anSms({
        acceptedAt: '2026-05-01T21:30:00.000Z',
        acceptedOn: '2026-05-02',
        dispatch: { dueAt: NOW + 20_000, claim: { token: 'c1', until: NOW + 20_000 }, isUnresolved: false },
      }),
    })
  })

  it('accepts an email as waiting, due in two minutes, under the clinic’s name', () => {
    expect(accept({ channel: 'email' })).toMatchObject({
      kind: 'accepted',
      dailyLimit: 3,
      message: {
        recipient: 'ada@example.com',
        subject: 'Praxis Nord',
        dispatch: { dueAt: NOW + 120_000, claim: null, isUnresolved: false },
      },
    })
    expect(accept({ channel: 'email', subject: 'Your appointment' })).toMatchObject({
      message: { subject: 'Your appointment' },
    })
  })

  const patientWith = (details: Partial<Patient>) => ({ patient: { ...patient, ...details } })
  const inactive = (details: Partial<Patient>) => patientWith({ ...details, isActive: false })
  const noSms = { acceptsSms: false }
  const unreachable = { phoneNumber: null, emailAddress: null }
  const email = { channel: 'email' } as const

  it.each<[condition: string, kind: string, Partial<MessageFacts>, Partial<MessageRequest>?]>([
    ['the patient is unknown', 'patient_not_found', { patient: undefined }],
    ['the patient is erased', 'patient_not_found', patientWith({ erasedAt: '2026-05-01T07:00:00.000Z' })],
    ['an inactive patient has no phone number', 'patient_inactive', inactive(unreachable)],
    ['an inactive patient declined messages', 'patient_inactive', inactive(noSms)],
    ['the patient declined, and has no phone', 'declined', patientWith({ ...unreachable, ...noSms })],
    ['limits are reached too', 'declined', { ...patientWith(noSms), sentToday: 9, sentToRecipient: 9 }],
    ['the patient declined emails', 'declined', patientWith({ acceptsEmail: false }), email],
    ['an SMS has no phone number to go to', 'no_phone', patientWith(unreachable)],
    ['an email has no address to go to', 'no_email', patientWith(unreachable), email],
    ['the country is not allowed', 'country_not_allowed', patientWith({ phoneNumber: '+447400123456' })],
    ['the clinic allows other countries', 'country_not_allowed', { limits: { smsCountries: ['GB'] } }],
    ['the number belongs to no country', 'country_not_allowed', patientWith({ phoneNumber: '+999' })],
    ['the number costs extra', 'number_not_allowed', patientWith({ phoneNumber: '+908881234567' })],
    ['the default limit is reached', 'daily_limit_reached', { sentToday: 2 }],
    ['the clinic’s own limit is reached', 'daily_limit_reached', { limits: { smsPerDay: 1 }, sentToday: 1 }],
    ['the limit of emails is reached', 'daily_limit_reached', { limits: { emailsPerDay: 0 } }, email],
    ['the recipient’s default limit is reached', 'recipient_limit_reached', { sentToRecipient: 2 }],
    [
      'the clinic’s limit of a recipient is reached',
      'recipient_limit_reached',
      { limits: { messagesPerRecipient: 0 } },
      email,
    ],
  ])('rejects the message when %s', (_condition, kind, changedFacts, changed = {}) => {
    expect(accept(changed, changedFacts)).toEqual({ kind })
  })

  it('accepts a message by the channel that the patient did not decline', () => {
    expect(accept({}, patientWith({ acceptsEmail: false }))).toMatchObject({ kind: 'accepted' })
    expect(accept(email, patientWith({ acceptsSms: false }))).toMatchObject({ kind: 'accepted' })
  })

  it('accepts the last message of the day, and counts channels apart', () => {
    expect(accept({}, { sentToday: 1 })).toMatchObject({ kind: 'accepted' })
    expect(accept({ channel: 'email' }, { sentToday: 2, limits: { smsPerDay: 1 } })).toMatchObject({
      kind: 'accepted',
      dailyLimit: 3,
    })
  })

  it('sends an email to any country', () => {
    const abroad = { ...patient, phoneNumber: '+447400123456' }
    expect(accept({ channel: 'email' }, { patient: abroad })).toMatchObject({ kind: 'accepted' })
  })
})
