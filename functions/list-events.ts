import { listEvents, requireEventScopes } from '../shared/api/events.ts'
import { invalidCursor, renderCursorPage } from '../shared/api/schemas.ts'
import type { Scope } from '../shared/domain/scope.ts'
import {
  type Event,
  eventPayload,
  mayReadAllEvents,
  maySeeEvent,
  type RecordEventName,
} from '../shared/domain/webhooks/event.ts'
import { listCursors } from '../shared/requests/record-list.ts'
import { endpoint } from '../shared/runtime/endpoint.ts'
import { eventStore } from '../shared/store/events/events.ts'

export const handler = endpoint(
  listEvents,
  { events: eventStore },
  async ({ clinicId, clinic, credential: { scopes }, query }, { events }) => {
    if (query.event) requireEventScopes(scopes, [query.event])
    // A cursor is a position among all events of the clinic, whatever the filter.
    const cursors = listCursors({ list: 'events', clinic: clinicId, filters: {} })
    const after = query.after === undefined ? undefined : cursors.decode(query.after)
    const page = await events.page(clinicId, { after, limit: query.limit }, filterOf(scopes, query.event))
    if (!page) throw invalidCursor()
    const nextAfter = cursors.encode(page.nextAfter)
    return renderCursorPage({ ...page, nextAfter }, query, (event) => eventPayload(event, clinic))
  },
)

/** The events to list; undefined for all events, which takes fewer reads. */
function filterOf(scopes: readonly Scope[], wanted: RecordEventName | undefined) {
  if (!wanted && mayReadAllEvents(scopes)) return undefined
  return ({ event, data }: Event) =>
    (wanted === undefined || event === wanted) && maySeeEvent(scopes, event, data)
}
