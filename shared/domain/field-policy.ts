/**
 * Field policies: whether a field survives erasure, and whether its change is an event. Each entity lists one per field with
 * its type (`PATIENT_FIELDS satisfies FieldPolicies<Patient>`), so a field without a policy does not compile.
 */

/** The policy of a field that holds a single value. `Parent` is the object that holds the field. */
export type ValuePolicy<Value, Parent> = {
  /** The value after its patient is erased. */
  readonly erasure:
    | 'keep'
    | { readonly replacement: Value }
    | { readonly replacementFor: (parent: Parent) => Value }
  /** Whether a change of this value alone makes an event of the record. */
  readonly emitsEvent: boolean
}

/** Nested objects and lists have a policy for each of their own fields. */
export type FieldPolicy<Value, Parent> = [NonNullable<Value>] extends [readonly (infer Element)[]]
  ? { readonly each: FieldPolicies<Element> }
  : [NonNullable<Value>] extends [object]
    ? { readonly fields: FieldPolicies<NonNullable<Value>> }
    : ValuePolicy<Value, Parent>

export type FieldPolicies<Entity> = {
  readonly [Name in keyof Entity]-?: FieldPolicy<Entity[Name], Entity>
}

/** Says nothing about the patient: it survives erasure. */
export const KEEP = { erasure: 'keep', emitsEvent: true } as const

/** Survives erasure; no integrator needs to know that it changed. */
export const KEEP_SILENTLY = { erasure: 'keep', emitsEvent: false } as const

/** Personal data: replaced when the patient is erased. */
export const eraseTo = <const Value>(replacement: Value) =>
  ({ erasure: { replacement }, emitsEvent: true }) as const

/** Personal data whose replacement depends on the object that holds it. */
export const eraseBy = <Value, Parent>(replacementFor: (parent: Parent) => Value) =>
  ({ erasure: { replacementFor }, emitsEvent: true }) as const

/** A copy of another record's field: the other record makes the event of its change. */
export const copied = <Policy extends { readonly emitsEvent: boolean }>(policy: Policy) => ({
  ...policy,
  emitsEvent: false,
})

/** The policies without their types, to walk through them. */
type AnyPolicy =
  | ValuePolicy<unknown, never>
  | { readonly fields: AnyPolicies }
  | { readonly each: AnyPolicies }
type AnyPolicies = Readonly<Record<string, AnyPolicy>>
type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null

/** The record as it remains once its patient is erased. Properties without a policy stay as they are. */
export const eraseFields = <Entity extends Fields>(record: Entity, policies: FieldPolicies<Entity>): Entity =>
  erased(record, policies as AnyPolicies) as Entity

const erased = (record: Fields, policies: AnyPolicies): Fields => ({
  ...record,
  // What a later release has stored, under a symbol, may be personal data.
  ...Object.fromEntries(Object.getOwnPropertySymbols(record).map((name) => [name, undefined])),
  ...Object.fromEntries(
    Object.entries(policies).map(([name, policy]) => [name, erasedValue(record[name], policy, record)]),
  ),
})

function erasedValue(value: unknown, policy: AnyPolicy, parent: Fields): unknown {
  if ('erasure' in policy) {
    const { erasure } = policy
    if (erasure === 'keep') return value
    return 'replacement' in erasure ? erasure.replacement : erasure.replacementFor(parent as never)
  }
  if ('each' in policy)
    return Array.isArray(value) ? value.map((element) => erased(element, policy.each)) : value
  return isFields(value) ? erased(value, policy.fields) : value
}

/** Whether two states of a record differ in no field that makes an event. */
export const hasSameEventFields = <Entity extends Fields>(
  before: Entity,
  after: Entity,
  policies: FieldPolicies<Entity>,
): boolean => areSame(before, after, policies as AnyPolicies)

const areSame = (before: Fields, after: Fields, policies: AnyPolicies): boolean =>
  Object.entries(policies).every(([name, policy]) => isSameValue(before[name], after[name], policy))

function isSameValue(before: unknown, after: unknown, policy: AnyPolicy): boolean {
  if ('erasure' in policy) return !policy.emitsEvent || before === after
  if ('each' in policy)
    return Array.isArray(before) && Array.isArray(after)
      ? before.length === after.length &&
          before.every((element, index) => areSame(element, after[index], policy.each))
      : before === after
  return isFields(before) && isFields(after) ? areSame(before, after, policy.fields) : before === after
}
