import { listRooms, renderRoom } from '../shared/api/catalogue.ts'
import { renderListPage } from '../shared/requests/list-page.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { roomStore } from '../shared/store/catalogue.ts'

export const handler = endpoint(listRooms, { rooms: roomStore }, async ({ clinicId, query }, { rooms }) =>
  renderListPage(await rooms.list(clinicId), query, renderRoom),
)
