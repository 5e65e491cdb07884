import { describe, expect, it } from 'vitest'
import {
  acceptMessage,
  type MessageFacts,
  type MessageRequest,
} from '../../../../shared/domain/messages/accept-message.ts'
import { NO_DETAILS } from '../../../../shared/domain/patients/patient.ts'

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

const patient = {
  id: 'p1',
  firstName: 'Ada',
  lastName: 'Kaya',
  ...NO_DETAILS,
  phoneNumber: '+905321234567',
  emailAddress: 'ada@example.com',
  createdAt: '2026-01-01T00:00:00.000Z',
}

const facts: MessageFacts = { patient, limits: null, sentToday: 0, sentToRecipient: 0 }

const accept = (changed: Partial<MessageRequest> = {}, changedFacts: Partial<MessageFacts> = {}) =>
  acceptMessage({ ...request, ...changed }, { ...facts, ...changedFacts })

describe('acceptMessage', () => {
  it('accepts an SMS as queued and claimed for 20 seconds', () => {
    expect(accept()).toEqual({
      kind: 'accepted',
      dailyLimit: 2,
      recipientLimit: 2,
      message: {
        id: 'm1',
        channel: 'sms',
        type: 'manual',
        recipient: '+905321234567',
        subject: null,
        text: 'See you at ten',
        status: 'queued',
        providerMessageId: null,
        errorMessage: null,
        sentAt: null,
        patient: { id: 'p1', fullName: 'Ada Kaya' },
        acceptedAt: '2026-05-01T21:30:00.000Z',
        acceptedOn: '2026-05-02',
        dispatch: {
          dueAt: NOW + 20_000,
          claim: { token: 'c1', until: NOW + 20_000 },
          isUnresolved: false,
        },
      },
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

  const unreachable = { ...patient, phoneNumber: null, emailAddress: null }

  it.each<[condition: string, request: Partial<MessageRequest>, facts: Partial<MessageFacts>, kind: string]>([
    ['the patient is unknown', {}, { patient: undefined }, 'patient_not_found'],
    [
      'the patient is erased',
      {},
      { patient: { ...patient, erasedAt: '2026-05-01T07:00:00.000Z' } },
      'patient_not_found',
    ],
    [
      'the patient is inactive, and has no phone number',
      {},
      { patient: { ...unreachable, isActive: false } },
      'patient_inactive',
    ],
    ['an SMS has no phone number to go to', {}, { patient: unreachable }, 'no_phone'],
    ['an email has no address to go to', { channel: 'email' }, { patient: unreachable }, 'no_email'],
    [
      'the country is not allowed',
      {},
      { patient: { ...patient, phoneNumber: '+447400123456' } },
      'country_not_allowed',
    ],
    ['the clinic allows other countries', {}, { limits: { smsCountries: ['GB'] } }, 'country_not_allowed'],
    [
      'the number belongs to no country',
      {},
      { patient: { ...patient, phoneNumber: '+999' } },
      'country_not_allowed',
    ],
    ['the default limit is reached', {}, { sentToday: 2 }, 'daily_limit_reached'],
    [
      'the clinic’s own limit is reached',
      {},
      { limits: { smsPerDay: 1 }, sentToday: 1 },
      'daily_limit_reached',
    ],
    [
      'the clinic’s own limit of emails is reached',
      { channel: 'email' },
      { limits: { emailsPerDay: 1 }, sentToday: 1 },
      'daily_limit_reached',
    ],
    [
      'the number costs extra',
      {},
      { patient: { ...patient, phoneNumber: '+908881234567' } },
      'number_not_allowed',
    ],
    ['the recipient’s default limit is reached', {}, { sentToRecipient: 2 }, 'recipient_limit_reached'],
    [
      'the clinic’s own limit for a recipient is reached',
      { channel: 'email' },
      { limits: { messagesPerRecipient: 1 }, sentToRecipient: 1 },
      'recipient_limit_reached',
    ],
  ])('rejects the message when %s', (_condition, changed, changedFacts, kind) => {
    expect(accept(changed, changedFacts)).toEqual({ kind })
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
