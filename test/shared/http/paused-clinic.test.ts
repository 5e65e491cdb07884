import { expect, it } from 'vitest'
import type { ClinicInfo } from '../../../shared/domain/clinic.ts'
import type { ApiRequest } from '../../../shared/http/call.ts'
import { refuseWhilePaused } from '../../../shared/http/paused-clinic.ts'

const answerTo = (httpMethod: string, clinic: Partial<ClinicInfo>) => async () =>
  refuseWhilePaused().before?.({
    event: { httpMethod },
    context: { call: { credential: { clinic } } },
  } as ApiRequest)

it.each(['POST', 'PATCH', 'DELETE'])(
  'refuses %s with 503 and retry-after while the clinic is paused',
  async (method) => {
    await expect(answerTo(method, { pausedAt: '2026-05-01T07:00:00.000Z' })()).rejects.toMatchObject({
      key: 'unavailable',
      headers: { 'retry-after': '60' },
    })
    await expect(answerTo(method, {})()).resolves.toBeUndefined()
  },
)

it('lets reads pass while the clinic is paused', async () => {
  await expect(answerTo('GET', { pausedAt: '2026-05-01T07:00:00.000Z' })()).resolves.toBeUndefined()
})
