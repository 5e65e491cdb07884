import { renderRoom } from '../shared/api/catalogue.ts'
import { updateRoom } from '../shared/api/catalogue-changes.ts'
import { inRecord } from '../shared/api/record-names.ts'
import { updateEntry } from '../shared/requests/catalogue-changes.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { roomChanges } from '../shared/store/catalogue-changes.ts'

export const handler = endpoint(updateRoom, { rooms: roomChanges }, (input, { rooms }) =>
  updateEntry(input, rooms, inRecord(input.body), renderRoom),
)
