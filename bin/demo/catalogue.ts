/** The catalogues of the demo clinics: rows of the importer's departments, rooms, treatments and price lists. */
import { renderMoney } from '../../shared/domain/money/money.ts'
import { bySpecialty, type DemoDoctor } from './practice.ts'
import type { PriceList } from './price-lists.ts'

/** The parts of a catalogue that differ by clinic, besides doctors and prices. */
export type ClinicOffer = {
  readonly departments: readonly {
    readonly external_id: string
    readonly name: string
    readonly is_active?: false
  }[]
  readonly rooms: readonly {
    readonly external_id: string
    readonly name: string
    readonly department_external_id: string | null
    readonly is_active?: false
  }[]
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
export function catalogueOf({ departments, rooms, doctors, prices, currency, year, insurance }: Offer) {
  const services = Object.entries(prices).flatMap(([specialty, { appointments, extras }]) =>
    [...appointments, ...extras]
      .filter(({ code }) => code !== undefined)
      .map((service) => ({ ...service, specialty })),
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
