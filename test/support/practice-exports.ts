/** Exports of other practice systems, as their users save them: believable rows, of which a few are truly wrong. */

import { type SeededRandom, seeded } from '../../bin/demo/random.ts'
import { encodeText } from './encode-text.ts'

/** A wrong text of a file, and what it should be. Each occurs once. */
export type Mistake = { readonly wrong: string; readonly right: string }

export type PracticeExport = {
  readonly map: string
  readonly encoding: string
  /** The last names of its patients. */
  readonly names: readonly string[]
  readonly files: readonly {
    readonly name: string
    readonly content: Buffer
    readonly rows: number
    readonly mistakes: readonly Mistake[]
  }[]
}

type Names = readonly [string, ...string[]]

/** How one system writes. */
type Style = {
  readonly map: string
  readonly encoding: string
  readonly delimiter: string
  readonly newline: string
  readonly first: Names
  readonly last: Names
  readonly date: (iso: string) => string
  readonly amount: (cents: number) => string
  readonly phone: (random: SeededRandom, n: number) => string
  readonly wrongPhone: (n: number) => Mistake
  readonly wrongDate: (n: number) => Mistake
  readonly headers: Readonly<
    Record<'doctors' | 'patients' | 'appointments' | 'invoices' | 'payments', readonly string[]>
  >
  /** The words for male and female; scheduled, completed, cancelled and missed; sent and paid; cash and card. */
  readonly words: {
    readonly genders: readonly [string, string]
    readonly appointment: (
      at: { date: string; start: string; end: string },
      status: number,
    ) => readonly string[]
    readonly invoice: readonly [string, string]
    readonly payment: readonly [string, string]
  }
  readonly id: (prefix: number, n: number) => string
}

const DAY_MS = 86_400_000
const isoDate = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const two = (value: number): string => String(value).padStart(2, '0')
const dotted = (iso: string): string =>
  iso
    .split('-')
    .reverse()
    .map((part, at) => (at < 2 ? String(Number(part)) : part))
    .join('.')
const commaAmount = (cents: number): string => {
  const [whole = '', rest = ''] = (cents / 100).toFixed(2).split('.')
  return `${whole.replace(/\B(?=(\d{3})+$)/g, '.')},${rest}`
}

const STATUSES = {
  german: ['geplant', 'erledigt', 'abgesagt', 'nicht erschienen'],
  turkish: ['planlandı', 'geldi', 'iptal', 'gelmedi'],
}

const GERMAN: Style = {
  map: 'german',
  encoding: 'windows-1252',
  delimiter: ';',
  newline: '\r\n',
  first: ['Jürgen', 'Käthe', 'Anna-Lena', 'Björn', 'Günther', 'Sören', 'Heike', 'Uwe', 'Zoë', 'Matthias'],
  last: ['Müller', 'Weiß', 'Schäfer', 'Groß', 'von der Heide', 'Öztürk', 'Krüger', 'Jäger', 'Lang', 'Böhm'],
  date: dotted,
  amount: commaAmount,
  phone: (random, n) =>
    random.pick([
      `0171 ${1_000_000 + n}`,
      `0049 30 ${2_000_000 + n}`,
      `(0151) ${20_000_000 + n}`,
      `+49 176 ${30_000_000 + n}`,
    ]),
  wrongPhone: (n) => ({ wrong: `siehe Akte ${n}`, right: `0171 ${5_000_000 + n}` }),
  wrongDate: (n) => ({ wrong: `31.2.19${60 + (n % 39)}`, right: `28.2.19${60 + (n % 39)}` }),
  headers: {
    doctors: ['Kürzel', 'Arzt', 'Fachrichtung'],
    patients: [
      'Patientennummer',
      'Anrede',
      'NACHNAME',
      'Vorname',
      'Geburtsdatum',
      'Geschlecht',
      'Mobil',
      'E-Mail',
      'Ort',
      'Angelegt am',
    ],
    appointments: [
      'Termin-Nr.',
      'Patientennummer',
      'Kürzel',
      'Datum',
      'Beginn',
      'Ende',
      'Status',
      'Bemerkung',
    ],
    invoices: ['Rechnungsnummer', 'Patientennummer', 'Rechnungsdatum', 'Netto', 'MwSt.', 'Brutto', 'Status'],
    payments: ['Beleg-Nr.', 'Rechnungsnummer', 'Betrag', 'Zahlungsart', 'Zahlungsdatum'],
  },
  words: {
    genders: ['männlich', 'weiblich'],
    appointment: ({ date, start, end }, status) => [
      dotted(date),
      start.replace(/^0/, ''),
      end,
      STATUSES.german[status] ?? '',
    ],
    invoice: ['offen', 'bezahlt'],
    payment: ['bar', 'EC-Karte'],
  },
  id: (prefix, n) => String(prefix * 100_000 + n),
}

