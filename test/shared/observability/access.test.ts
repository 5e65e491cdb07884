import { describe, expect, it } from 'vitest'
import { accessLines, type CommandAccess, recordIds } from '../../../shared/observability/access.ts'

const id = (n: number) => `0b5a1f9e-7c7a-4c57-8f0f-${String(n).padStart(12, '0')}`

describe('recordIds', () => {
  it('returns the ids of records and of the patients in them, each once', () => {
    const body = {
      data: [
        { id: id(1), patient: { id: id(2), full_name: 'Ada' }, payments: [{ id: id(3) }] },
        { id: `evt_${id(4)}`, data: { id: id(5), patient_id: id(2) } },
      ],
      meta: { total: 2 },
    }
    expect(recordIds({ id: id(1) }, body)).toEqual([...[id(1), `evt_${id(4)}`], ...[id(2), id(5), id(3)]])
  })

  it('reads values however deep', () => {
    const depth = 50_000
    expect(recordIds(JSON.parse(`${'['.repeat(depth)}{"id":"${id(1)}"}${']'.repeat(depth)}`))).toEqual([
      id(1),
    ])
  })

  it('returns keys of credentials, but no secrets', () => {
    for (const key of ['ck_abc123', 'ck_-aB_9z-']) expect(recordIds({ key, secret: 'cs_abc' })).toEqual([key])
  })

  it.each([
    ['text in the field of an id', { id: 'Ada Kaya +905321234567' }],
    ['an id inside text', { id: `see ${id(1)}` }],
    ['an id with a line break', { id: `${id(1)}\n` }],
    ['a line item', { line_items: [{ id: id(1) }] }],
    ['the id of a provider', { provider_message_id: id(1) }],
    ['the id of a clinic', { clinic_id: id(1) }],
    ['a text that is an id', { notes: id(1), search: id(1) }],
    ['no object', id(1)],
    ['nothing', undefined],
    ['null', null],
  ])('leaves out %s', (_what, value) => {
    expect(recordIds(value, { data: value })).toEqual([])
  })
})

describe('accessLines', () => {
  const access: CommandAccess = {
    timestamp: '2026-01-01T00:00:00.000Z',
    request_id: 'request-1',
    clinic_id: null,
    operator: 'local',
    command: 'clinic list',
    outcome: 'done',
    records: [],
  }

  it('returns one line for an access without records', () => {
    expect(accessLines(access)).toEqual([{ type: 'access', level: 'info', ...access }])
  })

  it('splits 2001 records into lines of at most 1000 with the same request id', () => {
    const records = Array.from({ length: 2001 }, (_, n) => id(n))
    const lines = accessLines({ ...access, records }) as CommandAccess[]
    expect(lines.map((line) => line.records.length)).toEqual([1000, 1000, 1])
    expect(lines.flatMap((line) => line.records)).toEqual(records)
    expect(new Set(lines.map((line) => line.request_id))).toEqual(new Set(['request-1']))
  })
})
