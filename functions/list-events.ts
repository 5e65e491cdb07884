import { listEvents } from '../shared/api/events.ts'
import { invalidCursor, renderCursorPage } from '../shared/api/schemas.ts'
import { eventPayload } from '../shared/domain/event.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { eventStore } from '../shared/store/events/events.ts'

export const handler = endpoint(
  listEvents,
  { events: eventStore },
  async ({ clinicId, clinic, query }, { events }) => {
    const page = await events.page(clinicId, query, query.event)
    if (!page) throw invalidCursor()
    return renderCursorPage(page, query, (event) => eventPayload(event, clinic))
  },
)
