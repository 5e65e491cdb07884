import { describe, expect, it } from 'vitest'
import { APPOINTMENT_FIELDS, type Appointment } from '../../../shared/domain/booking/appointment.ts'
import {
  copied,
  eraseBy,
  eraseFields,
  eraseTo,
  type FieldPolicies,
  hasSameEventFields,
  KEEP,
  KEEP_SILENTLY,
} from '../../../shared/domain/field-policy.ts'
import { MESSAGE_FIELDS, type Message } from '../../../shared/domain/messages/message.ts'
import { INVOICE_FIELDS, type Invoice, LINE_ITEM_FIELDS } from '../../../shared/domain/money/invoice.ts'
import { PAYMENT_FIELDS, type Payment } from '../../../shared/domain/money/payment.ts'
import { PATIENT_FIELDS, type Patient } from '../../../shared/domain/patients/patient.ts'

type SampleRecord = {
  readonly id: string
  readonly reason: string | null
  readonly label: string
  readonly viewedAt: string
  readonly person: { readonly id: string; readonly name: string } | null
  readonly items: readonly { readonly id: string; readonly text: string }[]
}

const RECORD_FIELDS = {
  id: KEEP,
  reason: eraseTo(null),
  label: eraseBy(({ id }: { readonly id: string }) => `erased-${id}`),
  viewedAt: KEEP_SILENTLY,
  person: { fields: { id: KEEP, name: copied(eraseTo('Erased')) } },
  items: { each: { id: KEEP, text: eraseTo('') } },
} satisfies FieldPolicies<SampleRecord>

const items = (...texts: string[]) => texts.map((text, at) => ({ id: `i${at}`, text }))
const record: SampleRecord = {
  ...{ id: 'v1', reason: 'cough', label: 'Kaya, cough', viewedAt: '09:00' },
  person: { id: 'p1', name: 'Ada Kaya' },
  items: items('X-ray', 'Syrup'),
}

describe('eraseFields', () => {
  it('replaces personal data at every depth and keeps the rest', () => {
    expect(eraseFields(record, RECORD_FIELDS)).toEqual({
      ...{ id: 'v1', reason: null, label: 'erased-v1', viewedAt: '09:00' },
      person: { id: 'p1', name: 'Erased' },
      items: items('', ''),
    })
  })

  it('keeps a nested object that is null, and properties without a policy', () => {
    const stored = { ...record, person: null, version: 3 }
    expect(eraseFields<SampleRecord>(stored, RECORD_FIELDS)).toMatchObject({ person: null, version: 3 })
  })

  it('keeps a nested object that is missing', () => {
    const { person: _, ...stored } = record
    expect(eraseFields(stored as SampleRecord, RECORD_FIELDS).person).toBeUndefined()
  })

  it('changes nothing the second time', () => {
    const once = eraseFields(record, RECORD_FIELDS)
    expect(eraseFields(once, RECORD_FIELDS)).toEqual(once)
  })
})

describe('hasSameEventFields', () => {
  it.each<[string, Partial<SampleRecord>]>([
    ['a value that survives erasure', { id: 'v2' }],
    ['personal data', { reason: null }],
    ['the id of a nested object', { person: { id: 'p2', name: 'Ada Kaya' } }],
    ['a nested object that is gone', { person: null }],
    ['an element of a list', { items: items('X-ray', 'Drops') }],
    ['the length of a list', { items: items('X-ray') }],
  ])('returns false for a change of %s', (_, change) => {
    expect(hasSameEventFields(record, { ...record, ...change }, RECORD_FIELDS)).toBe(false)
  })

  it('returns true for a nested object that is null in both', () => {
    const alone: SampleRecord = { ...record, person: null }
    expect(hasSameEventFields(alone, { ...alone }, RECORD_FIELDS)).toBe(true)
  })

  it.each<[string, Partial<SampleRecord>]>([
    ['a silent field', { viewedAt: '10:00' }],
    ['a copied name', { person: { id: 'p1', name: 'Ada Demir' } }],
    ['a property without a policy', { version: 2 } as object],
  ])('returns true for a change of %s', (_, change) => {
    expect(hasSameEventFields(record, { ...record, ...change }, RECORD_FIELDS)).toBe(true)
  })
})

/** The same entity with a new optional field. */
type WithNewField<Entity> = Entity & { readonly newField?: string | null }

/** The paths of the values whose policy is selected, such as `patient.fullName`. */
const pathsOf = (policies: object, isSelected: (policy: any) => boolean): string[] =>
  Object.entries(policies).flatMap(([name, policy]) => {
    if ('erasure' in policy) return isSelected(policy) ? [name] : []
    return pathsOf(policy.each ?? policy.fields, isSelected).map((path) => `${name}.${path}`)
  })

