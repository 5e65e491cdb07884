import { describe, expect, it } from 'vitest'
import { newEvent } from '../../../../infra/local/events/bus-event.ts'
import { checkInput, renderInput } from '../../../../infra/local/events/target-input.ts'

const EVENT = newEvent('eu-central-1', {
  source: 'aws.ses',
  'detail-type': 'Email Bounced',
  time: '2026-01-02T03:04:05Z',
  detail: {
    mail: { tags: { 'message-id': ['m-1', 'm-2'] } },
    bounce: { type: 'Permanent', tries: 3, final: true, reason: null },
    word: 'said "no"',
  },
})

const transform = (InputTemplate: string, InputPathsMap: Record<string, string> = {}) => {
  const InputTransformer = { InputTemplate, InputPathsMap }
  checkInput({ InputTransformer }, 'Rule')
  return renderInput({ InputTransformer }, EVENT)
}

describe('the input of a target is', () => {
  it('the event', () => {
    expect(JSON.parse(renderInput({}, EVENT))).toEqual(EVENT)
  })

  it('the constant input of the rule', () => {
    expect(renderInput({ Input: '{"a": 1}' }, EVENT)).toBe('{"a": 1}')
  })
})

describe('an input transformer', () => {
  it.each([
    ['a string as JSON', '{"to": <x>}', '$.source', '{"to":"aws.ses"}'],
    ['a string without quotes within quotes', '{"to": "<x>"}', '$.source', '{"to":"aws.ses"}'],
    ['within a string', '{"to": "from <x>, \\"<x>\\""}', '$.source', '{"to":"from aws.ses, \\"aws.ses\\""}'],
    ['a string alone', '"of <x>"', '$.source', '"of aws.ses"'],
    ['a number', '{"n": <x>, "s": "<x>"}', '$.detail.bounce.tries', '{"n":3,"s":"3"}'],
    ['a truth', '{"n": <x>}', '$.detail.bounce.final', '{"n":true}'],
    ['an object', '{"n": <x>}', '$.detail.mail', '{"n":{"tags":{"message-id":["m-1","m-2"]}}}'],
    ['what is at an index', '{"n": "<x>"}', '$.detail.mail.tags.message-id[0]', '{"n":"m-1"}'],
    ['nothing within quotes for what is missing', '{"n": "a<x>b"}', '$.detail.nothing', '{"n":"ab"}'],
    ['an empty string for what is missing', '{"n": <x>}', '$.detail.nothing[0]', '{"n":""}'],
  ])('inserts %s', (_what, template, path, expected) => {
    expect(transform(template, { x: path })).toBe(expected)
  })

  it('keeps text that resembles a placeholder', () => {
    expect(transform('{"n": "a < b and c > d"}')).toBe('{"n":"a < b and c > d"}')
  })

  it('does not escape within quotes, as on EventBridge, and throws when the result is invalid JSON', () => {
    expect(() => transform('{"n": "<x>"}', { x: '$.detail.word' })).toThrow(/does not produce JSON/)
    expect(transform('{"n": <x>}', { x: '$.detail.word' })).toBe('{"n":"said \\"no\\""}')
  })
})

const reading = (x: string, InputTemplate: string) => ({
  InputTransformer: { InputPathsMap: { x }, InputTemplate },
})

it.each([
  ['a name in brackets', reading('$.detail.tags["ses:x"]', '<x>'), /Rule reads \$\.detail.*brackets/],
  ['what is no path', reading('detail', '"<x>"'), /reads detail/],
  ['an unknown placeholder', { InputTransformer: { InputTemplate: '{"n": <y>}' } }, /Rule uses <y>/],
  [
    'a variable of EventBridge',
    { InputTransformer: { InputTemplate: '<aws.events.event.json>' } },
    /uses <aws\.events\.event\.json>/,
  ],
])('rejects %s', (_what, input, message) => {
  expect(() => checkInput(input, 'Rule')).toThrow(message)
})
