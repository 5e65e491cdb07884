import { getRoom, renderRoom } from '../shared/api/catalogue.ts'
import { ApiError } from '../shared/api/errors.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { roomStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(getRoom, { rooms: roomStore }, async ({ clinicId, path }, { rooms }) => {
  const found = await rooms.find(clinicId, path.id)
  if (!found) throw new ApiError('room_not_found')
  return { data: renderRoom(found) }
})
