/** Numbers of every type in every country that SMS may go to, generated from the numbering plans of libphonenumber. */
import fc from 'fast-check'
import { Metadata, type NumberType, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { describe, expect, it } from 'vitest'
import { acceptMessage } from '../../../shared/domain/messages/accept-message.ts'
import { NO_DETAILS } from '../../../shared/domain/patients/patient.ts'
import { settingsOf } from '../../support/template.ts'

const { messaging } = settingsOf('prod')

const COSTLY = ['PREMIUM_RATE', 'SHARED_COST', 'PERSONAL_NUMBER', 'UAN', 'PAGER', 'VOICEMAIL'] as const
const ORDINARY = ['MOBILE', 'FIXED_LINE', 'FIXED_LINE_OR_MOBILE', 'VOIP', 'TOLL_FREE'] as const

type Plan = { callingCode: () => string; type: (name: string) => { pattern: () => string } | undefined }

/** Up to `count` numbers of a country that libphonenumber says are of this type; none if the plan has no such type. */
function numbersOf(country: string, type: NumberType, count: number): string[] {
  const metadata = new Metadata()
  metadata.selectNumberingPlan(country as never)
  const plan = (metadata as unknown as { numberingPlan: Plan }).numberingPlan
  const pattern = plan.type(type === 'FIXED_LINE_OR_MOBILE' ? 'MOBILE' : `${type}`)?.pattern()
  if (!pattern) return []
  const national = fc.stringMatching(new RegExp(`^(?:${pattern.replaceAll('\\d', '[0-9]')})$`))
  return fc
    .sample(national, { seed: 1, numRuns: 40 })
    .map((digits) => `+${plan.callingCode()}${digits}`)
    .filter((number) => {
      const parsed = parsePhoneNumberFromString(number)
      return parsed?.country === country && parsed.getType() === type
    })
    .slice(0, count)
}

const verdictOn = (phoneNumber: string) =>
  acceptMessage(
    {
      id: 'm1',
      claimToken: 'c1',
      channel: 'sms',
      patient: 'p1',
      subject: null,
      clinicName: 'Praxis Nord',
      text: 'See you at ten',
      now: 0,
      date: '1970-01-01',
      defaultLimits: messaging,
    },
    {
      patient: {
        id: 'p1',
        firstName: 'Ada',
        lastName: 'Kaya',
        ...NO_DETAILS,
        phoneNumber,
        createdAt: '1970-01-01T00:00:00.000Z',
        erasedAt: null,
      },
      limits: null,
      sentToday: 0,
      sentToRecipient: 0,
    },
  ).kind

const cases = (types: readonly NumberType[]) =>
  messaging.smsCountries.flatMap((country) =>
    types.flatMap((type) => numbersOf(country, type, 3).map((number) => [country, type, number] as const)),
  )

const costly = cases(COSTLY)
const ordinary = cases(ORDINARY)

describe('a number that costs extra', () => {
  it.each(costly)('of %s and type %s is rejected: %s', (_country, _type, number) => {
    expect(verdictOn(number)).toBe('number_not_allowed')
  })

  it('is generated for each type', () => {
    expect(new Set(costly.map(([, type]) => type))).toEqual(new Set(COSTLY))
  })
})

describe('an ordinary number', () => {
  it.each(ordinary)('of %s and type %s is accepted: %s', (_country, _type, number) => {
    expect(verdictOn(number)).toBe('accepted')
  })

  it('is generated for each country', () => {
    expect(new Set(ordinary.map(([country]) => country))).toEqual(new Set(messaging.smsCountries))
  })
})

it.each([
  ['+447012345678', 'a personal number of the United Kingdom'],
  ['+448711234567', 'a premium number of the United Kingdom'],
  ['+19002345678', 'a premium number of North America'],
  ['+33899123456', 'a premium number of France'],
  ['+908881234567', 'a premium number of Türkiye'],
  ['+491801234567', 'a shared cost number of Germany'],
])('rejects %s, %s', (number) => {
  expect(verdictOn(number)).toBe('number_not_allowed')
})

it.each(['+882161234567', '+881612345678', '+8835100012345', '+97912345678', '+80012345678', '+87012345678'])(
  'rejects %s, which belongs to no country: a satellite, network or international service number',
  (number) => {
    expect(verdictOn(number)).toBe('country_not_allowed')
  },
)
