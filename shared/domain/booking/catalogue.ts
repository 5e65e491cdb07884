/** The catalogue of a clinic: departments, rooms, treatments and price lists. */
import { MAX_ACTIVE_DOCTORS } from './doctor.ts'

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
  /** The price in minor units of the currency. */
  readonly price: number
  readonly currency: string
  /** The doctors who offer it. */
  readonly doctorIds: readonly string[]
  readonly isActive: boolean
}

/** The price of a treatment in minor units of the list's currency. */
export type ListedPrice = { readonly treatmentId: string; readonly price: number }

/** Prices that replace the prices of treatments, for example for members of an insurance. */
export type PriceList = {
  readonly id: string
  readonly name: string
  readonly currency: string
  /** At most one price list of a clinic is its default. */
  readonly isDefault: boolean
  /** Clinic-local dates `Y-m-d`, both inclusive; null for no limit. */
  readonly validFrom: string | null
  readonly validTo: string | null
  /** The prices, at most one for each treatment. */
  readonly items: readonly ListedPrice[]
}

/** The most records of one clinic. Each list is read as a whole. */
export const MAX_CATALOGUE = { department: 200, room: 200, treatment: 1000, 'price list': 200 } as const

export type CatalogueKind = keyof typeof MAX_CATALOGUE

/** The most prices in all price lists of a clinic together, so that a page of price lists fits into a response. */
const MAX_LISTED_PRICES = 20_000

/** A problem with one field of a record. The text quotes no value. */
export type FieldProblem<Entry> = Problem & { readonly field: keyof Entry & string }

/** A problem with one field, of a record of any kind. */
export type Problem = {
  readonly field: string
  readonly issue: string
  /** The kind of a record that the field refers to, and that the clinic does not have. */
  readonly unknown?: 'department' | 'doctor' | 'treatment'
}

const missing = <Field extends string>(
  field: Field,
  issue: string,
  unknown: NonNullable<Problem['unknown']>,
) => ({
  field,
  issue: `${issue}: the clinic has no such ${unknown}`,
  unknown,
})

type Ids = { readonly has: (id: string) => boolean }

/** Problems with the department of a room or doctor. */
export const departmentProblems = (
  { departmentId }: Pick<Room, 'departmentId'>,
  departments: Ids,
): FieldProblem<Pick<Room, 'departmentId'>>[] =>
  departmentId === null || departments.has(departmentId)
    ? []
    : [missing('departmentId', 'is unknown', 'department')]

/** Problems with a treatment, compared with the treatments of its clinic, which may include it. */
export function treatmentProblems(
  { id, code, doctorIds }: Treatment,
  treatments: Iterable<Treatment>,
  doctors: Ids,
): FieldProblem<Treatment>[] {
  const problems: FieldProblem<Treatment>[] = []
  const isTaken = code !== null && [...treatments].some((other) => other.id !== id && other.code === code)
  if (isTaken) problems.push({ field: 'code', issue: 'is already the code of another treatment' })
  if (!doctorIds.every((doctor) => doctors.has(doctor)))
    problems.push(missing('doctorIds', 'has an unknown doctor', 'doctor'))
  if (new Set(doctorIds).size < doctorIds.length)
    problems.push({ field: 'doctorIds', issue: 'has a doctor twice' })
  if (doctorIds.length > MAX_ACTIVE_DOCTORS)
    problems.push({ field: 'doctorIds', issue: `must have at most ${MAX_ACTIVE_DOCTORS} doctors` })
  return problems
}

/** Problems with a price list, compared with the price lists of its clinic, which may include it. */
export function priceListProblems(
  { id, isDefault, validFrom, validTo, items }: PriceList,
  priceLists: Iterable<PriceList>,
  treatments: Ids,
): FieldProblem<PriceList>[] {
  const problems: FieldProblem<PriceList>[] = []
  const others = [...priceLists].filter((other) => other.id !== id)
  if (isDefault && others.some((other) => other.isDefault))
    problems.push({ field: 'isDefault', issue: 'is already true for another price list' })
  if (validFrom !== null && validTo !== null && validFrom > validTo)
    problems.push({ field: 'validTo', issue: 'must not be before the first day' })
  if (!items.every(({ treatmentId }) => treatments.has(treatmentId)))
    problems.push(missing('items', 'has an unknown treatment', 'treatment'))
  if (new Set(items.map(({ treatmentId }) => treatmentId)).size < items.length)
    problems.push({ field: 'items', issue: 'has a treatment twice' })
  const prices = others.reduce((sum, other) => sum + other.items.length, items.length)
  if (prices > MAX_LISTED_PRICES)
    problems.push({
      field: 'items',
      issue: `must have fewer prices: all price lists have at most ${MAX_LISTED_PRICES} together`,
    })
  return problems
}
