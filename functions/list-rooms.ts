import { listRooms, renderRoom } from '../shared/api/catalogue.ts'
import { renderPage } from '../shared/api/schemas.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { roomStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(listRooms, { rooms: roomStore }, async ({ clinicId, query }, { rooms }) =>
  renderPage(await rooms.page(clinicId, query), query, renderRoom),
)
