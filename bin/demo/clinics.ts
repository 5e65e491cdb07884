import { fold } from '../../shared/domain/search-text.ts'
import { type Random, seeded } from './random.ts'

/** A demo clinic as its files hold it: rows for the importer, columns named as the API's fields. */
export type DemoClinic = {
  readonly name: string
  readonly timezone: string
  readonly currency: string
  readonly doctors: object[]
  readonly patients: object[]
}

type Place = {
  readonly given: Record<'female' | 'male', [string, ...string[]]>
  readonly family: [string, ...string[]]
  readonly phone: (random: Random) => string
  readonly offset: string
}

const digits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => random.integer(0, 9)).join('')

const ISTANBUL: Place = {
  given: {
    female: ['Ayşe', 'Zeynep', 'Elif', 'Işıl', 'Gülşen', 'Şirin', 'Çağla', 'Defne', 'İpek', 'Zoë'],
    male: ['Mehmet', 'İsmail', 'Özgür', 'Umut', 'Çınar', 'Doğan', 'Yiğit', 'Barış', 'Kerem', 'Łukasz'],
  },
  family: [
    'Yılmaz',
    'Kaya',
    'Demir',
    'Öztürk',
    'Şahin',
    'Çelik',
    'Yıldız',
    'Aydın',
    'Güneş',
    'Großmann',
    'Işık',
  ],
  phone: (random) => `+9053${random.integer(0, 9)}${digits(random, 7)}`,
  offset: '+03:00',
}

const KATHMANDU: Place = {
  given: {
    female: ['Sita', 'Maya', 'Asmita', 'Kabita', 'Nirmala', 'Puja'],
    male: ['Bikash', 'Suresh', 'Prakash', 'Dipesh', 'Nabin', 'Tenzing'],
  },
  family: ['Shrestha', 'Gurung', 'Tamang', 'Rai', 'Thapa', 'Sherpa', 'Adhikari'],
  phone: (random) => `+97798${digits(random, 8)}`,
  offset: '+05:45',
}

/** Two clinics in different time zones, one of them not a whole hour from UTC. */
export const demoClinics = (): DemoClinic[] => [
  {
    name: 'Bosphorus Family Clinic',
    timezone: 'Europe/Istanbul',
    currency: 'TRY',
    doctors: [
      {
        external_id: 'd1',
        full_name: 'Dr. Selin Arslan',
        specialty: 'Family medicine',
        hours: 'mon-fri 09:00-12:30,13:30-18:00; sat 10:00-14:00',
      },
      {
        external_id: 'd2',
        full_name: 'Dr. Emre Koç',
        specialty: 'Paediatrics',
        hours: 'mon-thu 08:30-16:30',
        breaks: 'mon-thu 12:00-13:00',
      },
      {
        external_id: 'd3',
        full_name: 'Dr. Nazlı Uçar',
        specialty: 'Dermatology',
        hours: 'tue,thu 10:00-19:00',
        time_off: '2026-08-03/2026-08-14',
      },
      { external_id: 'd4', full_name: 'Dr. Ömer Taş', specialty: null, is_active: false },
    ],
    patients: patients(seeded(1), ISTANBUL, 500),
  },
  {
    name: 'Patan Dental Care',
    timezone: 'Asia/Kathmandu',
    currency: 'NPR',
    doctors: [
      {
        external_id: 'd1',
        full_name: 'Dr. Anita Pradhan',
        specialty: 'Dentistry',
        hours: 'mon-fri 10:00-17:00; sun 10:00-17:00',
      },
      {
        external_id: 'd2',
        full_name: 'Dr. Rajan KC',
        specialty: 'Orthodontics',
        hours: 'sun 10:00-14:00; wed 12:00-18:00',
      },
    ],
    patients: patients(seeded(2), KATHMANDU, 40),
  },
]

function patients(random: Random, place: Place, count: number): object[] {
  return Array.from({ length: count }, (_, index) => {
    const gender = random.pick(['female', 'male'])
    const first = random.pick(place.given[gender])
    const last = random.pick(place.family)
    const day = (low: number, high: number) => {
      const part = (value: number) => String(value).padStart(2, '0')
      return `${random.integer(low, high)}-${part(random.integer(1, 12))}-${part(random.integer(1, 28))}`
    }
    const mailbox = `${fold(first)}.${fold(last)}${index}`
    return {
      external_id: `p${index + 1}`,
      first_name: first,
      last_name: last,
      gender: random.chance(0.03) ? random.pick(['other', 'unknown']) : gender,
      date_of_birth: random.chance(0.95) ? day(1935, 2025) : null,
      phone_number: random.chance(0.92) ? place.phone(random) : null,
      email_address: random.chance(0.75) ? `${mailbox}@example.com` : null,
      created_at: `${day(2023, 2025)}T${String(random.integer(9, 17)).padStart(2, '0')}:${String(random.integer(10, 59))}:00${place.offset}`,
    }
  })
}
