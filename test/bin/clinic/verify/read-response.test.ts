import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readResponse } from '../../../../bin/clinic/verify/read-response.ts'

const TEXTS = ['', 'a', 'ş€😀', '"', '\\', 'a\\"b\\\\"', '"}]', '\n\u0000', '{"S":"x"}', 'x\\', '\\\\']

/** A value as DynamoDB sends it, and as the SDK decodes it. */
type Value = { readonly sent: object; readonly decoded: unknown }

const text = fc
  .oneof(fc.constantFrom(...TEXTS), fc.string({ unit: 'grapheme' }))
  .filter((it) => it !== '__proto__')
const number = fc.oneof(fc.integer(), fc.constantFrom(1.5, -2e-7, 1_767_225_600_000))
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text.map((decoded) => ({ sent: { S: decoded }, decoded })),
    number.map((decoded) => ({ sent: { N: String(decoded) }, decoded })),
    fc.boolean().map((decoded) => ({ sent: { BOOL: decoded }, decoded })),
    fc.constant({ sent: { NULL: true }, decoded: null }),
    fc.uint8Array().map((decoded) => ({ sent: { B: Buffer.from(decoded).toString('base64') }, decoded })),
    fc.array(text).map((texts) => ({ sent: { SS: texts }, decoded: new Set(texts) })),
    fc.array(number).map((numbers) => ({ sent: { NS: numbers.map(String) }, decoded: new Set(numbers) })),
    fc.array(tie('value')).map((list) => ({
      sent: { L: list.map(({ sent }) => sent) },
      decoded: list.map(({ decoded }) => decoded),
    })),
    fc.dictionary(text, tie('value')).map((map) => ({ sent: { M: sentMap(map) }, decoded: decodedMap(map) })),
  ),
}))

const mapped = (map: Record<string, Value>, part: (value: Value) => unknown) =>
  Object.fromEntries(Object.entries(map).map(([name, one]) => [name, part(one)]))
const sentMap = (map: Record<string, Value>) => mapped(map, ({ sent }) => sent)
const decodedMap = (map: Record<string, Value>) => mapped(map, ({ decoded }) => decoded)

describe('a response', () => {
  it('is read as the SDK decodes it, whatever its items have', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(text, value)), (items) => {
        const expected = { items: items.map(decodedMap), last: undefined }
        const sent = items.map(sentMap)
        expect(readResponse(JSON.stringify({ Count: items.length, Items: sent }))).toEqual(expected)
        const batch = { Responses: { table: sent }, UnprocessedKeys: {} }
        expect(readResponse(JSON.stringify(batch))).toEqual(expected)
      }),
    )
  })

  it('of one item has it, or none', () => {
    expect(readResponse('{"Item":{"pk":{"S":"a"}}}').items).toEqual([{ pk: 'a' }])
    expect(readResponse('{}').items).toEqual([])
  })

  it('has the key of its last item if there are more', () => {
    const response = '{"Items":[],"LastEvaluatedKey":{"sk":{"S":"b"},"pk":{"S":"a"}},"Count":0}'
    expect(readResponse(response).last).toEqual({ pk: 'a', sk: 'b' })
  })

  it('has the attributes of every item in one order', () => {
    const { items } = readResponse('{"Items":[{"b":{"N":"1"},"a":{"N":"2"}},{"a":{"N":"1"},"b":{"N":"2"}}]}')
    expect(items.map(Object.keys)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
  })

  it.each([
    [
      'has left keys unprocessed',
      '{"Responses":{"t":[]},"UnprocessedKeys":{"t":{"Keys":[]}}}',
      /unprocessed/,
    ],
    ['is no JSON', 'Not found', SyntaxError],
    ['is cut off in a text', '{"Items":[{"a":{"S":"b\\"', SyntaxError],
    ['is cut off after an item', '{"Items":[{"a":{"S":"b"}}', SyntaxError],
    ['has spaces', '{ "Items": [] }', SyntaxError],
    ['has a value of another type', '{"Items":[{"a":{"X":"b"}}]}', SyntaxError],
    ['has no value', '{"Items":[{"a":{"NULL":false}}]}', SyntaxError],
    ['has another member', '{"Items":[],"Other":{"a":1}}', SyntaxError],
  ])('is rejected if it %s', (_, response, error) => {
    expect(() => readResponse(response)).toThrow(error)
  })
})
