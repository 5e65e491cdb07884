import { deleteHold } from '../shared/api/holds.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { holdStore } from '../shared/store/calendar/holds.ts'

export const handler = endpoint(
  deleteHold,
  { holds: holdStore },
  async ({ clinicId, credential, path }, { holds }) =>
    (await holds.remove(clinicId, credential.key, path.id)) ? undefined : null,
)
