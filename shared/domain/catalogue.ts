/** What a clinic offers, and where: its departments, rooms, treatments and price lists. Only the operator changes it. */

export type Department = {
  readonly id: string
  readonly name: string
  readonly isActive: boolean
}

/** A room that appointments can take place in. */
export type Room = {
  readonly id: string
  readonly name: string
  readonly departmentId: string | null
  readonly isActive: boolean
}

export type Treatment = {
  readonly id: string
  readonly name: string
  /** The clinic's own code. No two treatments of a clinic have the same. */
  readonly code: string | null
  readonly description: string | null
  /** How long it takes. */
  readonly minutes: number
  /** In minor units of the currency. */
  readonly price: number
  readonly currency: string
  /** The doctors who offer it. */
  readonly doctorIds: readonly string[]
  readonly isActive: boolean
}

/** The price of a treatment in minor units of the list's currency. */
export type ListedPrice = { readonly treatmentId: string; readonly price: number }

/** Prices that take the place of those of the treatments, for example for members of an insurance. */
export type PriceList = {
  readonly id: string
  readonly name: string
  readonly currency: string
  /** At most one price list of a clinic is its default. */
  readonly isDefault: boolean
  /** Clinic-local dates `Y-m-d`, both inclusive; null for no limit. */
  readonly validFrom: string | null
  readonly validTo: string | null
  /** At most one for each treatment. */
  readonly items: readonly ListedPrice[]
}
