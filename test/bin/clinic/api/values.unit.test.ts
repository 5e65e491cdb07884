import { describe, expect, it } from 'vitest'
import { parseField } from '../../../../bin/clinic/api/values.ts'

const HOURS = { type: 'object', properties: { mon: { type: 'array' } } }
const EXCEPTIONS = { type: 'object', propertyNames: { type: 'string', format: 'date' } }
const nullable = (type: string) => ({ anyOf: [{ type }, { type: 'null' }] })

describe('the text of an option', () => {
  it.each([
    [HOURS, 'mon 09:00-12:00', { mon: [{ start_time: '09:00', end_time: '12:00' }] }],
    [EXCEPTIONS, '2026-12-24 off', { '2026-12-24': [] }],
    [HOURS, '{"tue":[]}', { tue: [] }],
    [{ type: 'array', items: { type: 'string' } }, 'a, b', ['a', 'b']],
    [nullable('string'), '', null],
    [nullable('string'), '5', '5'],
    [{ type: 'number' }, '12.50', 12.5],
    [{ type: 'number' }, 'much', 'much'],
    [{ type: 'boolean' }, 'false', false],
  ])('of the schema %j that is %j is a value', async (schema, text, value) => {
    expect(await parseField('field', schema, text)).toEqual(value)
  })

  it.each([
    ['[', '--line-items is not JSON'],
    ['@missing.json', '--line-items cannot be read: ENOENT'],
  ])('that is %j fails with the name of the option', async (text, message) => {
    const items = { type: 'array', items: { type: 'object' } }
    await expect(parseField('line_items', items, text)).rejects.toThrow(message)
  })
})
