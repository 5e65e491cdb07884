import { getRoom, renderRoom } from '../shared/api/catalogue.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { roomStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(getRoom, { rooms: roomStore }, async ({ clinicId, path }, { rooms }) => {
  const found = await rooms.find(clinicId, path.id)
  return found && { data: renderRoom(found) }
})
