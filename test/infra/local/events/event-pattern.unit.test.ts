import { expect, it } from 'vitest'
import { checkPattern, matches } from '../../../../infra/local/events/event-pattern.ts'

const EVENT = {
  source: 'aws.ses',
  resources: ['arn:one', 'arn:two'],
  detail: {
    eventType: 'Bounce',
    tries: 3,
    final: false,
    reason: null,
    mail: { tags: { message: ['m-1'], none: [] } },
    parts: [{ kind: 'text' }, { kind: 'image' }],
  },
}

it.each([
  ['one value', { source: ['aws.ses'] }, true],
  ['one of several values', { source: ['aws.s3', 'aws.ses'] }, true],
  ['another value', { source: ['aws.s3'] }, false],
  ['a nested value', { detail: { eventType: ['Bounce'] } }, true],
  ['another nested value', { source: ['aws.ses'], detail: { eventType: ['Send'] } }, false],
  ['a number', { detail: { tries: [3] } }, true],
  ['a number as text', { detail: { tries: ['3'] } }, false],
  ['a truth', { detail: { final: [false] } }, true],
  ['null', { detail: { reason: [null] } }, true],
  ['null for what is missing', { detail: { other: [null] } }, false],
  ['an item of a list', { resources: ['arn:two'] }, true],
  ['no item of a list', { resources: ['arn:three'] }, false],
  ['an object of a list', { detail: { parts: { kind: ['image'] } } }, true],
  ['below what is missing', { detail: { nothing: { here: ['x'] } } }, false],
  ['a prefix', { source: [{ prefix: 'aws.' }] }, true],
  ['another prefix', { source: [{ prefix: 'ses' }] }, false],
  ['a prefix of no text', { detail: { tries: [{ prefix: '3' }] } }, false],
  ['a value or a prefix', { source: ['mine', { prefix: 'aws' }] }, true],
  ['nothing asked', {}, true],
])('a pattern matches by %s', (_what, pattern, expected) => {
  checkPattern(pattern, 'Rule')
  expect(matches(pattern, EVENT)).toBe(expected)
})

it.each([
  ['another comparison', { detail: { n: [{ numeric: ['>', 1] }] } }, /Rule matches n by \{"numeric"/],
  ['a negation', { source: [{ 'anything-but': ['a'] }] }, /Rule matches source by \{"anything-but"/],
  ['a prefix of a comparison', { source: [{ prefix: { 'equals-ignore-case': 'A' } }] }, /matches source by/],
  ['two comparisons in one', { source: [{ prefix: 'a', exists: true }] }, /matches source by/],
  ['alternatives', { $or: [{ source: ['a'] }] }, /Rule matches \$or by/],
  ['a value without a list', { source: 'aws.ses' }, /Rule matches source by "aws\.ses"/],
])('rejects %s', (_what, pattern, message) => {
  expect(() => checkPattern(pattern as never, 'Rule')).toThrow(message)
})
