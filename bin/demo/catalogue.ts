/** The catalogues of the demo clinics: rows of the importer's departments, rooms, treatments and price lists. */
import { renderMoney } from '../../shared/domain/money/money.ts'
import { bySpecialty, type DemoDoctor } from './practice.ts'
import type { PriceList } from './price-lists.ts'

type DemoDepartment = { readonly external_id: string; readonly name: string; readonly is_active?: boolean }

type DemoRoom = {
  readonly external_id: string
  readonly name: string
  readonly department_external_id: string | null
  readonly is_active?: boolean
}

type DemoTreatment = {
  readonly external_id: string
  readonly name: string
  readonly code: string
  readonly description: string | null
  readonly duration_minutes: number
  readonly price: number
  readonly doctor_external_ids: readonly string[]
  readonly is_active: boolean
}

type DemoPriceList = {
  readonly external_id: string
  readonly name: string
  readonly is_default: boolean
  readonly valid_from: string | null
  readonly valid_to: string | null
  readonly items: readonly { readonly treatment_external_id: string; readonly price: number }[]
}

/** The catalogue of a clinic, by the names of its import files. */
export type DemoCatalogue = {
  readonly departments: readonly DemoDepartment[]
  readonly rooms: readonly DemoRoom[]
  readonly treatments: readonly DemoTreatment[]
  readonly 'price-lists': readonly DemoPriceList[]
}

/** A service that patients make an appointment for. */
type Bookable = {
  readonly code: string
  readonly minutes: number
  readonly description?: string
  readonly isActive?: false
}

/** By the name of the service in the clinics' prices. */
const BOOKABLE: Readonly<Record<string, Bookable>> = {
  Consultation: { code: 'GP-01', minutes: 30 },
  'Follow-up consultation': {
    code: 'GP-02',
    minutes: 15,
    description: 'Within 30 days of a consultation.',
  },
  Electrocardiogram: { code: 'GP-11', minutes: 15, description: 'At rest, with 12 leads.' },
  'Wound dressing': { code: 'GP-12', minutes: 15 },
  'Paediatric consultation': { code: 'PD-01', minutes: 30 },
  'Growth check': { code: 'PD-02', minutes: 15, description: 'Weight, height and head circumference.' },
  'Influenza vaccine': { code: 'PD-11', minutes: 15, description: 'From October to March.' },
  'Hearing test': { code: 'PD-12', minutes: 15 },
  'Dermatological consultation': { code: 'DE-01', minutes: 30 },
  'Mole check': { code: 'DE-02', minutes: 15, description: 'With a dermatoscope, of the whole body.' },
  'Skin biopsy': { code: 'DE-11', minutes: 45 },
  'Chemical peel': { code: 'DE-12', minutes: 45, isActive: false },
  'Dental check-up': { code: 'D01', minutes: 30 },
  'Dental consultation with X-ray': { code: 'D02', minutes: 45, description: 'With a panoramic X-ray.' },
  'Composite filling': { code: 'D11', minutes: 45, description: 'One tooth.' },
  'Scaling and polishing': { code: 'D12', minutes: 30 },
  'Root canal treatment, per session': { code: 'D13', minutes: 60 },
  'Tooth whitening': { code: 'D14', minutes: 60, isActive: false },
  'Orthodontic review': { code: 'O01', minutes: 30 },
  'Brace adjustment': { code: 'O02', minutes: 45 },
}

/** The parts of a catalogue that differ by clinic, besides doctors and prices. */
export type ClinicOffer = {
  readonly departments: readonly DemoDepartment[]
  readonly rooms: readonly DemoRoom[]
  /** The name of the price list for patients whose insurance has agreed on lower prices. */
  readonly insurance: string
}

type Offer = ClinicOffer & {
  readonly doctors: readonly DemoDoctor[]
  readonly prices: PriceList
  readonly currency: string
  /** The year of the agreed prices. */
  readonly year: string
}

/** The agreed price, in percent of the treatment's price. */
const INSURED_PERCENT = 80

/** The catalogue of a clinic: a treatment for each of its services that can be booked, at its price. */
export function catalogueOf({
  departments,
  rooms,
  doctors,
  prices,
  currency,
  year,
  insurance,
}: Offer): DemoCatalogue {
  const services = Object.entries(prices).flatMap(([specialty, { appointments, extras }]) =>
    [...appointments, ...extras].flatMap(({ name, price }) => {
      const bookable = BOOKABLE[name]
      return bookable ? [{ name, price, ...bookable, specialty }] : []
    }),
  )
  const money = (minor: number) => renderMoney(minor, currency)
  const offeredBy = (specialty: string) =>
    doctors.filter(
      (doctor) => doctor.is_active !== false && bySpecialty(prices, doctor) === prices[specialty],
    )
  return {
    departments,
    rooms,
    treatments: services.map(
      ({ name, code, minutes, description = null, isActive = true, price, specialty }) => ({
        external_id: code,
        name,
        code,
        description,
        duration_minutes: minutes,
        price: money(price),
        doctor_external_ids: offeredBy(specialty).map(({ external_id }) => external_id),
        is_active: isActive,
      }),
    ),
    'price-lists': [
      {
        external_id: 'private',
        name: 'Private patients',
        is_default: true,
        valid_from: null,
        valid_to: null,
        items: services.map(({ code, price }) => ({ treatment_external_id: code, price: money(price) })),
      },
      {
        external_id: 'insurance',
        name: insurance,
        is_default: false,
        valid_from: `${year}-01-01`,
        valid_to: `${year}-12-31`,
        items: services
          .filter(({ isActive }) => isActive !== false)
          .map(({ code, price }) => ({
            treatment_external_id: code,
            price: money(Math.round((price * INSURED_PERCENT) / 100)),
          })),
      },
    ],
  }
}

export const BOSPHORUS: ClinicOffer = {
  departments: [
    { external_id: 'gp', name: 'General practice' },
    { external_id: 'pd', name: 'Paediatrics' },
    { external_id: 'de', name: 'Dermatology' },
    { external_id: 'ph', name: 'Physiotherapy', is_active: false },
  ],
  rooms: [
    { external_id: 'r1', name: 'Consulting room 1', department_external_id: 'gp' },
    { external_id: 'r2', name: 'Consulting room 2', department_external_id: 'pd' },
    { external_id: 'r3', name: 'Treatment room', department_external_id: 'de' },
    { external_id: 'r4', name: 'ECG room', department_external_id: null },
    { external_id: 'r5', name: 'Exercise room', department_external_id: 'ph', is_active: false },
  ],
  insurance: 'Supplementary health insurance',
}

export const PATAN: ClinicOffer = {
  departments: [
    { external_id: 'd', name: 'Dentistry' },
    { external_id: 'o', name: 'Orthodontics' },
  ],
  rooms: [
    { external_id: 'r1', name: 'Surgery 1', department_external_id: 'd' },
    { external_id: 'r2', name: 'Surgery 2', department_external_id: 'o' },
    { external_id: 'r3', name: 'X-ray room', department_external_id: null },
  ],
  insurance: 'Staff of Patan Hospital',
}
