/** The clinics' services. Prices are in minor units: kuruş and paisa. */

/** `quantities` defaults to one; `tax` is in percent. A service with a code is a treatment of the catalogue. */
export type PricedService = {
  readonly name: string
  readonly price: number
  readonly tax: number
  readonly quantities?: [number, ...number[]]
  readonly code?: string
  readonly minutes?: number
  readonly description?: string
  readonly isActive?: false
}

/** By specialty: services for the appointment itself, and optional extras. */
export type PriceList = Readonly<
  Record<
    string,
    { readonly appointments: [PricedService, ...PricedService[]]; readonly extras: readonly PricedService[] }
  >
>

export const TRY_PRICES: PriceList = {
  '': {
    appointments: [
      { name: 'Consultation', price: 185_000, tax: 10, code: 'GP-01', minutes: 30 },
      {
        name: 'Follow-up consultation',
        price: 95_000,
        tax: 10,
        code: 'GP-02',
        minutes: 15,
        description: 'Within 30 days of a consultation.',
      },
    ],
    extras: [
      { name: 'Complete blood count', price: 42_050, tax: 10 },
      {
        name: 'Electrocardiogram',
        price: 78_000,
        tax: 10,
        code: 'GP-11',
        minutes: 15,
        description: 'At rest, with 12 leads.',
      },
      { name: 'Vitamin B12 injection, per ml', price: 9_640, tax: 10, quantities: [1, 1.5, 2] },
      {
        name: 'Wound dressing',
        price: 31_000,
        tax: 10,
        quantities: [1, 1, 2, 3],
        code: 'GP-12',
        minutes: 15,
      },
      { name: 'Medical report', price: 15_000, tax: 20 },
    ],
  },
  Paediatrics: {
    appointments: [
      { name: 'Paediatric consultation', price: 210_000, tax: 10, code: 'PD-01', minutes: 30 },
      {
        name: 'Growth check',
        price: 125_000,
        tax: 10,
        code: 'PD-02',
        minutes: 15,
        description: 'Weight, height and head circumference.',
      },
    ],
    extras: [
      {
        name: 'Influenza vaccine',
        price: 64_990,
        tax: 10,
        code: 'PD-11',
        minutes: 15,
        description: 'From October to March.',
      },
      { name: 'Hearing test', price: 55_000, tax: 10, code: 'PD-12', minutes: 15 },
      { name: 'Throat culture', price: 28_775, tax: 10 },
      { name: 'School health certificate', price: 12_500, tax: 20 },
    ],
  },
  Dermatology: {
    appointments: [
      { name: 'Dermatological consultation', price: 240_000, tax: 10, code: 'DE-01', minutes: 30 },
      {
        name: 'Mole check',
        price: 160_000,
        tax: 10,
        code: 'DE-02',
        minutes: 15,
        description: 'With a dermatoscope, of the whole body.',
      },
    ],
    extras: [
      { name: 'Cryotherapy, per lesion', price: 37_500, tax: 10, quantities: [1, 2, 3, 5] },
      { name: 'Skin biopsy', price: 189_900, tax: 10, code: 'DE-11', minutes: 45 },
      { name: 'Chemical peel', price: 275_000, tax: 20, code: 'DE-12', minutes: 45, isActive: false },
      {
        name: 'Ointment made to prescription, per 100 g',
        price: 22_345,
        tax: 10,
        quantities: [0.5, 1, 1.25],
      },
    ],
  },
}

export const NPR_PRICES: PriceList = {
  '': {
    appointments: [
      { name: 'Dental check-up', price: 80_000, tax: 0, code: 'D01', minutes: 30 },
      {
        name: 'Dental consultation with X-ray',
        price: 145_000,
        tax: 0,
        code: 'D02',
        minutes: 45,
        description: 'With a panoramic X-ray.',
      },
    ],
    extras: [
      {
        name: 'Composite filling',
        price: 225_000,
        tax: 0,
        quantities: [1, 1, 2],
        code: 'D11',
        minutes: 45,
        description: 'One tooth.',
      },
      { name: 'Scaling and polishing', price: 150_000, tax: 0, code: 'D12', minutes: 30 },
      {
        name: 'Root canal treatment, per session',
        price: 612_550,
        tax: 0,
        quantities: [1, 0.5],
        code: 'D13',
        minutes: 60,
      },
      { name: 'Tooth whitening', price: 950_000, tax: 13, code: 'D14', minutes: 60, isActive: false },
      { name: 'Fluoride varnish', price: 60_075, tax: 0 },
    ],
  },
  Orthodontics: {
    appointments: [
      { name: 'Orthodontic review', price: 120_000, tax: 0, code: 'O01', minutes: 30 },
      { name: 'Brace adjustment', price: 180_000, tax: 0, code: 'O02', minutes: 45 },
    ],
    extras: [
      { name: 'Bracket', price: 45_025, tax: 13, quantities: [1, 2, 4] },
      { name: 'Retainer', price: 550_000, tax: 13 },
      { name: 'Arch wire, per 10 cm', price: 30_000, tax: 13, quantities: [1.2, 1.4, 2.75] },
    ],
  },
}
