import { ApiError } from '../api/errors.ts'
import type { Middleware } from './call.ts'

/** A clinic is paused for as long as its records are copied: minutes. */
const RETRY_AFTER_SECONDS = 60

/** Refuses requests that may change something while the operator has paused the clinic. The credential says so. */
export const refuseWhilePaused = (): Middleware => ({
  before: ({ event, context: { call } }) => {
    if (event.httpMethod !== 'GET' && call.credential?.clinic.pausedAt !== undefined)
      throw new ApiError('unavailable', { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } })
  },
})
