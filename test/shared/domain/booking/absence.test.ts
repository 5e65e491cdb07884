import { describe, expect, it } from 'vitest'
import { absenceOn } from '../../../../shared/domain/booking/absence.ts'
import type { Doctor } from '../../../../shared/domain/booking/doctor.ts'
import { aDoctor } from '../../../support/sample-records.ts'

const DOCTOR = aDoctor({ hours: {} })

describe('absenceOn', () => {
  const [off, holiday] = [
    { from: '2026-05-01', to: '2026-05-04', reason: 'Travel' },
    { from: '2026-05-04', to: '2026-05-05', reason: 'Spring' },
  ]
  const absence = (doctorFacts: Partial<Doctor>) => absenceOn({ ...DOCTOR, ...doctorFacts }, '2026-05-04')

  it('names the days off, of which both ends belong to them, a holiday before time off', () => {
    expect(absence({ timeOff: [holiday, off] })).toEqual({ kind: 'time_off', days: holiday })
    expect(absence({ timeOff: [off] })).toEqual({ kind: 'time_off', days: off })
    expect(absence({ timeOff: [off], holidays: [holiday] })).toEqual({ kind: 'holiday', days: holiday })
    expect(absence({ isActive: false, holidays: [holiday] })).toEqual({ kind: 'inactive' })
  })

  it('is none on other days', () => {
    const days = [
      { from: '2026-05-01', to: '2026-05-03', reason: null },
      { from: '2026-05-05', to: '2026-05-05', reason: null },
    ]
    expect(absence({ timeOff: days, holidays: days })).toBeNull()
  })
})
