import { expect, it } from 'vitest'
import { resultText } from '../../../../shared/clients/mcp/result-text.ts'

const time = (start_time: string, end_time: string) => ({ start_time, end_time })
const doctor = { id: 'd1', full_name: 'Dr. Emre Koç' }

it.each<[string, Parameters<typeof resultText>[0], string]>([
  [
    'a list',
    {
      data: [
        {
          ...{ id: 'i1', status: 'paid', doctor, due_date: null, notes: 'a\nb' },
          line_items: [{ id: 'l1', quantity: 1 }],
        },
        { id: 'i2', status: 'paid', doctor: null, due_date: null, notes: null, line_items: [] },
      ],
      meta: { page: 1, total: 2, next_after: 'cursor' },
    },
    [
      'all: status paid',
      'id | doctor | notes | line_items',
      'i1 | Dr. Emre Koç (d1) | "a\\nb" | 1',
      'i2 |  |  | ',
      'page 1, total 2',
    ].join('\n'),
  ],
  [
    'a list without pages, with its cursor',
    { data: [], meta: { has_more: false, next_after: 'c1' } },
    'None.\nhas_more false, next_after c1',
  ],
  [
    'a record, with what its parts do not share with it',
    {
      data: {
        ...{ id: 'i1', full_name: 'Ada Kaya', first_name: 'Ada', last_name: 'Kaya', paid_at: null, doctor },
        line_items: [
          { id: 'l1', quantity: 2, doctor },
          { id: 'l2', quantity: 1, treatment: { id: 't1', name: 'X' } },
        ],
      },
    },
    'id: i1\nfull_name: Ada Kaya\ndoctor: Dr. Emre Koç (d1)\nline_items: {quantity 2}; {quantity 1, treatment X (t1)}',
  ],
  [
    'hours',
    { data: { hours: { mon: [time('09:00', '12:00'), time('13:00', '17:00')] } } },
    'hours: {mon 09:00-12:00; 13:00-17:00}',
  ],
  [
    'free slots',
    {
      data: ['2026-12-01', '2026-12-01', '2026-12-02'].map((date, at) => ({
        ...{ date, start_time: `0${at}:00`, end_time: `0${at}:30`, duration_minutes: 30, doctor },
      })),
      meta: { date: '2026-12-01', duration_minutes: 30, count: 3, has_more: true, next_after: 'c1' },
    },
    [
      '2026-12-01 Dr. Emre Koç (d1): 00:00-00:30, 01:00-01:30',
      '2026-12-02 Dr. Emre Koç (d1): 02:00-02:30',
      'More are free: ask with a later date, or a larger limit.',
    ].join('\n'),
  ],
  ['a deletion', {}, 'Done.'],
])('writes %s', (_, body, text) => {
  expect(resultText(body)).toBe(text)
})
