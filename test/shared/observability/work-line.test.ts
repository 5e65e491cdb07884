import { expect, it } from 'vitest'
import { workLogger } from '../../../shared/observability/work-line.ts'

const written = (work: Parameters<ReturnType<typeof workLogger>>[1]) => {
  const lines: object[] = []
  workLogger(
    (line) => lines.push(line),
    () => 0,
  )('send-email', work)
  return lines
}

it('writes a line with the request that caused the work', () => {
  expect(
    written({ clinic: 'c', requestId: 'r', outcome: 'rejected', status: 500, reason: null, latencyMs: 1.4 }),
  ).toEqual([
    {
      timestamp: '1970-01-01T00:00:00.000Z',
      level: 'info',
      request_id: 'r',
      worker: 'send-email',
      clinic_id: 'c',
      outcome: 'rejected',
      status: 500,
      duration_ms: 1,
    },
  ])
})

it('leaves out what is unknown', () => {
  expect(written({ clinic: 'c', requestId: undefined, outcome: 'accepted' })).toEqual([
    {
      timestamp: '1970-01-01T00:00:00.000Z',
      level: 'info',
      worker: 'send-email',
      clinic_id: 'c',
      outcome: 'accepted',
    },
  ])
})