const TURKISH: Style = {
  ...GERMAN,
  map: 'turkish',
  encoding: 'windows-1254',
  first: ['Ayşe', 'Çağla', 'İbrahim', 'Işıl', 'Gülşen', 'Oğuz', 'Şükrü', 'Ömer', 'Elif', 'Mehmet'],
  last: ['Yılmaz', 'Öztürk', 'Şahin', 'Çelik', 'Kılıç', 'Doğan', 'Güneş', 'Aydın', 'İnan', 'Kaya'],
  date: (iso) => iso.split('-').reverse().join('.'),
  phone: (random, n) =>
    random.pick([
      `0532 ${100 + (n % 900)} ${10 + (n % 90)} ${two(n % 100)}`,
      `5${30 + (n % 10)}${1_000_000 + n}`,
      `+90 (533) ${1_000_000 + n}`,
    ]),
  wrongPhone: (n) => ({ wrong: `yok ${n}`, right: `0532 ${1_000_000 + n}` }),
  wrongDate: (n) => ({ wrong: `30.02.19${60 + (n % 39)}`, right: `28.02.19${60 + (n % 39)}` }),
  headers: {
    doctors: ['Doktor Kodu', 'Ad Soyad', 'Branş'],
    patients: [
      'HASTA NO',
      'İlçe',
      'SOYADI',
      'ADI',
      'DOĞUM TARİHİ',
      'CİNSİYET',
      'Cep Telefonu',
      'E-posta',
      'Şehir',
      'Kayıt Tarihi',
    ],
    appointments: [
      'Randevu No',
      'Hasta No',
      'Doktor Kodu',
      'Tarih',
      'Başlangıç',
      'Bitiş',
      'Durum',
      'Açıklama',
    ],
    invoices: ['Fatura No', 'Hasta No', 'Fatura Tarihi', 'Tutar', 'KDV', 'Genel Toplam', 'Durum'],
    payments: ['Makbuz No', 'Fatura No', 'Tutar', 'Ödeme Şekli', 'Ödeme Tarihi'],
  },
  words: {
    genders: ['Erkek', 'Kadın'],
    appointment: ({ date, start, end }, status) => [dotted(date), start, end, STATUSES.turkish[status] ?? ''],
    invoice: ['Kesildi', 'Ödendi'],
    payment: ['Nakit', 'Kredi Kartı'],
  },
}

const monthName = (iso: string): string => {
  const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
  const [year, month, day] = iso.split('-')
  return `${Number(day)} ${months[Number(month) - 1]} ${year}`
}

const CLINIKO: Style = {
  ...GERMAN,
  map: 'cliniko',
  encoding: 'utf-8',
  delimiter: ',',
  newline: '\n',
  first: ['Chloe', 'Liam', "D'Arcy", 'Zoë', 'Noah', 'Mia', 'José', 'Anh', 'Ruby', 'Jack'],
  last: [
    "O'Neill",
    'Smith',
    'Nguyen',
    'van Dyk',
    'Müller',
    'Jones',
    'Papadopoulos',
    'Chen',
    'Brown',
    'Walsh',
  ],
  date: monthName,
  amount: (cents) => (cents / 100).toFixed(2),
  phone: (_random, n) => `+61 4${10_000_000 + n}`,
  wrongPhone: (n) => ({ wrong: `see notes ${n}`, right: `+61 4${50_000_000 + n}` }),
  wrongDate: (n) => ({ wrong: `30 Feb 19${60 + (n % 39)}`, right: `28 Feb 19${60 + (n % 39)}` }),
  headers: {
    doctors: ['Practitioner ID', 'Practitioner', 'Designation'],
    patients: [
      'Patient ID',
      'Title',
      'Last Name',
      'First Name',
      'Date Of Birth',
      'Gender',
      'Mobile',
      'Email',
      'City',
      'Created At',
      'Unapplied Account Credit',
    ],
    appointments: [
      'Appointment ID',
      'Patient ID',
      'Practitioner ID',
      'Appointment Start',
      'Appointment End',
      'Cancelled At',
      'Did Not Arrive',
      'Patient Arrived',
      'Notes',
    ],
    invoices: [
      'Invoice Number',
      'Patient ID',
      'Issue Date',
      'Net Amount',
      'Tax Amount',
      'Total Amount',
      'Status',
    ],
    payments: ['Payment Number', 'Invoice Number', 'Amount', 'Payment Type', 'Payment Date'],
  },
  words: {
    genders: ['Male', 'Female'],
    appointment: ({ date, start, end }, status) => [
      `${date} ${start}:00 +1000`,
      `${date} ${end}:00 +1000`,
      status === 2 ? `${date} 07:00:00 +1000` : '',
      status === 3 ? 'Yes' : 'No',
      status === 1 ? 'Yes' : 'No',
    ],
    invoice: ['Open', 'Closed'],
    payment: ['Cash', 'EFTPOS'],
  },
  // A formula makes Excel read long ids as text.
  id: (prefix, n) => `="${1_558_354_464_010_000_000n + BigInt(prefix * 1_000_000 + n)}"`,
}

