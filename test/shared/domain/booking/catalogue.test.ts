import { describe, expect, it } from 'vitest'
import {
  departmentProblems,
  priceListProblems,
  treatmentProblems,
} from '../../../../shared/domain/booking/catalogue.ts'
import { aPriceList, aTreatment } from '../../../support/catalogue.ts'

const doctors = new Set(['bo', 'eva'])
const treatments = new Set(['check', 'filling'])
const price = (treatmentId: string) => ({ treatmentId, price: 100 })

describe('a treatment', () => {
  const other = aTreatment({ code: 'T1' })
  it.each([
    [{}, []],
    [{ doctorIds: ['bo', 'eva'], code: 'T2' }, []],
    [{ code: 'T1' }, ['code is already the code of another treatment']],
    [{ doctorIds: ['bo', 'ada'] }, ['doctorIds has an unknown doctor: the clinic has no such doctor']],
    [{ doctorIds: ['bo', 'bo'] }, ['doctorIds has a doctor twice']],
    [
      { code: 'T1', doctorIds: ['ada'] },
      [
        'code is already the code of another treatment',
        'doctorIds has an unknown doctor: the clinic has no such doctor',
      ],
    ],
  ])('with %j has the problems %j', (facts, expected) => {
    const treatment = aTreatment(facts)
    const problems = treatmentProblems(treatment, [other, treatment], doctors)
    expect(problems.map(({ field, issue }) => `${field} ${issue}`)).toEqual(expected)
  })

  it('has at most 500 doctors', () => {
    const doctorIds = Array.from({ length: 501 }, (_, at) => `d${at}`)
    const problemsOf = (ids: string[]) => treatmentProblems(aTreatment({ doctorIds: ids }), [], new Set(ids))
    expect(problemsOf(doctorIds.slice(1))).toEqual([])
    expect(problemsOf(doctorIds)).toEqual([{ field: 'doctorIds', issue: 'must have at most 500 doctors' }])
  })
})

describe('a price list', () => {
  const other = aPriceList({ isDefault: true, items: Array(19_998).fill(price('check')) })
  it.each([
    [{}, []],
    [{ items: [price('check'), price('filling')], validFrom: '2026-01-01', validTo: '2026-01-01' }, []],
    [{ isDefault: true }, ['isDefault is already true for another price list']],
    [{ validFrom: '2026-01-02', validTo: '2026-01-01' }, ['validTo must not be before the first day']],
    [{ items: [price('massage')] }, ['items has an unknown treatment: the clinic has no such treatment']],
    [{ items: [price('check'), price('check')] }, ['items has a treatment twice']],
    [
      { items: ['check', 'filling', 'filling'].map(price) },
      [
        'items has a treatment twice',
        'items must have fewer prices: all price lists have at most 20000 together',
      ],
    ],
  ])('with %j has the problems %j', (facts, expected) => {
    const list = aPriceList(facts)
    const problems = priceListProblems(list, [other, list], treatments)
    expect(problems.map(({ field, issue }) => `${field} ${issue}`)).toEqual(expected)
  })
})

it('a department must exist if there is one', () => {
  const departments = new Set(['surgery'])
  expect(departmentProblems({ departmentId: null }, departments)).toEqual([])
  expect(departmentProblems({ departmentId: 'surgery' }, departments)).toEqual([])
  expect(departmentProblems({ departmentId: 'x' }, departments)).toEqual([
    {
      field: 'departmentId',
      issue: 'is unknown: the clinic has no such department',
      unknown: 'department',
    },
  ])
})
