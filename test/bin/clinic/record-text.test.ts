/** A record as text: the parts of lists under the names of their fields. */
import { describe, expect, it } from 'vitest'
import { describeRecord } from '../../../bin/clinic/record-text.ts'

describe('a record as text', () => {
  it('has the fields of parts that differ in columns of their own', () => {
    expect(describeRecord({ parts: [{ a: 1 }, { b: 2 }] })).toEqual(['parts:', '  a  b', '  1  -', '  -  2'])
  })
})
