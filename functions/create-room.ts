import { renderRoom } from '../shared/api/catalogue.ts'
import { createRoom } from '../shared/api/catalogue-changes.ts'
import { inRecord } from '../shared/api/record-names.ts'
import { createEntry } from '../shared/requests/catalogue-changes.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { roomChanges } from '../shared/store/catalogue-changes.ts'

export const handler = endpoint(createRoom, { rooms: roomChanges }, (input, { rooms }) =>
  createEntry(input, rooms, inRecord(input.body), renderRoom),
)
