import { fold } from '../../shared/domain/patients/search-text.ts'
import { digits, type SeededRandom } from './random.ts'

/** A row of the importer's patients. */
export type DemoPatient = {
  readonly external_id: string
  readonly first_name: string
  readonly last_name: string
  readonly gender: string
  readonly date_of_birth: string | null
  readonly phone_number: string | null
  readonly email_address: string | null
  readonly created_at: string
}

/** Names and phone prefixes of a place. */
export type Region = {
  readonly given: Record<'female' | 'male', [string, ...string[]]>
  readonly family: [string, ...string[]]
  readonly phone: (random: SeededRandom) => string
  /** UTC offset, the same all year. */
  readonly offset: string
}

export const ISTANBUL: Region = {
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

export const KATHMANDU: Region = {
  given: {
    female: ['Sita', 'Maya', 'Asmita', 'Kabita', 'Nirmala', 'Puja'],
    male: ['Bikash', 'Suresh', 'Prakash', 'Dipesh', 'Nabin', 'Tenzing'],
  },
  family: ['Shrestha', 'Gurung', 'Tamang', 'Rai', 'Thapa', 'Sherpa', 'Adhikari'],
  phone: (random) => `+97798${random.pick(['0', '1', '2', '4', '5', '6', '8'])}${digits(random, 7)}`,
  offset: '+05:45',
}

/** The people of a clinic. They do not depend on the day. */
export function patients(random: SeededRandom, region: Region, count: number): DemoPatient[] {
  return Array.from({ length: count }, (_, index) => {
    const gender = random.pick(['female', 'male'])
    const first = random.pick(region.given[gender])
    const last = random.pick(region.family)
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
      phone_number: random.chance(0.92) ? region.phone(random) : null,
      email_address: random.chance(0.75) ? `${mailbox}@example.com` : null,
      created_at: `${day(2023, 2025)}T${String(random.integer(9, 17)).padStart(2, '0')}:${String(random.integer(10, 59))}:00${region.offset}`,
    }
  })
}
