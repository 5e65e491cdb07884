import { ApiError } from '../shared/api/errors.ts'
import { deleteHold } from '../shared/api/holds.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { holdStore } from '../shared/store/calendar/holds.ts'

export const handler = endpoint(
  deleteHold,
  { holds: holdStore },
  async ({ clinicId, credential, path }, { holds }) => {
    if (!(await holds.remove(clinicId, credential.key, path.id))) throw new ApiError('hold_not_found')
    return undefined
  },
)
