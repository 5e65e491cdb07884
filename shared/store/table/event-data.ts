import type { EventData } from '../../domain/webhooks/event.ts'

/**
 * The attributes of an event's data. Lists are in one of their own: the version before them ignores it, but cannot read an event with a
 * list in `d`.
 */
export function eventDataAttributes(data: EventData) {
  const isList = ([, value]: [string, unknown]) => Array.isArray(value)
  const entries = Object.entries(data)
  const lists = entries.filter(isList) as [string, string[]][]
  return {
    d: Object.fromEntries(entries.filter((entry) => !isList(entry))) as Record<
      string,
      string | number | null
    >,
    ...(lists.length > 0 && { l: Object.fromEntries(lists) }),
  }
}
