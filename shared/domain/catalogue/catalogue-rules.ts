/** New and changed records of the catalogue: requests, imports and commands follow the same rules. */
import {
  type CatalogueKind,
  type Department,
  departmentProblems,
  type FieldProblem,
  type PriceList,
  type Problem,
  priceListProblems,
  type Room,
  type Treatment,
  treatmentProblems,
} from '../booking/catalogue.ts'
import { checkMoney } from '../money/money.ts'

/** New values of some fields. An undefined one stays as it is; a new record gets its default. */
type Some<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined }

/** An amount in units of the currency, which is the clinic's if it is null. */
type Amount = number | string
type InUnits<Entry, Amounts> = Omit<Entry, 'currency' | keyof Amounts> &
  Amounts & { readonly currency: string | null }

type TreatmentInUnits = InUnits<Treatment, { price: Amount }>
type PriceListInUnits = InUnits<PriceList, { items: readonly { treatmentId: string; price: Amount }[] }>

/** The values are not those of a record that the clinic can have. */
export class InvalidEntry extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[]) {
    super(problems.map(({ field, issue }) => `${field} ${issue}`).join('; '))
    this.problems = problems
  }
}

/** What tells one kind of records from the others. */
export type CatalogueRules<Entry, Values> = {
  readonly kind: CatalogueKind
  /**
   * A new record, or a changed one.
   * @param currency the clinic's
   * @throws InvalidEntry
   */
  readonly apply: (values: Values, before: Entry | null, id: string, currency: string) => Entry
  /** Ids of the records of another kind that it refers to. */
  readonly references: (entry: Entry) => readonly string[]
  /** @param known the ids of what it may refer to */
  readonly problems: (
    entry: Entry,
    entries: Iterable<Entry>,
    known: { readonly has: (id: string) => boolean },
  ) => FieldProblem<Entry>[]
  /** Another record, which gives up to it what only one can have. */
  readonly displace?: (entry: Entry, other: Entry) => Entry
}

/** Requests and files have all values of a new record but those of `initial`. */
function withValues<Entry>(
  initial: Partial<Entry>,
  values: Some<Entry>,
  before: Entry | null,
  id: string,
): Entry {
  const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
  return { ...initial, ...before, ...given, id } as Entry
}

export const DEPARTMENT_RULES: CatalogueRules<Department, Some<Department>> = {
  kind: 'department',
  apply: (values, before, id) => withValues({ isActive: true }, values, before, id),
  references: () => [],
  problems: () => [],
}

export const ROOM_RULES: CatalogueRules<Room, Some<Room>> = {
  kind: 'room',
  apply: (values, before, id) => withValues({ departmentId: null, isActive: true }, values, before, id),
  references: ({ departmentId }) => (departmentId === null ? [] : [departmentId]),
  problems: (room, _, departments) => departmentProblems(room, departments),
}

export const TREATMENT_RULES: CatalogueRules<Treatment, Some<TreatmentInUnits>> = {
  kind: 'treatment',
  apply: ({ price, currency: given, ...values }, before, id, clinicCurrency) => {
    const currency = currencyAfter(given, before, clinicCurrency)
    if (price === undefined && currency !== before?.currency)
      throw new InvalidEntry([{ field: 'price', issue: 'must be given in the new currency' }])
    const [units] = price === undefined ? [] : unitsOf([['price', price]], currency)
    const initial = { code: null, description: null, doctorIds: [], isActive: true }
    return withValues(initial, { ...values, currency, price: units }, before, id)
  },
  references: ({ doctorIds }) => doctorIds,
  problems: treatmentProblems,
}

export const PRICE_LIST_RULES: CatalogueRules<PriceList, Some<PriceListInUnits>> = {
  kind: 'price list',
  apply: ({ items, currency: given, ...values }, before, id, clinicCurrency) => {
    const currency = currencyAfter(given, before, clinicCurrency)
    if (items === undefined && before && before.items.length > 0 && currency !== before.currency)
      throw new InvalidEntry([{ field: 'items', issue: 'must have the prices in the new currency' }])
    const units = unitsOf(items?.map(({ price }, at) => [`items.${at}.price`, price]) ?? [], currency)
    const prices = items?.map(({ treatmentId }, at) => ({ treatmentId, price: units[at] ?? 0 }))
    const initial = { isDefault: false, validFrom: null, validTo: null, items: [] }
    return withValues(initial, { ...values, currency, items: prices }, before, id)
  },
  references: ({ items }) => items.map(({ treatmentId }) => treatmentId),
  problems: priceListProblems,
  displace: ({ id, isDefault }, other) =>
    isDefault && other.isDefault && other.id !== id ? { ...other, isDefault: false } : other,
}

/** The currency that is given, else the record's, else the clinic's. */
const currencyAfter = (
  given: string | null | undefined,
  before: { readonly currency: string } | null,
  clinicCurrency: string,
): string => (given === undefined ? before?.currency : given) ?? clinicCurrency

/** Amounts in minor units. @throws InvalidEntry that names the fields of all that are none */
function unitsOf(amounts: readonly (readonly [field: string, amount: Amount])[], currency: string): number[] {
  const checked = amounts.map(([field, amount]) => ({ field, ...checkMoney(amount, currency) }))
  const problems = checked.flatMap((one) => ('issue' in one ? [{ field: one.field, issue: one.issue }] : []))
  if (problems.length > 0) throw new InvalidEntry(problems)
  return checked.flatMap((one) => ('units' in one ? [one.units] : []))
}
