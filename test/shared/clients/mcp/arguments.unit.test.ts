import { expect, it } from 'vitest'
import { meantArguments } from '../../../../shared/clients/mcp/arguments.ts'
import type { Schema } from '../../../../shared/openapi/read-document.ts'

const text = { type: 'string' }
const schema: Schema = {
  type: 'object',
  properties: {
    search: text,
    limit: { type: 'integer' },
    is_active: { type: 'boolean' },
    notes: { type: ['string', 'null'] },
    ids: { type: 'array', items: text },
    items: { type: 'array', items: { type: 'object', properties: { quantity: { type: 'number' } } } },
    hours: { type: 'object', properties: { mon: text } },
  },
  required: ['search'],
}

it.each([
  ['drops an optional field without a value', { limit: null, is_active: '' }, {}],
  ['keeps null where it clears a field, also for an empty text', { notes: '' }, { notes: null }],
  ['leaves a required field to the API', { search: '' }, { search: '' }],
  ['leaves an unknown field to the API', { Search: null }, { Search: null }],
  ['reads numbers and booleans from text', { limit: '2', is_active: 'true' }, { limit: 2, is_active: true }],
  ['leaves a text that is no number to the API', { limit: 'two' }, { limit: 'two' }],
  ['writes a number for a text', { search: 532 }, { search: '532' }],
  ['keeps a text that looks like a number', { search: '0532' }, { search: '0532' }],
  ['splits a list at commas', { ids: 'a, b' }, { ids: ['a', 'b'] }],
  [
    'reads a list in JSON, with its own texts',
    { items: '[{"quantity":"1.5"}]' },
    { items: [{ quantity: 1.5 }] },
  ],
  ['leaves broken JSON to the API', { hours: '{mon' }, { hours: '{mon' }],
  [
    'reads fields in fields',
    { hours: { mon: 9 }, items: [{ quantity: '' }] },
    { hours: { mon: '9' }, items: [{}] },
  ],
])('%s', (_, given, meant) => {
  expect(meantArguments(schema, given)).toEqual(meant)
})