/** One wrong row in so many. */
const MISTAKE_EVERY = 41

/** @param size Rows of all its files together, besides the doctors. */
export function practiceExports(size: number, now: number): PracticeExport[] {
  return [CLINIKO, TURKISH, GERMAN].map((style) => practiceExport(style, size, now))
}

function practiceExport(style: Style, size: number, now: number): PracticeExport {
  const random = seeded(20_260_501)
  const [patients, appointments, invoices] = [0.4, 0.3, 0.2].map((share) => Math.round(size * share)) as [
    number,
    number,
    number,
  ]
  const isWrong = (n: number) => n % MISTAKE_EVERY === MISTAKE_EVERY - 1
  const { id, date, amount, words } = style
  /** Records that are right from the beginning. */
  const anyOf = (count: number): number => {
    const n = random.integer(0, count - 1)
    return isWrong(n) ? n - 1 : n
  }
  const past = (days: number) => isoDate(now - random.integer(1, days) * DAY_MS)
  const doctors = table(style, 'doctors', 3, (n) => ({
    cells: [id(1, n), `Dr. ${style.first[n]} ${style.last[n]}`, 'Physio'],
  }))
  const total = (n: number) => 5000 + 119 * (n % 900)
  return {
    map: style.map,
    encoding: style.encoding,
    names: style.last,
    files: [
      doctors,
      table(style, 'patients', patients, (n) => {
        const mistake = isWrong(n) ? (n % 2 === 0 ? style.wrongPhone(n) : style.wrongDate(n)) : undefined
        const phone = style.phone(random, n)
        // A week apart: no two are one person by name and date of birth.
        const birth = date(isoDate(now - (n + 1) * 7 * DAY_MS))
        return {
          cells: [
            ...[id(2, n), 'x', random.pick(style.last), random.pick(style.first)],
            mistake && n % 2 === 1 ? mistake.wrong : birth,
            ...[
              words.genders[n % 2] ?? '',
              mistake && n % 2 === 0 ? mistake.wrong : n % 7 === 0 ? '' : phone,
            ],
            ...[n % 5 === 0 ? '' : `p${n}@example.com`, 'x', date(past(2000))],
            ...(style.map === 'cliniko' ? [''] : []),
          ],
          mistake,
        }
      }),
      table(style, 'appointments', appointments, (n) => {
        const hour = 8 + (n % 9)
        const status = [1, 1, 1, 2, 3][n % 5] ?? 1
        const at = { date: past(700), start: `${two(hour)}:00`, end: `${two(hour)}:30` }
        const mistake = isWrong(n) ? { wrong: id(2, 99_000 + n), right: id(2, anyOf(patients)) } : undefined
        const patient = mistake?.wrong ?? id(2, anyOf(patients))
        return {
          cells: [
            id(3, n),
            patient,
            id(1, n % 3),
            ...words.appointment(at, status),
            n % 4 === 0 ? `Line one; "quoted", ${n}` : '',
          ],
          mistake,
        }
      }),
      table(style, 'invoices', invoices, (n) => {
        const net = total(n)
        const mistake = isWrong(n) ? { wrong: `${amount(net + 1_000_000)}x`, right: amount(net) } : undefined
        return {
          cells: [
            `R-${n}`,
            id(2, anyOf(patients)),
            date(past(700)),
            mistake?.wrong ?? amount(net),
            amount(0),
            amount(net),
            words.invoice[n % 2] ?? '',
          ],
          mistake,
        }
      }),
      table(style, 'payments', Math.floor(invoices / 2), (n) => {
        const invoice = isWrong(2 * n + 1) ? 1 : 2 * n + 1
        return { cells: [`Z-${n}`, `R-${invoice}`, amount(100), words.payment[n % 2] ?? '', date(past(300))] }
      }),
    ],
  }
}

function table(
  style: Style,
  entity: keyof Style['headers'],
  count: number,
  row: (n: number) => { readonly cells: readonly string[]; readonly mistake?: Mistake | undefined },
) {
  const { delimiter, newline, encoding, headers } = style
  const rows = Array.from({ length: count }, (_, n) => row(n))
  const quoted = (cell: string) =>
    !cell.startsWith('="') && /[",;\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
  const lines = [headers[entity], ...rows.map(({ cells }) => cells)].map((cells) =>
    cells.map(quoted).join(delimiter),
  )
  return {
    name: `${entity}.csv`,
    content:
      encoding === 'utf-8'
        ? Buffer.from(`${lines.join(newline)}${newline}`)
        : encodeText(`${lines.join(newline)}${newline}`, encoding),
    rows: count,
    mistakes: rows.flatMap(({ mistake }) => (mistake ? [mistake] : [])),
  }
}
