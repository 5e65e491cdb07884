import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Table } from '../../../../shared/store/table/table.ts'
import { importEntities } from '../../../../shared/sync/entities/entities.ts'
import {
  overwritePolicy,
  type RowSource,
  tagOf,
} from '../../../../shared/sync/external-ids/overwrite-check.ts'
import { NOW } from '../../../support/table.ts'

const digestOf = (text: string) => createHmac('sha256', 'secret').update(text).digest()
const policy = overwritePolicy(digestOf)
const row = (source: Record<string, unknown>, facts: Partial<RowSource> = {}): RowSource => ({
  id: 'r',
  externalId: 'x',
  source,
  columnOf: (name) => name,
  ...facts,
})

const bo = { name: 'Bo', phone: '1' }
const imported = policy.check(row(bo), null, null, bo)

describe('a row that was imported', () => {
  it('is recognized, in any order of its columns, and with numbers as CSV has them', () => {
    expect(policy.isImported(row({ phone: 1, name: 'Bo' }), imported)).toBe(true)
  })

  it.each([
    ['a changed value', { ...bo, phone: '2' }],
    ['an empty value', { ...bo, phone: null }],
    ['a missing column', { name: 'Bo' }],
    ['another column', { ...bo, notes: null }],
  ])('is not, with %s', (_, source) => {
    expect(policy.isImported(row(source), imported)).toBe(false)
  })

  it('is not that of another record, nor of one without an import', () => {
    expect(policy.isImported(row(bo, { id: 'other' }), imported)).toBe(false)
    expect(policy.isImported(row(bo), { externalId: 'x' })).toBe(false)
  })
})

describe('a row that changed', () => {
  const changed = row({ name: 'Bo', phone: '2' })

  it('is imported if the record is as the import left it', () => {
    const origin = policy.check(changed, imported, bo, { name: 'Bo', phone: '2' })
    expect(policy.isImported(changed, origin)).toBe(true)
    expect(origin).toMatchObject({ externalId: 'x' })
  })

  it.each([
    ['the same field', { name: 'Bo', phone: '3' }, { name: 'Bo', phone: '2' }, 'phone differs'],
    ['another field', { name: 'Boris', phone: '1' }, { name: 'Bo', phone: '2' }, 'name, phone differ'],
    ['a field that was empty', { ...bo, notes: 'N' }, { ...bo, phone: '2', notes: null }, 'phone, notes'],
  ])(
    'is rejected if %s of the record was changed, with the fields that differ',
    (_, before, after, reason) => {
      expect(() => policy.check(changed, imported, before, after)).toThrow(reason)
      const overwriting = overwritePolicy(digestOf, { overwrite: true })
      expect(policy.isImported(changed, overwriting.check(changed, imported, before, after))).toBe(true)
    },
  )

  it('is imported if the record was changed to what the row has', () => {
    const same = { name: 'Bo', phone: '2' }
    const origin = policy.check(changed, imported, same, same)
    expect(policy.isImported(changed, origin)).toBe(true)
    // A field that was changed to the same value in both systems no longer counts as changed.
    const later = row({ name: 'Bodo', phone: '2' })
    for (const left of [origin, imported])
      expect(() => policy.check(later, left, same, { name: 'Bodo', phone: '2' })).not.toThrow()
  })

  it('confirms nothing that its file has no column for', () => {
    const renamed = row({ name: 'Bo' })
    const record = { name: 'Bo', phone: '3' }
    const origin = policy.check(renamed, imported, record, record)
    expect(() => policy.check(changed, origin, record, { name: 'Bo', phone: '2' })).toThrow('phone differs')
  })

  it('is imported if only a field was changed that its file has no column for, and does not differ', () => {
    const record = { name: 'Bo', phone: '3' }
    const [first, second] = [row({ name: 'Bob' }), row({ name: 'Bert' })]
    const origin = policy.check(first, imported, record, { ...record, name: 'Bob' })
    expect(() =>
      policy.check(second, origin, { ...record, name: 'Bob' }, { ...record, name: 'Bert' }),
    ).not.toThrow()
    // A file with the column would undo the change.
    expect(() => policy.check(row(bo), origin, { ...record, name: 'Bob' }, bo)).toThrow('name, phone differ')
  })

  it('is rejected if it clears a field that was changed, and that its file has no column for', () => {
    expect(() =>
      policy.check(row({ name: 'Bob' }), imported, { ...bo, phone: '3' }, { name: 'Bob', phone: null }),
    ).toThrow('name, phone differ')
  })

  it('is imported if its column is new since the last import, and the record has what new ones have', () => {
    const [yes, no] = [
      { ...bo, accepts_sms: true },
      { ...bo, accepts_sms: false },
    ]
    const check = (before: object, after: object) => () =>
      policy.check(row({ ...after }), imported, { ...before }, { ...after }, { accepts_sms: true })
    expect(check(yes, no)).not.toThrow()
    expect(check(no, yes)).toThrow('accepts_sms differs')
  })

  it('names a reference as the file does', () => {
    const own = row({ doctor_id: 'd' }, { columnOf: (name) => name.replace('external_', '') })
    expect(() => policy.check(own, null, { doctor_external_id: 'e' }, { doctor_external_id: 'd' })).toThrow(
      'doctor_id differs from the record, which no import has written',
    )
  })
})

it('a record that no import has written gets what it lacks, and loses nothing', () => {
  expect(() => policy.check(row(bo), null, { name: 'Bo', phone: null }, bo)).not.toThrow()
  expect(() => policy.check(row(bo), null, { name: 'Bo', phone: '2' }, bo)).toThrow(
    'phone differs from the record, which no import has written; import the row with --overwrite',
  )
})

it('reveals neither values nor that two records have the same', () => {
  const other = policy.check(row(bo, { id: 'other' }), null, null, bo)
  const bytes = ({ imported: text = '' }) => Buffer.from(text, 'base64url')
  const digests = (origin: { imported?: string }) =>
    [10, 16].map((at) =>
      bytes(origin)
        .subarray(at, at + 4)
        .toString('hex'),
    )
  expect(digests(imported).filter((digest) => digests(other).includes(digest))).toEqual([])
  expect(bytes(imported).toString('latin1')).not.toContain('Bo')
})

it('tells the columns of every entity apart', () => {
  for (const { columns } of importEntities({} as Table, () => NOW))
    expect(new Set(columns.map(tagOf)).size).toBe(columns.length)
})
