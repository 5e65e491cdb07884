import { expect, it } from 'vitest'
import { recordsToRetry } from '../../../../infra/local/events/stream-batch.ts'

const record = (SequenceNumber: string) => ({ dynamodb: { SequenceNumber } })

it.each([
  ['nothing, when the mapping takes no reports', false, { batchItemFailures: [{ itemIdentifier: 'a' }] }, []],
  ['nothing, for a result without a report', true, null, []],
  ['nothing, for an empty report', true, { batchItemFailures: [] }, []],
  [
    'the failed record and all later ones',
    true,
    { batchItemFailures: [{ itemIdentifier: 'b' }] },
    ['b', 'c'],
  ],
  [
    'all from the first of several failed records on',
    true,
    { batchItemFailures: [{ itemIdentifier: 'c' }, { itemIdentifier: 'b' }] },
    ['b', 'c'],
  ],
  ['all, for an unknown record', true, { batchItemFailures: [{ itemIdentifier: 'd' }] }, ['a', 'b', 'c']],
  ['all, for a malformed report', true, { batchItemFailures: ['a', null] }, ['a', 'b', 'c']],
  ['all, for a malformed list of failures', true, { batchItemFailures: 'a' }, ['a', 'b', 'c']],
])('retries %s', (_what, partial, result, expected) => {
  const left = recordsToRetry(['a', 'b', 'c'].map(record), JSON.stringify(result), partial)
  expect(left.map(({ dynamodb }) => dynamodb?.SequenceNumber)).toEqual(expected)
})
