import { getHold, renderHold } from '../shared/api/holds.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { holdStore } from '../shared/store/calendar/holds.ts'

export const handler = endpoint(
  getHold,
  { holds: holdStore },
  async ({ clinicId, clinic, credential, path, now }, { holds }) => {
    const hold = await holds.find(clinicId, credential.key, path.id)
    if (!hold || Date.parse(hold.expiresAt) <= now) return null
    return { data: renderHold(hold, clinic) }
  },
)
