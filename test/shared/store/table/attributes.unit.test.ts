import { describe, expect, it } from 'vitest'
import {
  type AttributeMap,
  choice,
  code,
  codec,
  instant,
  large,
  list,
  nullable,
  number,
  optional,
  recordCodec,
  text,
  unlisted,
} from '../../../../shared/store/table/attributes.ts'

type Appointment = {
  readonly id: string
  readonly status: 'open' | 'closed'
  readonly kind: 'first' | 'next'
  readonly person: { readonly id: string; readonly name: string | null }
  readonly note: string | null
  readonly nickname: string | null
  readonly seconds: number
  readonly items: readonly { readonly id: string; readonly text: string }[]
  readonly lease: string | null
  readonly createdAt: string
}

const APPOINTMENT = {
  status: code('s', { open: 'o', closed: 'c' }),
  kind: choice('k', ['first', 'next']),
  person: { id: text('p'), name: nullable(text('pn')) },
  note: large(nullable(text('n')), null),
  nickname: optional(text('nn')),
  seconds: number('t'),
  items: large(list('li', codec<Appointment['items'][number]>({ id: text('id'), text: text('text') })), []),
  lease: unlisted(optional(text('le'))),
  createdAt: instant('c'),
} satisfies AttributeMap<Omit<Appointment, 'id'>>

const appointments = recordCodec<Appointment>(APPOINTMENT)

const appointment: Appointment = {
  id: 'v1',
  status: 'closed',
  kind: 'first',
  person: { id: 'p1', name: null },
  note: null,
  nickname: 'Vi',
  seconds: 90,
  items: [{ id: 'i1', text: 'X-ray' }],
  lease: null,
  createdAt: '2026-05-01T07:00:00.000Z',
}

const stored = {
  s: 'c',
  k: 'first',
  p: 'p1',
  pn: null,
  n: null,
  nn: 'Vi',
  t: 90,
  li: [{ id: 'i1', text: 'X-ray' }],
  c: Date.parse('2026-05-01T07:00:00Z'),
}

describe('recordCodec', () => {
  it('encodes every field under its attribute, nested ones side by side', () => {
    expect(appointments.encode(appointment)).toEqual(stored)
    expect(Object.keys(appointments.encode(appointment))).not.toContain('le')
  })

  it('decodes what it encoded', () => {
    expect(appointments.decode(appointments.encode(appointment), 'v1')).toEqual(appointment)
  })

  it('decodes absent large and optional attributes', () => {
    const { n: _, nn: __, li: ___, ...thin } = stored
    expect(appointments.decode(thin, 'v1')).toEqual({ ...appointment, note: null, nickname: null, items: [] })
  })

  it('names the attributes that rows leave out', () => {
    expect([appointments.large, appointments.unlisted]).toEqual([['n', 'li'], ['le']])
  })

  it.each([
    ['text that is missing', { p: undefined }],
    ['a nullable attribute that is missing', { pn: undefined }],
    ['text that is a number', { p: 7 }],
    ['a number that is text', { t: '90' }],
    ['an instant that is text', { c: '2026-05-01' }],
    ['an instant that is out of range', { c: 9e15 }],
    ['an unknown code', { s: 'x' }],
    ['an unknown choice', { k: 'other' }],
    ['a list that is an object', { li: {} }],
    ['an element without an attribute', { li: [{ id: 'i1' }] }],
  ])('throws for %s', (_, damage) => {
    expect(() => appointments.decode({ ...stored, ...damage }, 'v1')).toThrow()
  })
})

it('a field without an attribute does not compile', () => {
  // @ts-expect-error newField has no attribute
  APPOINTMENT satisfies AttributeMap<Omit<Appointment, 'id'> & { readonly newField?: string | null }>
  type NewInPerson = { readonly person: Appointment['person'] & { readonly newField: string } }
  const nested = { person: APPOINTMENT.person }
  // @ts-expect-error person.newField has no attribute
  nested satisfies AttributeMap<NewInPerson>
  // @ts-expect-error the note may be null
  const wrong = { note: text('n') } satisfies AttributeMap<Pick<Appointment, 'note'>>
  expect([Object.keys(nested.person), wrong.note.name]).toEqual([['id', 'name'], 'n'])
})
