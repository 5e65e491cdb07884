/** The clinics' services. Prices are in minor units: kuruş and paisa. */

/** `quantities` defaults to one; `tax` is in percent. */
export type PricedService = {
  readonly name: string
  readonly price: number
  readonly tax: number
  readonly quantities?: [number, ...number[]]
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
      { name: 'Consultation', price: 185_000, tax: 10 },
      { name: 'Follow-up consultation', price: 95_000, tax: 10 },
    ],
    extras: [
      { name: 'Complete blood count', price: 42_050, tax: 10 },
      { name: 'Electrocardiogram', price: 78_000, tax: 10 },
      { name: 'Vitamin B12 injection, per ml', price: 9_640, tax: 10, quantities: [1, 1.5, 2] },
      { name: 'Wound dressing', price: 31_000, tax: 10, quantities: [1, 1, 2, 3] },
      { name: 'Medical report', price: 15_000, tax: 20 },
    ],
  },
  Paediatrics: {
    appointments: [
      { name: 'Paediatric consultation', price: 210_000, tax: 10 },
      { name: 'Growth check', price: 125_000, tax: 10 },
    ],
    extras: [
      { name: 'Influenza vaccine', price: 64_990, tax: 10 },
      { name: 'Hearing test', price: 55_000, tax: 10 },
      { name: 'Throat culture', price: 28_775, tax: 10 },
      { name: 'School health certificate', price: 12_500, tax: 20 },
    ],
  },
  Dermatology: {
    appointments: [
      { name: 'Dermatological consultation', price: 240_000, tax: 10 },
      { name: 'Mole check', price: 160_000, tax: 10 },
    ],
    extras: [
      { name: 'Cryotherapy, per lesion', price: 37_500, tax: 10, quantities: [1, 2, 3, 5] },
      { name: 'Skin biopsy', price: 189_900, tax: 10 },
      { name: 'Chemical peel', price: 275_000, tax: 20 },
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
      { name: 'Dental check-up', price: 80_000, tax: 0 },
      { name: 'Dental consultation with X-ray', price: 145_000, tax: 0 },
    ],
    extras: [
      { name: 'Composite filling', price: 225_000, tax: 0, quantities: [1, 1, 2] },
      { name: 'Scaling and polishing', price: 150_000, tax: 0 },
      { name: 'Root canal treatment, per session', price: 612_550, tax: 0, quantities: [1, 0.5] },
      { name: 'Tooth whitening', price: 950_000, tax: 13 },
      { name: 'Fluoride varnish', price: 60_075, tax: 0 },
    ],
  },
  Orthodontics: {
    appointments: [
      { name: 'Orthodontic review', price: 120_000, tax: 0 },
      { name: 'Brace adjustment', price: 180_000, tax: 0 },
    ],
    extras: [
      { name: 'Bracket', price: 45_025, tax: 13, quantities: [1, 2, 4] },
      { name: 'Retainer', price: 550_000, tax: 13 },
      { name: 'Arch wire, per 10 cm', price: 30_000, tax: 13, quantities: [1.2, 1.4, 2.75] },
    ],
  },
}