describe('the policies of records', () => {
  it.each<[string, object, silent: string[], erased: string[]]>([
    [
      'a patient',
      PATIENT_FIELDS,
      ['createdAt'],
      Object.keys(PATIENT_FIELDS).filter(
        (name) => !['id', 'isActive', 'createdAt', 'erasedAt'].includes(name),
      ),
    ],
    [
      'an appointment',
      APPOINTMENT_FIELDS,
      ['patient.fullName', 'doctor.fullName'],
      ['patient.fullName', 'notes', 'cancellationReason', 'externalId'],
    ],
    [
      'an invoice',
      INVOICE_FIELDS,
      [
        ...['clinicPaidAt', 'patient.fullName', 'patient.email', 'doctor.fullName'],
        ...['lineItems.doctor.fullName', 'lineItems.hasOwnDoctor'],
      ],
      ['number', 'patient.fullName', 'patient.email', 'lineItems.description'],
    ],
    [
      'a payment',
      PAYMENT_FIELDS,
      ['invoice.number', 'patient.fullName'],
      ['invoice.number', 'patient.fullName', 'description', 'voidReason'],
    ],
    [
      'a message',
      MESSAGE_FIELDS,
      [
        ...['patient.fullName', 'dispatch.dueAt', 'dispatch.claim.token', 'dispatch.claim.until'],
        'dispatch.isUnresolved',
      ],
      ['recipient', 'subject', 'text', 'providerMessageId', 'errorMessage', 'patient.fullName'],
    ],
  ])(
    'make no event for a change of these fields of %s alone, and erase those',
    (_, policies, silent, erased) => {
      expect(pathsOf(policies, ({ emitsEvent }) => !emitsEvent)).toEqual(silent)
      expect(pathsOf(policies, ({ erasure }) => erasure !== 'keep')).toEqual(erased)
    },
  )
})

describe('a field without a policy', () => {
  it('does not compile', () => {
    // @ts-expect-error newField has no policy
    PATIENT_FIELDS satisfies FieldPolicies<WithNewField<Patient>>
    // @ts-expect-error newField has no policy
    APPOINTMENT_FIELDS satisfies FieldPolicies<WithNewField<Appointment>>
    // @ts-expect-error newField has no policy
    INVOICE_FIELDS satisfies FieldPolicies<WithNewField<Invoice>>
    // @ts-expect-error newField has no policy
    LINE_ITEM_FIELDS satisfies FieldPolicies<WithNewField<Invoice['lineItems'][number]>>
    // @ts-expect-error newField has no policy
    PAYMENT_FIELDS satisfies FieldPolicies<WithNewField<Payment>>
    // @ts-expect-error newField has no policy
    MESSAGE_FIELDS satisfies FieldPolicies<WithNewField<Message>>
    // The lists are complete for the fields that there are.
    const complete = [
      PATIENT_FIELDS satisfies FieldPolicies<Patient>,
      APPOINTMENT_FIELDS satisfies FieldPolicies<Appointment>,
      INVOICE_FIELDS satisfies FieldPolicies<Invoice>,
      LINE_ITEM_FIELDS satisfies FieldPolicies<Invoice['lineItems'][number]>,
      PAYMENT_FIELDS satisfies FieldPolicies<Payment>,
      MESSAGE_FIELDS satisfies FieldPolicies<Message>,
    ]
    expect(complete).toHaveLength(6)
  })

  it('does not compile either in a nested object or list', () => {
    type Reference = { readonly patient: WithNewField<Appointment['patient']> }
    const reference = { patient: { fields: APPOINTMENT_FIELDS.patient.fields } }
    // @ts-expect-error patient.newField has no policy
    reference satisfies FieldPolicies<Reference>
    type Bill = { readonly lineItems: readonly WithNewField<Invoice['lineItems'][number]>[] }
    const bill = { lineItems: INVOICE_FIELDS.lineItems }
    // @ts-expect-error lineItems[].newField has no policy
    bill satisfies FieldPolicies<Bill>
    expect(bill.lineItems.each).toBe(LINE_ITEM_FIELDS)
  })

  it('does not compile when its replacement has another type', () => {
    const policies = { name: eraseTo(null) }
    // @ts-expect-error the name cannot be null
    policies satisfies FieldPolicies<{ readonly name: string }>
    expect(policies.name.erasure.replacement).toBeNull()
  })
})
